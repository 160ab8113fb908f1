package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Leafwise returns what a kernel makes of each tensor among the leaves and of others, each of which
// is one of these:
//
//   - a dictionary with td's batch shape, or one that expands to it, as [1] or [] does, whose leaf
//     under the same key is the operand; its features expand likewise,
//   - a tensor, which broadcasts to the batch shape; features follow,
//   - a number or bool, which tensor.ScalarOf makes an element of the leaf's dtype.
//
// It is how the operations of package arith work on dictionaries. On the values of ragged tensors they
// work as ragged.Tensor.Leafwise says, a tensor being repeated for all that a row has; a kernel
// that selects rows selects those of two ragged tensors whole, whatever their lengths. Leaves that
// have no elements stay as they are, unless the kernel says what to select of them. Leafwise
// returns [ErrMissing] if the keys differ, unless the kernel says what stands for what is missing,
// [ErrKind] if an operand is none of these or values under one key are of several kinds, and the
// errors of tensor.Tensor.Leafwise.
func (v *dictOps) Leafwise(k *tensor.Kernel, others ...any) (*TensorDict, error) {
	td := (*TensorDict)(v)
	w, err := td.leafwise(k, others)
	if err != nil {
		return nil, failed(opOf(k), err)
	}
	w.expect(td)
	out, err := w.dict(td, w.dicts)
	if err != nil {
		return nil, failed(opOf(k), err)
	}
	return out, nil
}

// LeafwiseInto is Leafwise into a dictionary that the caller owns, as
// [TensorDict.IndexInto] is. It may be td or one of the others. On an error nothing has changed.
func (v *dictOps) LeafwiseInto(dst *TensorDict, k *tensor.Kernel, others ...any) error {
	td := (*TensorDict)(v)
	w, err := td.leafwise(k, others)
	if err == nil && dst == nil {
		err = errNil
	}
	if err != nil {
		return failed(opOf(k), err)
	}
	w.to = dst.batch
	var tr tensor.Transfer
	if err := w.into(&tr, dst, td, w.dicts); err != nil {
		return failed(opOf(k), err)
	}
	return failed(opOf(k), tr.Run())
}

// opOf returns the name of a kernel's operation.
func opOf(k *tensor.Kernel) string {
	if k == nil || k.Op == "" {
		return "leafwise"
	}
	return k.Op
}

// A leafwise applies a kernel to dictionaries.
type leafwise struct {
	kernel *tensor.Kernel
	pass   *tensor.KernelPass
	others []any              // with nil in the place of each dictionary
	dicts  []*TensorDict      // of the others, and nil in the place of each that is none
	batch  int                // dims of the outermost dictionary
	done   map[Value]bool     // of those that change in place, under whatever keys
	at     nestedkey.Key      // of the entry that is dealt with, into memory that is there
	chosen *plan.Pass         // of the rows that the kernel selects, once it is planned
	ragged *ragged.KernelPass // or nil
	shared *plan.Pass         // of what stands for what is missing
	to     shapeops.Shape     // the batch shape of a destination
	whole  *plan.Pass         // of all of it, once it is planned
	room   []any              // for the operands of a leaf
}

// leafwise checks the operands of a kernel.
func (td *TensorDict) leafwise(k *tensor.Kernel, others []any) (*leafwise, error) {
	if err := k.Valid(); err != nil {
		return nil, err
	}
	w := &leafwise{kernel: k, pass: tensor.NewKernelPass(k), batch: len(td.batch)}
	if err := td.checkDepth(0, map[*TensorDict]int{}); err != nil {
		return nil, err
	}
	for i, other := range others {
		value, _ := other.(Value)
		d, isDict := asDict(value)
		x, isTensor := asTensor(other)
		var err error
		switch {
		case isDict && d == nil:
			err = errNil
		case isDict && k.Free:
			other = nil
		case isDict:
			other, err = nil, w.fits(d, td)
		case isTensor && x == nil:
			err = fmt.Errorf("%w: got a nil tensor", ErrKind)
		case isTensor && !k.Free:
			other, err = x.Expand(td.batch...)
		case !isTensor && !td.hasElements():
			err = checkNumber(other)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), err)
		}
		w.others, w.dicts = append(w.others, other), append(w.dicts, d)
	}
	return w, nil
}

