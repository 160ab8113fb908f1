package tdc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BlockSize is how many bytes of the data have a checksum of their own; the last block may be
// shorter.
const BlockSize = 64 << 20

// Limits bound what reading a form takes. The zero Limits bound it by the bytes of the form.
type Limits struct {
	Entries int                 // at all levels together; 0 is no limit
	Take    func(n int64) error // if not nil, is asked before bytes of offsets are copied
}

// A Form is a form whose JSON was read and checked.
type Form struct {
	Facts  Facts
	Leaves []*Leaf // in the order of the data
	root   *dict
	limits Limits
	size   int // bytes of data

	layouts map[uint32][]*ragged.Layout // by the CRC-32C of their offsets
}

// A Leaf is a tensor of a form.
type Leaf struct {
	Key   nestedkey.Key // of the value that it is a part of
	DType tensor.DType
	Shape shapeops.Shape
	Start int // bytes of data before it
	Size  int // bytes of its elements

	// What Form.Dict finds out.
	Alike bool           // an unbatched tensor
	Rows  *ragged.Layout // of values of ragged rows; else nil
	Whole bool           // it is a value, or values of ragged rows, and not offsets
	Lazy  bool           // it is in a member of a lazy stack

	name string
	stop int
	dim  int // the ragged dim; 0 if it is not said
}

// Parse reads the JSON of a form with size bytes of data, and checks it. It keeps text, which must
// not change. It returns a fileformat.Error that says the key: fileformat.ErrCorrupt or
// fileformat.ErrUnsupported.
func Parse(text []byte, size int, limits Limits) (*Form, error) {
	if !utf8.Valid(text) {
		return nil, fileformat.Corrupt("the metadata is not UTF-8")
	}
	if limits.Entries <= 0 {
		limits.Entries = math.MaxInt
	}
	f := &Form{limits: limits, size: size}
	p := &parser{Scanner: jsonscan.New(text), form: f}
	root, err := p.dict("", "", 0)
	if err == nil {
		err = p.End()
	}
	if err == nil && root.class != dictClass && root.class != lazyClass {
		err = fileformat.Unsupported("the whole is a %s, want a dictionary", quote(root.class))
	}
	if err != nil {
		return nil, asCorrupt(err)
	}
	f.root = root
	return f, f.order()
}

// asCorrupt returns err as fileformat.ErrCorrupt, unless it says already what it means.
func asCorrupt(err error) error {
	if err == nil || errors.Is(err, fileformat.ErrCorrupt) || errors.Is(err, fileformat.ErrUnsupported) {
		return err
	}
	return fileformat.Corrupt("metadata: %w", err)
}

// order puts the leaves in the order of the data, and checks that they lie one after another, up to
// the end.
func (f *Form) order() error {
	f.Leaves = f.root.collect(f.Leaves)
	end := 0
	var last *Leaf
	for _, l := range f.Leaves {
		if l.Start < end {
			return fileformat.In(string(l.Key), fileformat.Corrupt("it begins at byte %d, want byte %d, where %s ends, or later", l.Start, end, quote(string(last.Key))))
		}
		end, last = l.stop, l
	}
	if end != f.size {
		return fileformat.Corrupt("got %d bytes of data, want %d, where the leaves end", f.size, end)
	}
	return nil
}

// collect appends the leaves in d: those of a dictionary in it between its own, as their places
// say.
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

// An element is a leaf or a dictionary.
type element struct {
	leaf *Leaf
	dict *dict
}

// inOrder yields the leaves of d and the dictionaries in it, in the order of their places in the
// data, which is that in which they were written. A dictionary without leaves comes as late as it
// can, which keeps the order of dictionaries.
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

// before reports whether l comes before a dictionary whose first leaf starts at a place: one
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
	start  int // where its first leaf lies; math.MaxInt if it has none
	place  int // before which leaves around it it comes: its start, or that of the next one that has leaves

	names     []string // of dims; nil for none
	batch     shapeops.Shape
	locked    bool
	stackDim  int
	goClass   string
	alike     map[string]shapeops.Shape // batch shapes of unbatched tensors
	rowsBatch shapeops.Shape
	rowsDepth int // 0 if the node is not ragged rows
}

// settle notes where the first leaf in d lies, and where the dictionaries in it come.
func (d *dict) settle() {
	d.start = math.MaxInt
	for _, inner := range slices.Backward(d.dicts) {
		d.start = min(d.start, inner.start)
		inner.place = d.start
	}
	if len(d.leaves) > 0 {
		d.start = min(d.start, d.leaves[0].Start)
	}
}

// find returns the leaf of a name, or nil.
func (d *dict) find(name string) *Leaf {
	i := slices.IndexFunc(d.leaves, func(l *Leaf) bool { return l.name == name })
	if i < 0 {
		return nil
	}
	return d.leaves[i]
}

// TooMany says that there are more entries than may be read.
func TooMany(most int) error {
	return fileformat.Unsupported("more than %d entries: raise MaxEntries", most)
}

// ParseDType returns the dtype of a name such as "torch.uint8". What torch has and this module has
// not is fileformat.ErrUnsupported, any other name fileformat.ErrCorrupt.
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

// errDepth says that dictionaries are nested too deep.
var errDepth = fileformat.Corrupt("nested more than %d deep", tdict.MaxDepth)

// ByteSize returns how many bytes the elements of a tensor take.
func ByteSize(d tensor.DType, s shapeops.Shape) (int, error) {
	if n := s.Size(); n <= math.MaxInt/d.Size() {
		return n * d.Size(), nil
	}
	return 0, fmt.Errorf("%w: got %v %v, want a size in bytes that an int holds", shapeops.ErrShape, d, s)
}

// Size returns the bytes of the data.
func (f *Form) Size() int { return f.size }
