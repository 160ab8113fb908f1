package tdict

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Leafwise applies a kernel to each tensor among the leaves and to operands from others. Package
// arith uses it for its operations on dictionaries. Each of others is
//
//   - a dictionary whose batch shape expands to td's, as [1] and [] do: the operand is its leaf
//     under the same key, whose features expand likewise,
//   - a tensor that broadcasts to the batch shape and applies to all features,
//   - a number or bool, which tensor.ScalarOf converts to the leaf's dtype.
//
// On ragged tensors the kernel works as ragged.Tensor.Leafwise says: an element of a tensor operand
// applies to all values of its row. A kernel that selects rows selects whole rows of two ragged
// tensors, of whatever lengths. Leaves without elements stay as they are, unless the kernel selects
// rows of them.
//
// Leafwise returns [ErrMissing] if the keys differ and k.Missing is nil, [ErrKind] if an operand is
// of another type or the values under a key are of different kinds, and the errors of
// tensor.Tensor.Leafwise.
func (td dictOps) Leafwise(k *tensor.Kernel, others ...any) (*TensorDict, error) {
	w, err := td.leafwise(k, others)
	if err != nil {
		return nil, failed(opOf(k), err)
	}
	w.reserve(td.TensorDict)
	out, err := w.dict(td.TensorDict, w.dicts)
	if err != nil {
		return nil, failed(opOf(k), err)
	}
	return out, nil
}

// LeafwiseInto is Leafwise into a dictionary that the caller owns, with the rules of
// [TensorDict.IndexInto]. dst may be td or one of the others. On an error nothing has changed.
func (td dictOps) LeafwiseInto(dst *TensorDict, k *tensor.Kernel, others ...any) error {
	w, err := td.leafwise(k, others)
	if err == nil && dst == nil {
		err = errNil
	}
	if err != nil {
		return failed(opOf(k), err)
	}
	w.to = dst.batch
	var tr tensor.Transfer
	if err := w.into(&tr, dst, td.TensorDict, w.dicts); err != nil {
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

// A leafwise is a kernel that is applied to dictionaries.
type leafwise struct {
	kernel *tensor.Kernel
	others []any         // the operands; nil where an operand is a dictionary
	dicts  []*TensorDict // the operands; nil where an operand is not a dictionary
	batch  int           // the number of batch dims of the outermost dictionary

	// With a destination:
	to   shapeops.Shape // its batch shape
	at   nestedkey.Key  // the key of the current entry
	done map[Value]bool // values that change in place and have been treated

	pass   *tensor.KernelPass
	buffer []any // for the operands of a leaf
	// Nil before the first use:
	ragged raggedPass
	chosen *plan.Pass // selects the rows that the kernel selects
	whole  *plan.Pass // selects all rows of the destination
	shared *plan.Pass // for replacements of missing values
}

// leafwise checks the operands of a kernel and returns its application to td.
func (td *TensorDict) leafwise(k *tensor.Kernel, others []any) (*leafwise, error) {
	if err := k.Valid(); err != nil {
		return nil, err
	}
	w := &leafwise{kernel: k, pass: tensor.NewKernelPass(k), batch: len(td.batch)}
	if err := td.checkDepth(0, map[*TensorDict]int{}); err != nil {
		return nil, err
	}
	hasElements := false // else no leaf checks the kind of a number
	for _, v := range td.Leaves() {
		if hasElements = elements(v) != nil; hasElements {
			break
		}
	}
	for i, other := range others {
		var d *TensorDict
		var err error
		switch x := other.(type) {
		case *TensorDict:
			if d, other = x, nil; d == nil {
				err = errNil
			} else if !k.Free {
				err = w.fits(d, td)
			}
		case *tensor.Tensor:
			if x == nil {
				err = fmt.Errorf("%w: got a nil tensor", ErrKind)
			} else if !k.Free {
				var p *plan.Plan
				if p, err = plan.Expand(x.Shape(), td.batch...); err == nil {
					other, err = x.Ops().Execute(plan.NewPass(p))
				}
			}
		default:
			if hasElements {
				break
			}
			if _, e := tensor.ScalarOf(tensor.Complex128, x); errors.Is(e, ErrKind) {
				err = e
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), err)
		}
		w.others, w.dicts = append(w.others, other), append(w.dicts, d)
	}
	return w, nil
}

// dict returns the result of the kernel for td and the dictionary operands dicts.
func (w *leafwise) dict(td *TensorDict, dicts []*TensorDict) (*TensorDict, error) {
	if err := w.sameKeys(td, dicts); err != nil {
		return nil, err
	}
	out, err := w.head(td)
	if err != nil {
		return nil, err
	}
	out.entries = td.entries.emptied()
	for i := range td.entries.values {
		c, v := td.entries.at(i)
		if v == nil {
			continue
		}
		made, err := w.entry(td, out, v, dicts, c)
		if err == nil {
			err = made.Shape().CheckPrefix(out.batch)
		}
		if err != nil {
			return nil, within(w.kernel.Op, c.name, err)
		}
		out.entries.values[i] = made
	}
	return out, w.addMissing(out, dicts, func(c column, zero Value) (Value, error) { return w.entry(td, out, zero, dicts, c) })
}

// reserve makes room in the pass for the result of each leaf of td.
func (w *leafwise) reserve(td *TensorDict) {
	for _, v := range td.entries.all() {
		if e := elements(v); e != nil {
			w.pass.Reserve(e.ByteSize())
		} else if d, ok := v.(*TensorDict); ok {
			w.reserve(d)
		}
	}
}

// head returns the result of the kernel for td without its entries.
func (w *leafwise) head(td *TensorDict) (*TensorDict, error) {
	if w.kernel.Batch == nil {
		return td.emptied(), nil
	}
	r, err := w.kernel.Batch(td.batch)
	if err != nil {
		return nil, err
	}
	return &TensorDict{batch: r.Shape().Clone(), header: td.named(td.tracedNames(r, r.Rank(), len(r.Shape())))}, nil
}

// addMissing puts into td, for each entry that only dicts have, the result of fn for the
// replacement of the missing value.
func (w *leafwise) addMissing(td *TensorDict, dicts []*TensorDict, fn func(c column, zero Value) (Value, error)) error {
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
				made, err = td.inheritNames(made)
			}
			if err != nil {
				return within(w.kernel.Op, c.name, err)
			}
			td.entries.put(c.name, made)
		}
	}
	return nil
}

