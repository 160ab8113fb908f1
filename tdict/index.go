package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Execute returns what a plan makes of td: of its batch shape, and of each leaf alike. The leaves share td's memory,
// unless the plan picks by lists or masks, or reshapes what strides cannot express. The result is not locked. Execute
// returns shapeops.ErrShape if the batch shape does not begin with p.From().
func (td *TensorDict) Execute(p shapeops.Plan) (*TensorDict, error) {
	if err := td.batch.CheckPrefix(p.From()); err != nil {
		return nil, err
	}
	out := td.like(p.Extend(td.batch))
	for i, v := range td.values {
		var err error
		if out.values[i], err = execute(v, p); err != nil {
			return nil, within("execute", td.table.names[i], err)
		}
	}
	return out, nil
}

// executed is Execute behind the planning of the operation op.
func (td *TensorDict) executed(op string, p shapeops.Plan, err error) (*TensorDict, error) {
	if err != nil {
		return nil, failed(op, err)
	}
	out, err := td.Execute(p)
	if err != nil {
		return nil, failed(op, err)
	}
	return out, nil
}

// Index returns the part of td that an index expression over the batch shape selects. The leaves share td's memory if
// the expression has neither a list nor a mask, and are copies if it has. The result is not locked. The errors are those
// of shapeops.Shape.Index.
func (td *TensorDict) Index(expr ...ix.Index) (*TensorDict, error) {
	p, err := td.batch.Index(expr...)
	return td.executed("index", p, err)
}

// IndexInto is [TensorDict.Index] into a dictionary that the caller owns, which must have td's keys, and for each leaf the
// dtype and shape of the result. In a loop that reuses dst only headers are allocated. Its errors are also [ErrMissing] if
// the keys differ, and those of tensor.Transfer; on an error nothing has changed.
func (td *TensorDict) IndexInto(dst *TensorDict, expr ...ix.Index) error {
	p, err := td.batch.Index(expr...)
	if err != nil {
		return failed("index", err)
	}
	if err := dst.batch.CheckEqual(p.Shape()); err != nil {
		return failed("index", fmt.Errorf("destination: %w", err))
	}
	var tr tensor.Transfer
	err = each("index", dst, td, func(d, s *tensor.Tensor) error { return tr.Index(d, s, p) })
	if err != nil {
		return err
	}
	return failed("index", tr.Run())
}

// each calls fn with the tensors of a and b under each key. It returns ErrMissing if the keys differ, and fn's first error
// with its key.
func each(op string, a, b *TensorDict, fn func(x, y *tensor.Tensor) error) error {
	for i, name := range b.table.list() {
		j := a.table.find(name)
		if j < 0 {
			return &KeyError{op, name, fmt.Errorf("destination: %w", a.missing())}
		}
		if err := eachValue(op, a.values[j], b.values[i], fn); err != nil {
			return within(op, name, err)
		}
	}
	for _, name := range a.table.list() {
		if b.table.find(name) < 0 {
			return &KeyError{op, name, fmt.Errorf("source: %w", b.missing())}
		}
	}
	return nil
}

func eachValue(op string, a, b Value, fn func(x, y *tensor.Tensor) error) error {
	x, isTensor := asTensor(a)
	y, alsoTensor := asTensor(b)
	if isTensor && alsoTensor {
		return fn(x, y)
	}
	d, isDict := asDict(a)
	e, alsoDict := asDict(b)
	if !isDict || !alsoDict {
		return kinds(b, a)
	}
	return each(op, d, e, fn)
}

// kinds is the error of a leaf where a dictionary is wanted, or the other way round.
func kinds(got, want Value) error {
	return fmt.Errorf("%w: got %s, want %s", ErrKind, describe(got), describe(want))
}

