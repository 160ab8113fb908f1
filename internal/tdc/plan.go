package tdc

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	align   = 8  // bytes; leaves are padded to a multiple
	MaxDims = 64 // of a shape
)

// A Plan determines the place of each leaf of a dictionary in a form. The zero Plan is ready for
// [Plan.Make], which can be called again and reuses the memory.
type Plan struct {
	leaves []leaf // in the order of the data
	nodes  []node // each before its inner nodes; the first is the outermost
	size   int    // bytes of data
	text   []byte // the result of Trailer
	sumAt  int    // where the checksum of the JSON begins in text
}

// A leaf is a tensor and its place in the data.
type leaf struct {
	prefix string // of a part of a jagged tensor, or ""
	name   string
	t      *tensor.Tensor
	shape  shapeops.Shape // of t; for a pool, which t has the beginning of, with what follows
	start  int
	size   int // bytes of elements; padding follows

	summed   bool           // lengths or values of a ragged tensor, whose sums give the tag of row numbers
	numbered *ragged.Tensor // t is to be its row numbers, which WriteData makes; otherwise nil

	unbatched *tdict.Unbatched // that t is of; nil for none
}

func (l *leaf) end() int { return padded(l.start + l.size) }

// A node is a dictionary, or a stack of data.
type node struct {
	name   string
	td     *tdict.TensorDict // nil for data and ragged tensors
	locked bool
	stack  bool           // it is a stack of data, along its first dim
	lazy   bool           // it is a lazy stack
	along  int            // dim of a lazy stack
	dim    string         // name of the dim of a stack
	dims   Dims           // of a lazy stack
	rows   *ragged.Tensor // of the node of a ragged tensor
	leaves []int          // indexes into Plan.leaves
	nodes  []int          // indexes into Plan.nodes
	data   []datum
}

// A datum is a value of tdict.Data.
type datum struct {
	name  string
	value any
	batch shapeops.Shape
}

// Size returns the size of the data in bytes, without the trailer.
func (p *Plan) Size() int { return p.size }

// Make plans td, and checks everything but elements. It returns a fileformat.Error with the key:
// fileformat.ErrName, fileformat.ErrUnsupported, shapeops.ErrShape or tensor.ErrMeta. If td is nil
// it returns tdict.ErrKind.
func (p *Plan) Make(td *tdict.TensorDict) error {
	p.Forget()
	if !cast.LittleEndian() {
		return fmt.Errorf("%w on a big-endian machine", errors.ErrUnsupported)
	}
	if td == nil {
		return fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)
	}
	if err := td.Ops().(namesChecker).CheckNames(); err != nil {
		return err
	}
	_, err := p.dict("", td, 0)
	return err
}

// A namesChecker returns an error if inner dictionaries could not take the dim names of the outer
// ones.
type namesChecker interface{ CheckNames() error }

// Forget drops the plan, and keeps the memory.
func (p *Plan) Forget() {
	clear(p.leaves)
	for i := range p.nodes {
		n := &p.nodes[i]
		clear(n.data)
		*n = node{leaves: n.leaves[:0], nodes: n.nodes[:0], data: n.data[:0]}
	}
	p.leaves, p.nodes, p.text, p.size = p.leaves[:0], p.nodes[:0], p.text[:0], 0
}

// add adds a node and returns its index.
func (p *Plan) add(name string) int {
	if len(p.nodes) < cap(p.nodes) {
		p.nodes = p.nodes[:len(p.nodes)+1] // reuses the memory of its lists
	} else {
		p.nodes = append(p.nodes, node{})
	}
	p.nodes[len(p.nodes)-1].name = name
	return len(p.nodes) - 1
}

// dict plans a dictionary and returns the index of its node.
func (p *Plan) dict(name string, td *tdict.TensorDict, depth int) (int, error) {
	n := p.add(name)
	p.nodes[n].td, p.nodes[n].locked = td, td.Locked()
	if depth > tdict.MaxDepth {
		return n, fmt.Errorf("%w: dictionaries nested more than %d deep", fileformat.ErrName, tdict.MaxDepth)
	}
	if err := CheckShape(td.Shape()); err != nil {
		return n, err
	}
	if _, lazy := tdict.StackDim(td); lazy {
		return n, p.lazy(n, td, depth)
	}
	for key, v := range td.All() {
		if err := p.value(n, key.Name(), v, depth+1); err != nil {
			return n, inEntry(key, err)
		}
	}
	return n, nil
}

// inEntry returns err as an error about the entry key, or about the entry in it that err names.
func inEntry(key nestedkey.Key, err error) error {
	if e, ok := err.(*fileformat.Error); ok {
		return &fileformat.Error{Name: string(nestedkey.Join(key, nestedkey.Key(e.Name))), Err: e.Err}
	}
	return &fileformat.Error{Name: string(key), Err: err}
}

