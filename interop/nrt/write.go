package nrt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Write writes to w the same bytes that [Save] writes to a file. Values are written without a copy,
// field by field, unless their rows are not consecutive, as after a permutation. After an error, a
// part may have been written. Write returns [ErrUnsupported] as Save does, and the errors of w.
func Write(w io.Writer, j *joint.Joint) error {
	p, err := newPlan(j)
	if err == nil {
		err = p.writeTo(w)
	}
	return fileformat.Failed("write", "", "", err)
}

// A plan is a file to be written.
type plan struct {
	entries []safetensors.Entry
	content map[string]func(io.Writer) error // writes the content of an entry, by name
	deepest *ragged.Layout                   // the deepest of all fields; nil if there are only scalars
	tree    *joint.Field                     // the first field that is not a scalar
	head    []byte                           // the length of the header, and the header
}

// newPlan plans a file for j. It does all checks.
func newPlan(j *joint.Joint) (*plan, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("%w on a big-endian machine", errors.ErrUnsupported)
	}
	if j == nil {
		return nil, fmt.Errorf("%w: got a nil collection", shapeops.ErrKind)
	}
	p := &plan{content: map[string]func(io.Writer) error{}}
	for f := range j.Fields() {
		if err := p.field(f); err != nil {
			return nil, &FileError{Op: "write", Name: f.Name, Err: err}
		}
	}
	if err := p.bounds(); err != nil {
		return nil, err
	}
	return p, p.place()
}

// place assigns the positions of the arrays.
func (p *plan) place() error {
	h, head, err := safetensors.Plan(p.entries, nil)
	if err == nil {
		p.entries, p.head = h.Entries, head
	}
	return err
}

// add adds an array of n elements.
func (p *plan) add(name, dtype string, n int, write func(io.Writer) error) {
	p.entries = append(p.entries, safetensors.Entry{Name: name, DType: dtype, Shape: []int{n}})
	p.content[name] = write
}

// field adds the values of a field.
func (p *plan) field(f joint.Field) error {
	t := f.Tensor
	if features := t.Features(); len(features) > 0 {
		return unsupported("got values %v, want single numbers: the format has no dims after the levels", features)
	}
	dtype, err := spelled(t.DType())
	if err != nil {
		return err
	}
	depth := -1
	if len(t.Shape()) > 0 {
		if depth, err = p.nest(f); err != nil {
			return err
		}
	}
	p.add(nameOf(depth, f.Name), dtype, t.NumValues(), func(w io.Writer) error { return writeValues(w, t) })
	return nil
}

// nest records a field that is not a scalar, and returns its depth.
func (p *plan) nest(f joint.Field) (depth int, err error) {
	depth = f.Tensor.Depth()
	if p.tree == nil {
		p.tree = &f
	}
	if f.Tree != p.tree.Tree {
		return 0, unsupported("got tree %q, want %q as in field %q: the format has one tree", f.Tree, p.tree.Tree, p.tree.Name)
	}
	if p.deepest == nil || depth > p.deepest.Depth() {
		p.deepest = f.Tensor.Layout()
	}
	return depth, checkLengths(f)
}

// checkLengths returns ErrUnsupported for a field that readers would take for the lengths of old
// writers.
func checkLengths(f joint.Field) error {
	t := f.Tensor
	if f.Name != lengthsName || t.Depth() == 0 || t.DType() != tensor.Int64 {
		return nil
	}
	lengths, err := t.Layout().Lengths(t.Depth())
	if err != nil || len(lengths) != t.NumValues() {
		return err
	}
	values, err := t.Values()
	if err != nil {
		return err
	}
	same := false
	err = tensor.Read(values, func(v []int64) { same = slices.Equal(v, lengths) })
	if err == nil && same {
		err = unsupported("got values that equal the lengths of their rows, which readers would ignore: use another name")
	}
	return err
}

func writeValues(w io.Writer, t *ragged.Tensor) error {
	values, err := t.Values()
	if err != nil {
		return err
	}
	_, err = bundle.Write(w, values)
	return err
}

// bounds adds the bounds of each level.
func (p *plan) bounds() error {
	if p.deepest == nil {
		return nil
	}
	l := p.deepest.Compact()
	for level := 1; level <= l.Depth(); level++ {
		offsets, err := l.Offsets(level)
		if err != nil {
			return err
		}
		p.add(nameOf(level, boundsName), boundsDType, len(offsets)-1, func(w io.Writer) error {
			_, err := w.Write(cast.Bytes(offsets[1:]))
			return err
		})
	}
	return nil
}

// smallWrite is the size of the write buffer.
const smallWrite = 64 << 10

// writeTo writes the file.
func (p *plan) writeTo(w io.Writer) error {
	b := bufio.NewWriterSize(w, smallWrite)
	if _, err := b.Write(p.head); err != nil {
		return err
	}
	for _, e := range p.entries {
		if err := p.content[e.Name](b); err != nil {
			return fileformat.Failed("write", "", e.Name, err)
		}
	}
	return b.Flush()
}
