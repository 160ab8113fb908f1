package tdc

import (
	"errors"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Limits bound the work of reading a form. With the zero Limits only the size of the form bounds
// it.
type Limits struct {
	Entries int                 // at all levels together; 0 means no limit
	Take    func(n int64) error // if not nil, called before n bytes of lengths or offsets are copied
}

// Contents describe a consolidated form: its JSON, read and checked.
type Contents struct {
	Facts  Facts
	Leaves []*Leaf // in the order of the data
	root   *dict
	limits Limits
	size   int  // bytes of data
	summed bool // the JSON has a checksum

	layouts pool.Layouts
}

// A Leaf is a tensor in a form.
type Leaf struct {
	Key   nestedkey.Key // of its value, which may have several leaves
	DType tensor.DType
	Shape shapeops.Shape
	Start int // bytes of data before it
	Size  int // bytes of its elements, without padding; of a pool, after Contents.Dict, of its values

	// Set by Contents.Dict.
	Unbatched bool           // it is an unbatched tensor
	Rows      *ragged.Layout // of the values of a ragged tensor; otherwise nil
	Whole     bool           // it is a tensor or the values of a ragged tensor, not its lengths, offsets or row numbers
	Lazy      bool           // it is in a member of a lazy stack

	name string
	stop int
	dim  int // the ragged dim; 0 if it is missing
}

// Parse reads and checks the JSON of a form with size bytes of data. It keeps text, which must not
// change. It returns a fileformat.Error with the key: fileformat.ErrCorrupt or
// fileformat.ErrUnsupported.
func Parse(text []byte, size int, limits Limits) (*Contents, error) {
	if !utf8.Valid(text) {
		return nil, fileformat.Corrupt("the metadata is not UTF-8")
	}
	if limits.Entries <= 0 {
		limits.Entries = math.MaxInt
	}
	f := &Contents{limits: limits, size: size}
	p := &parser{Scanner: jsonscan.New(text), contents: f}
	root, err := p.dict("", "", 0)
	if err == nil {
		err = p.End()
	}
	if err == nil {
		err = p.checkText(text)
	}
	if err == nil && root.class != dictClass && root.class != lazyClass {
		err = fileformat.Unsupported("the outermost value is a %s, want a dictionary", quote(root.class))
	}
	if err == nil && root.isPool() {
		err = fileformat.Unsupported("the outermost value is a ragged tensor, want a dictionary")
	}
	if err != nil {
		return nil, asCorrupt(err)
	}
	f.root, f.summed = root, p.sum != ""
	return f, f.order()
}

// asCorrupt returns err as fileformat.ErrCorrupt, unless it is that or ErrUnsupported already; nil
// stays nil.
func asCorrupt(err error) error {
	if err == nil || errors.Is(err, fileformat.ErrCorrupt) || errors.Is(err, fileformat.ErrUnsupported) {
		return err
	}
	return fileformat.Corrupt("metadata: %w", err)
}

// order sets f.Leaves in the order of the data, and checks that they lie one after another, up to
// the end.
func (f *Contents) order() error {
	f.Leaves = f.root.collect(f.Leaves)
	end := 0
	var last *Leaf
	for _, l := range f.Leaves {
		if l.Start < end {
			return fileformat.In(string(l.Key), fileformat.Corrupt("it begins at byte %d, want byte %d or later, where %s ends", l.Start, end, quote(string(last.Key))))
		}
		end, last = l.stop, l
	}
	if end != f.size {
		return fileformat.Corrupt("got %d bytes of data, want %d, where the leaves end", f.size, end)
	}
	return nil
}

// collect appends the leaves in d, in the order of the data.
func (d *dict) collect(all []*Leaf) []*Leaf {
	for e := range d.inOrder {
		if e.leaf != nil {
			e.leaf.Lazy = d.lazy
			all = append(all, e.leaf)
		} else {
			e.dict.lazy = d.lazy || d.class == lazyClass
			all = e.dict.collect(all)
		}
	}
	return all
}

// An element is a leaf or an inner node; the other is nil.
type element struct {
	leaf *Leaf
	dict *dict
}

// inOrder yields the leaves of d and its inner nodes in the order of the data, which is the order
// of the entries that were written. An inner node without leaves comes as late as it can, which
// keeps the order of the nodes.
func (d *dict) inOrder(yield func(element) bool) {
	leaves := d.leaves
	for _, inner := range d.dicts {
		for len(leaves) > 0 && leaves[0].before(inner.place) {
			if !yield(element{leaf: leaves[0]}) {
				return
			}
			leaves = leaves[1:]
		}
		if !yield(element{dict: inner}) {
			return
		}
	}
	for _, l := range leaves {
		if !yield(element{leaf: l}) {
			return
		}
	}
}

// before reports whether l comes before an inner node whose first leaf starts at place. A leaf
// without bytes does if it starts there too.
func (l *Leaf) before(place int) bool { return l.Start < place || l.Start == place && l.Size == 0 }

// A dict is a node of a form, of any class.
type dict struct {
	class  string
	key    nestedkey.Key
	name   string
	lazy   bool // it is in a member of a lazy stack
	leaves []*Leaf
	dicts  []*dict
	data   []datum
	start  int // of its first leaf; math.MaxInt without leaves
	place  int // its start; without leaves, the start of the next node that has some

	names     []string // of dims; nil for none
	batch     shapeops.Shape
	locked    bool
	stackDim  int
	goClass   string
	unbatched map[string]shapeops.Shape // batch shapes of unbatched tensors
	cut       Dims                      // of a lazy stack
}

// setPlaces sets the start of d, and the places of its inner nodes.
func (d *dict) setPlaces() {
	d.start = math.MaxInt
	for _, inner := range slices.Backward(d.dicts) {
		d.start = min(d.start, inner.start)
		inner.place = d.start
	}
	if len(d.leaves) > 0 {
		d.start = min(d.start, d.leaves[0].Start)
	}
}

// TooMany returns the error for more entries than may be read.
func TooMany(most int) error {
	return fileformat.Unsupported("more than %d entries: raise MaxEntries", most)
}

// ParseDType returns the dtype with a name such as "torch.uint8". A dtype that torch has and this
// module does not is fileformat.ErrUnsupported. Any other name is fileformat.ErrCorrupt.
func ParseDType(name string) (tensor.DType, error) {
	if len(name) > len(torch) && name[:len(torch)] == torch {
		if d, err := tensor.ParseDType(name[len(torch):]); err == nil {
			return d, nil
		}
	}
	for _, known := range []string{"complex32", "float8", "qint", "quint"} {
		if len(name) >= len(torch)+len(known) && name[:len(torch)+len(known)] == torch+known {
			return 0, fileformat.Unsupported("dtype %s", quote(name))
		}
	}
	return 0, fileformat.Corrupt("there is no dtype %s", quote(name))
}

// errDepth is the error for dictionaries nested too deep.
var errDepth = fileformat.Corrupt("nested more than %d deep", tdict.MaxDepth)

// ByteSize returns the size of the elements of a tensor in bytes.
func ByteSize(d tensor.DType, s shapeops.Shape) (int, error) {
	if n := s.Size(); n <= math.MaxInt/d.Size() {
		return n * d.Size(), nil
	}
	return 0, tooLarge(d, s)
}

// Size returns the size of the data in bytes.
func (f *Contents) Size() int { return f.size }