// value plans an entry of the node n. It is the one place that lists the kinds of values that are
// written.
func (p *Plan) value(n int, name string, v tdict.Value, depth int) error {
	if pool.Reserved(name) {
		return fmt.Errorf("%w: the format uses the name for a part of a ragged tensor", fileformat.ErrName)
	}
	switch v := v.(type) {
	case *tensor.Tensor:
		return p.leaf(n, "", name, v)
	case *tdict.TensorDict:
		return p.inner(n, name, func() (int, error) { return p.dict(name, v, depth) })
	case *tdict.Data:
		return p.data(n, name, v)
	case *tdict.Unbatched:
		return p.unbatched(n, name, v)
	case *ragged.Tensor:
		return p.ragged(n, name, v)
	}
	return fileformat.Unsupported("a %T cannot be saved", v)
}

// inner plans an entry that is a node.
func (p *Plan) inner(n int, name string, plan func() (int, error)) error {
	if field(name).reserved() {
		return fmt.Errorf("%w: the format has a field of that name", fileformat.ErrName)
	}
	inner, err := plan()
	p.nodes[n].nodes = append(p.nodes[n].nodes, inner)
	return err
}

// leaf plans a tensor.
func (p *Plan) leaf(n int, prefix, name string, t *tensor.Tensor) error {
	if jaggedPart(name) {
		return fmt.Errorf("%w: the format uses the beginning of the name for the parts of jagged tensors", fileformat.ErrName)
	}
	if t.Device() == tensor.Meta {
		return tensor.ErrMeta
	}
	if err := CheckShape(t.Shape()); err != nil {
		return err
	}
	start, size := aligned(p.size, t.DType()), t.ByteSize()
	if size > math.MaxInt-start-align {
		return tooLarge(t.DType(), t.Shape())
	}
	l := leaf{prefix: prefix, name: name, t: t, shape: t.Shape(), start: start, size: size}
	p.nodes[n].leaves = append(p.nodes[n].leaves, len(p.leaves))
	p.leaves, p.size = append(p.leaves, l), l.end()
	return nil
}

func tooLarge(d tensor.DType, s shapeops.Shape) error {
	return fmt.Errorf("%w: got %v %v, want a size in bytes that an int holds", shapeops.ErrShape, d, s)
}

// padded returns size, rounded up to a multiple of align.
func padded(size int) int { return (size + align - 1) &^ (align - 1) }

// aligned returns the start of a leaf after one that ends at end. Python cannot read elements of 16
// bytes unless they start at a multiple of 16.
func aligned(end int, d tensor.DType) int {
	if d.Size() <= align {
		return end
	}
	return (end + d.Size() - 1) &^ (d.Size() - 1)
}

// unbatched plans an unbatched tensor: a leaf that a native fact marks.
func (p *Plan) unbatched(n int, name string, u *tdict.Unbatched) error {
	if err := CheckShape(u.Shape()); err != nil {
		return err
	}
	if err := p.leaf(n, "", name, u.Tensor()); err != nil {
		return err
	}
	p.leaves[len(p.leaves)-1].unbatched = u
	return nil
}

// data plans data: one value for all rows, or a stack.
func (p *Plan) data(n int, name string, d *tdict.Data) error {
	if err := CheckShape(d.Shape()); err != nil {
		return err
	}
	if one, ok := datajson.Shared(d); ok || d.Shape().Size() == 0 {
		p.nodes[n].data = append(p.nodes[n].data, datum{name, one, d.Shape()})
		return nil
	}
	values := make([]any, 0, d.Shape().Size())
	for v := range d.All() {
		values = append(values, v)
	}
	return p.inner(n, name, func() (int, error) {
		return p.stack(name, d.Shape(), &values, p.nodes[n].td.Names(), p.nodes[n].locked), nil
	})
}

// stack plans the next values as a stack along the first dim of shape; for more dims it is a stack
// of stacks. names are the names of the dims, which may be fewer.
func (p *Plan) stack(name string, shape shapeops.Shape, values *[]any, names []string, locked bool) int {
	n := p.add(name)
	p.nodes[n].stack, p.nodes[n].locked = true, locked
	if len(names) > 0 {
		p.nodes[n].dim, names = names[0], names[1:]
	}
	for i := range shape[0] {
		row := strconv.Itoa(i)
		if len(shape) > 1 {
			inner := p.stack(row, shape[1:], values, names, locked)
			p.nodes[n].nodes = append(p.nodes[n].nodes, inner)
			continue
		}
		p.nodes[n].data = append(p.nodes[n].data, datum{row, (*values)[0], nil})
		*values = (*values)[1:]
	}
	return n
}

// CheckShape returns an error if s is invalid, or has more dims than Python's readers take.
func CheckShape(s shapeops.Shape) error {
	if len(s) > MaxDims {
		return fmt.Errorf("%w: got %d dims, want at most %d", shapeops.ErrShape, len(s), MaxDims)
	}
	return s.Check()
}

// A field is the name of a field of a node.
type field string

// The fields of a node, besides the nodes in it.
const (
	fieldClass  field = "cls"
	fieldData   field = "non_tensors"
	fieldLeaves field = "leaves"
	fieldMeta   field = "cls_metadata"
	fieldSize   field = "size" // native facts; Python ignores it
)

// reserved reports whether a node cannot have this name.
func (f field) reserved() bool {
	switch f {
	case fieldClass, fieldData, fieldLeaves, fieldMeta, fieldSize:
		return true
	}
	return false
}

// quote quotes a name that was read from a form.
func quote(name string) string { return errtext.Quote(name) }