// SetIndex writes value to the part of td that an index expression over the batch shape selects.
//
// If value is a tensor, it is written, broadcast, to that part of every leaf. If it is a dictionary, its leaves are
// written to those of td under the same keys; other leaves of td keep their values. Its batch shape must be that of the
// part, or the last dims of it, over which it is then repeated. A key that td lacks is created first, with zeros
// elsewhere, which a locked dictionary refuses.
//
// SetIndex writes elements, which a locked dictionary allows. Its errors are those of shapeops.Shape.Index,
// [TensorDict.Set] and tensor.Transfer; on an error nothing has changed.
func (td *TensorDict) SetIndex(value Value, expr ...ix.Index) error {
	if err := checkValue(value); err != nil {
		return failed("set index", err)
	}
	p, err := td.batch.Index(expr...)
	if err != nil {
		return failed("set index", err)
	}
	w := setter{plan: p, batch: td.batch}
	if t, ok := asTensor(value); ok {
		err = w.fill(td, t)
	} else if d, ok := asDict(value); ok {
		err = w.write(td, d)
	}
	if err != nil {
		return failed("set index", err)
	}
	if err := w.tr.Run(); err != nil {
		return failed("set index", err)
	}
	for _, p := range w.created {
		p.set()
	}
	return nil
}

// A setter gathers what SetIndex is to do.
type setter struct {
	plan    shapeops.Plan
	batch   shapeops.Shape // of the dictionary that SetIndex was called on
	value   shapeops.Shape // the batch shape of the value
	tr      tensor.Transfer
	created []placement
}

// fill writes t to every leaf.
func (w *setter) fill(td *TensorDict, t *tensor.Tensor) error {
	for i, v := range td.values {
		var err error
		if d, ok := asDict(v); ok {
			err = w.fill(d, t)
		} else if leaf, ok := asTensor(v); ok {
			err = w.tr.SetIndex(leaf, t, w.plan)
		}
		if err != nil {
			return within("set index", td.table.names[i], err)
		}
	}
	return nil
}

// write writes the leaves of value to those of td.
func (w *setter) write(td, value *TensorDict) error {
	w.value = value.batch
	part := w.plan.Shape()
	short := len(part) - len(w.value)
	if short < 0 || !part[short:].Equal(w.value) || len(w.value) == 0 && short > 0 {
		return fmt.Errorf("%w: got dictionary %v, want %v or its last dims", shapeops.ErrShape, w.value, part)
	}
	return w.writeDict(td, value)
}

func (w *setter) writeDict(td, value *TensorDict) error {
	for i, name := range value.table.list() {
		if err := w.writeEntry(td, name, value.values[i]); err != nil {
			return within("set index", name, err)
		}
	}
	return nil
}

func (w *setter) writeEntry(td *TensorDict, name nestedkey.Key, v Value) error {
	if i := td.table.find(name); i >= 0 {
		return w.writeValue(td.values[i], v)
	}
	zero, err := w.zeros(v)
	if err != nil {
		return err
	}
	p, err := td.placeHere(name, zero)
	if err != nil {
		return err
	}
	w.created = append(w.created, p)
	return w.writeValue(p.value, v)
}

func (w *setter) writeValue(to, v Value) error {
	d, isDict := asDict(to)
	e, alsoDict := asDict(v)
	if isDict && alsoDict {
		return w.writeDict(d, e)
	}
	leaf, isTensor := asTensor(to)
	src, alsoTensor := asTensor(v)
	if !isTensor || !alsoTensor {
		return kinds(v, to)
	}
	if got, want := src.Shape()[len(w.value):], leaf.Shape()[len(w.batch):]; !got.Equal(want) {
		return fmt.Errorf("%w: got %v, want %v behind the batch shape", shapeops.ErrShape, got, want)
	}
	return w.tr.SetIndex(leaf, src, w.plan)
}

// zeros returns a value like v, for all of the batch shape, of zeros.
func (w *setter) zeros(v Value) (Value, error) {
	shape := append(w.batch.Clone(), v.Shape()[len(w.value):]...)
	if t, ok := asTensor(v); ok {
		return tensor.New(t.DType(), shape...)
	}
	return New(shape...), nil
}