// standIn returns the replacement of a missing value: a value like v filled with kernel.Missing.
func (w *leafwise) standIn(v Value) (Value, error) {
	if d, isDict := v.(*TensorDict); isDict {
		return d.emptied(), nil
	}
	if w.shared == nil {
		w.shared = new(plan.Pass)
	}
	e := elements(v)
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

// sameKeys returns ErrMissing unless dicts have the keys of td, or the kernel replaces missing
// values.
func (w *leafwise) sameKeys(td *TensorDict, dicts []*TensorDict) error {
	if w.kernel.Missing != nil {
		return nil
	}
	for i, d := range dicts {
		if d == nil || w.kernel.Partial && i == len(dicts)-1 {
			continue
		}
		other := w.kernel.Other(i)
		if err := d.sameNamesAs("in "+other, "in "+other+" only, not in x", td); err != nil {
			return err
		}
	}
	return nil
}

// lacks reports whether operand i of dicts may lack an entry of the first operand, and does.
func (w *leafwise) lacks(dicts []*TensorDict, i int, c column) bool {
	return w.kernel.Partial && i == len(dicts)-1 && !dicts[i].entries.has(c.name)
}

// entry returns the result of the kernel for v, an entry of td, and the values of dicts in the same
// column. It becomes an entry of out.
func (w *leafwise) entry(td, out *TensorDict, v Value, dicts []*TensorDict, c column) (Value, error) {
	if d, ok := v.(*TensorDict); ok {
		inner, err := w.inner(d, dicts, c)
		if err != nil {
			return nil, err
		}
		return asValue(w.dict(d, inner))
	}
	e := elements(v)
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
	if t, ok := e.(elementsOfTensor); ok {
		return asValue(w.pass.Make(t.Tensor, len(td.batch), operands))
	}
	return e.make(w, len(td.batch), operands)
}

// choosesRows reports whether the kernel selects whole rows, of the value and of the last operand.
func (w *leafwise) choosesRows(e elementwise, dicts []*TensorDict) bool {
	last := len(dicts) - 1
	return e.wholeRows() && w.kernel.Select != nil && last >= 0 && dicts[last] != nil
}

// A raggedPass applies one kernel to several ragged tensors.
type raggedPass = interface {
	Make(t *ragged.Tensor, others []any) (*ragged.Tensor, error)
	To(tr *tensor.Transfer, dst, t *ragged.Tensor, others []any) error
}

// raggedPass returns the pass that applies the kernel to ragged tensors.
func (w *leafwise) raggedPass(t *ragged.Tensor) raggedPass {
	if w.ragged == nil {
		kernels, _ := t.Ops().(interface {
			KernelPass(k *tensor.Kernel, values *tensor.KernelPass) raggedPass
		})
		w.ragged = kernels.KernelPass(w.kernel, w.pass)
	}
	return w.ragged
}

// other returns the entry of out for v, an entry of td to whose elements the kernel is not applied.
// If the kernel selects rows, they are rows of v and of the last operand.
func (w *leafwise) other(td, out *TensorDict, v Value, dicts []*TensorDict, c column) (Value, error) {
	if w.kernel.Batch != nil {
		if out.batch.Equal(td.batch) {
			return v, nil
		}
		made, err := opsOf(v).alike(v, slices.Concat(out.batch, v.Shape()[len(td.batch):]))
		if made == nil && err == nil {
			err = fmt.Errorf("%w: got %s that differs between the rows that are combined: Exclude it first", ErrKind, describe(v))
		}
		return made, err
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

// selected returns a copy of the value of other in column c, and adds to tr the copy of those rows
// of v that the kernel selects.
func (w *leafwise) selected(tr *tensor.Transfer, v Value, other *TensorDict, c column) (Value, error) {
	from, err := w.of(v, other, c)
	if err != nil {
		return nil, err
	}
	if from, err = asKindOf(from, v); err != nil {
		return nil, err
	}
	if w.chosen == nil {
		p, err := w.kernel.Select()
		if err != nil {
			return nil, err
		}
		w.chosen = plan.NewPass(p)
	}
	p := w.chosen
	out, err := opsOf(from).clone(from, p)
	if err != nil {
		return nil, err
	}
	rows, err := opsOf(v).execute(v, p)
	switch _, stacked := out.(*Stacked); {
	case err != nil:
		return nil, err
	case rows == nil && stacked: // v has no member in these rows: the members of out stay, as in write
		return out, nil
	case rows == nil:
		return nil, errNoMember
	}
	return out, opsOf(out).write(tr, out, rows, p)
}