// dict returns what the kernel makes of td and of dictionaries with its keys.
func (w *leafwise) dict(td *TensorDict, dicts []*TensorDict) (*TensorDict, error) {
	if err := w.sameKeys(td, dicts); err != nil {
		return nil, err
	}
	out, err := w.head(td)
	if err != nil {
		return nil, err
	}
	entries, name, err := td.entries.mapped(func(c column, v Value) (Value, error) {
		made, err := w.entry(td, out, v, dicts, c)
		if err == nil {
			err = made.Shape().CheckPrefix(out.batch)
		}
		return made, err
	})
	if err != nil {
		return nil, within(w.kernel.Op, name, err)
	}
	out.entries = entries
	return out, w.lacking(out, dicts, func(c column, zero Value) (Value, error) { return w.entry(td, out, zero, dicts, c) })
}

// expect says which tensors the kernel is going to be applied to.
func (w *leafwise) expect(td *TensorDict) {
	for _, v := range td.entries.all() {
		if e := opsOf(v).elementwise(v); e != nil {
			w.pass.Reserve(e.ByteSize())
		} else if d, ok := asDict(v); ok {
			w.expect(d)
		}
	}
}

// head returns what the kernel makes of td, but for its entries.
func (w *leafwise) head(td *TensorDict) (*TensorDict, error) {
	if w.kernel.Batch == nil {
		return td.emptied(), nil
	}
	r, err := w.kernel.Batch(td.batch)
	if err != nil {
		return nil, err
	}
	return &TensorDict{batch: r.Shape().Clone(), header: td.named(td.reducedNames(r))}, nil
}

// lacking puts in td, for each entry that only others have, what fn makes of what stands for it.
func (w *leafwise) lacking(td *TensorDict, dicts []*TensorDict, fn func(c column, zero Value) (Value, error)) error {
	if w.kernel.Missing == nil {
		return nil
	}
	for _, d := range dicts {
		if d == nil {
			continue
		}
		for c, v := range d.entries.columns() {
			if td.entries.has(c.name) {
				continue
			}
			made, err := w.standIn(v)
			if err == nil {
				made, err = fn(c, made)
			}
			if err == nil {
				err = made.Shape().CheckPrefix(td.batch)
			}
			if err == nil {
				made, err = td.under(made)
			}
			if err != nil {
				return within(w.kernel.Op, c.name, err)
			}
			td.entries.put(c.name, made)
		}
	}
	return nil
}

// standIn returns what stands for a value that a dictionary lacks.
func (w *leafwise) standIn(v Value) (Value, error) {
	if d, isDict := asDict(v); isDict {
		return d.emptied(), nil
	}
	if w.shared == nil {
		w.shared = new(plan.Pass)
	}
	e := opsOf(v).elementwise(v)
	if e == nil {
		return opsOf(v).zerosLike(v, w.shared, v.Shape())
	}
	t, err := e.tensor(w.shared)
	if err != nil {
		return nil, err
	}
	one, err := tensor.ScalarOf(t.DType(), w.kernel.Missing)
	if err == nil {
		t, err = one.Expand(t.Shape()...)
	}
	if err != nil {
		return nil, err
	}
	return e.with(w.shared, t)
}

// sameKeys returns ErrMissing unless dictionaries have the keys of td, or something stands for what
// is missing.
func (w *leafwise) sameKeys(td *TensorDict, dicts []*TensorDict) error {
	if w.kernel.Missing != nil {
		return nil
	}
	for i, d := range dicts {
		if d == nil {
			continue
		}
		if err := d.sameNamesAs(w.kernel.Other(i), "x", td); err != nil {
			return err
		}
	}
	return nil
}

