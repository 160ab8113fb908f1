package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// SetIndexOptions are the options of [TensorDict.SetIndexWith]. The zero value is the default.
type SetIndexOptions struct {
	// Create makes an entry for each key that only the value has. The rows of a new entry that are
	// not written are zero. If td is locked, SetIndexWith returns ErrLocked. Without Create, a key
	// that td lacks is an error, ErrMissing.
	Create bool
	// Workers is the number of cores that a large copy may use; 0 means GOMAXPROCS.
	Workers int
}

// SetIndex writes value to the part of td that an index expression over the batch shape selects.
//
//   - If value is a leaf, it is broadcast and written to that part of every leaf of td, except
//     unbatched tensors.
//   - If value is a dictionary, its leaves are written to the leaves of td under the same keys.
//     Other leaves of td keep their values. The batch shape of value must be the batch shape of
//     the part or a suffix of it, such as []. If it is shorter, value is repeated along the first
//     dims. Dims of size 1 do not broadcast.
//   - Rows of ragged tensors are written whole, with their lengths.
//   - If a leaf of td is a [Stacked], its members at the selected positions of the stack dim are
//     written one by one. A value that is not a Stacked is first cut along that dim. If the value
//     is a Stacked that lacks a member, the member of td stays as it is.
//
// SetIndex writes elements, which a locked dictionary allows. It returns shapeops.ErrIndex if the
// expression does not fit the batch shape, the errors of tensor.Transfer, [ErrMissing] for a key
// that td lacks, and [ErrKind] if a value and the value that it is written to are of different
// kinds. On an error nothing has changed.
func (td *TensorDict) SetIndex(value Value, expr ...ix.Index) error {
	return td.SetIndexWith(value, SetIndexOptions{}, expr...)
}

// SetIndexWith is [TensorDict.SetIndex] with options. With opt.Create it also returns the errors of
// [TensorDict.Set].
func (td *TensorDict) SetIndexWith(value Value, opt SetIndexOptions, expr ...ix.Index) error {
	if err := checkValue(value); err != nil {
		return failed("set index", err)
	}
	planned, err := plan.Index(td.batch, expr...)
	if err != nil {
		return failed("set index", err)
	}
	w := setter{create: opt.Create, batch: td.batch, pass: &plan.Pass{Plan: planned, Workers: opt.Workers}}
	tr := tensor.Transfer{Workers: opt.Workers}
	w.tr = &tr
	if d, ok := value.(*TensorDict); ok {
		if opt.Create { // keys are nested as deep in td as in value
			err = d.checkDepth(0, map[*TensorDict]int{})
		}
		if err == nil {
			err = w.write(td, d)
		}
	} else {
		err = w.fill(td, value)
	}
	if err == nil {
		err = tr.Run()
	}
	if err != nil {
		return failed("set index", err)
	}
	for _, p := range w.created {
		p.set()
	}
	return nil
}

// AddWrite adds to tr: the part of td that p.Plan selects = src, with the rules of
// [TensorDict.SetIndex].
func (td dictOps) AddWrite(tr *tensor.Transfer, src *TensorDict, p *plan.Pass) error {
	if src == nil {
		return errNil
	}
	if err := p.CheckPlan(td.batch); err != nil {
		return err
	}
	w := setter{pass: p, batch: td.batch, tr: tr}
	return w.write(td.TensorDict, src)
}

// A setter collects the copies and the new entries of a SetIndex.
type setter struct {
	tr      *tensor.Transfer
	pass    *plan.Pass
	batch   shapeops.Shape // the batch shape of the dictionary that SetIndex was called on
	value   shapeops.Shape // the batch shape of the value
	create  bool
	created []placement
	zeroed  *plan.Pass // makes the new entries; nil before the first
}

// fill writes a leaf to every leaf of td.
func (w *setter) fill(td *TensorDict, value Value) error {
	for name, v := range td.entries.all() {
		var err error
		if d, ok := v.(*TensorDict); ok {
			err = w.fill(d, value)
		} else if s, ok := v.(*Stacked); ok && !stackeds.passes(v) {
			err = stackeds.put(w.tr, s, value, w.pass, func(int) error { return nil })
		} else if k := opsOf(v); !k.passes(v) {
			err = k.write(w.tr, v, value, w.pass)
		}
		if err != nil {
			return within("", name, err)
		}
	}
	return nil
}

// write writes the leaves of value to the leaves of td.
func (w *setter) write(td, value *TensorDict) error {
	w.value = value.batch
	part := w.pass.Plan.Extend(td.batch)
	short := len(part) - len(w.value)
	if short < 0 || !part[short:].Equal(w.value) {
		return fmt.Errorf("%w: got dictionary %v, want %v or its last dims", shapeops.ErrShape, w.value, part)
	}
	return w.writeDict(td, value)
}

func (w *setter) writeDict(td, value *TensorDict) error {
	for c, v := range value.entries.columns() {
		if err := w.writeEntry(td, c, v); err != nil {
			return within("", c.name, err)
		}
	}
	return nil
}

func (w *setter) writeEntry(td *TensorDict, c column, v Value) error {
	to, err := c.of(td)
	if err == nil {
		return w.writeValue(to, v)
	}
	if !w.create {
		return err
	}
	zero, err := w.zeros(v)
	if err != nil {
		return err
	}
	p, err := td.placeHere(c.name, zero)
	if err != nil {
		return err
	}
	w.created = append(w.created, p)
	return w.writeValue(p.value, v)
}

func (w *setter) writeValue(to, v Value) error {
	d, isDict := to.(*TensorDict)
	e, alsoDict := v.(*TensorDict)
	if isDict && alsoDict {
		return w.writeDict(d, e)
	}
	if opsOf(to) != opsOf(v) && !sameStackedKind(to, v) {
		return mismatch(v, to)
	}
	if got, want := trailing(v, len(w.value)), trailing(to, len(w.batch)); !got.Equal(want) && !differs(to) && !differs(v) {
		return fmt.Errorf("%w: got %v, want %v after the batch shape", shapeops.ErrShape, got, want)
	}
	return opsOf(to).write(w.tr, to, v, w.pass)
}

// trailing returns the dims of v after the first batch dims.
func trailing(v Value, batch int) shapeops.Shape { return v.Shape()[batch:] }

// zeros returns a value of zeros like v, with the batch shape of the whole dictionary. A dictionary
// is empty.
func (w *setter) zeros(v Value) (Value, error) {
	shape := append(w.batch.Clone(), trailing(v, len(w.value))...)
	if w.zeroed == nil {
		w.zeroed = new(plan.Pass)
	}
	return opsOf(v).zerosLike(v, w.zeroed, shape)
}

// A placement is an entry that was checked and can be set.
type placement struct {
	in    *TensorDict
	key   nestedkey.Key // the key in in; if it has several parts, in lacks the first
	value Value
}

func (p placement) set() {
	first, rest, nested := p.key.Cut()
	if nested {
		inner := &TensorDict{batch: p.in.batch.Clone(), header: header{names: p.in.names}}
		placement{inner, rest, p.value}.set()
		p.value = inner
	}
	p.in.entries.put(first, p.value)
}