// entry returns what the kernel makes of an entry of td and of those that dictionaries have in its
// column, for out.
func (w *leafwise) entry(td, out *TensorDict, v Value, dicts []*TensorDict, c column) (Value, error) {
	if d, ok := asDict(v); ok {
		inner, err := w.inner(d, dicts, c)
		if err != nil {
			return nil, err
		}
		return some(w.dict(d, inner))
	}
	e := opsOf(v).elementwise(v)
	if e == nil || w.choosesRows(e, dicts) {
		made, err := w.other(td, out, v, dicts, c)
		if err != nil || made != v {
			return made, err
		}
		return opsOf(v).clone(v, nil)
	}
	operands, err := w.operands(td, v, dicts, c)
	if err != nil {
		return nil, err
	}
	return e.make(w, len(td.batch), operands)
}

// choosesRows reports whether the kernel chooses rows of a value, and of the last operand, as a
// whole, where it could look at their elements.
func (w *leafwise) choosesRows(e elementwise, dicts []*TensorDict) bool {
	last := len(dicts) - 1
	return e.byRows() && w.kernel.Select != nil && last >= 0 && dicts[last] != nil
}

// raggedPass returns the pass that carries the kernel over ragged tensors.
func (w *leafwise) raggedPass() *ragged.KernelPass {
	if w.ragged == nil {
		w.ragged = ragged.NewKernelPass(w.kernel, w.pass)
	}
	return w.ragged
}

// other returns what the kernel makes of a value of td whose elements it does not look at, for out:
// rows of it and of the last operand, if the kernel says which.
func (w *leafwise) other(td, out *TensorDict, v Value, dicts []*TensorDict, c column) (Value, error) {
	if w.kernel.Batch != nil {
		return reduced(td, out, v)
	}
	last := len(dicts) - 1
	if w.kernel.Select == nil || last < 0 || dicts[last] == nil {
		return v, nil
	}
	var tr tensor.Transfer
	made, err := w.selected(&tr, v, dicts[last], c)
	if err != nil {
		return nil, err
	}
	return made, tr.Run()
}

// reduced returns a value of td that is not a tensor for out, whose batch shape may be another: it
// must be unbatched, or data that is the same for all rows.
func reduced(td, out *TensorDict, v Value) (Value, error) {
	if out.batch.Equal(td.batch) {
		return v, nil
	}
	made, err := opsOf(v).alike(v, slices.Concat(out.batch, v.Shape()[len(td.batch):]))
	if made != nil || err != nil {
		return made, err
	}
	return nil, fmt.Errorf("%w: got %s that differs between the rows that are combined: Exclude it first", ErrKind, describe(v))
}

// selected adds to tr what makes the value that it returns: a copy of that of other, with the rows
// of v that the kernel selects.
func (w *leafwise) selected(tr *tensor.Transfer, v Value, other *TensorDict, c column) (Value, error) {
	from, err := w.of(v, other, c)
	if err != nil {
		return nil, err
	}
	if opsOf(from) != opsOf(v) {
		return nil, mismatch(from, v)
	}
	p, err := w.selection()
	if err != nil {
		return nil, err
	}
	out, err := opsOf(from).clone(from, p)
	if err != nil {
		return nil, err
	}
	rows, err := opsOf(v).execute(v, p)
	if err != nil {
		return nil, err
	}
	return out, opsOf(v).write(tr, out, rows, p)
}

// selection returns a pass of the rows that the kernel selects, which is planned once.
func (w *leafwise) selection() (*plan.Pass, error) {
	if w.chosen == nil {
		p, err := w.kernel.Select()
		if err != nil {
			return nil, err
		}
		w.chosen = plan.NewPass(p)
	}
	return w.chosen, nil
}
