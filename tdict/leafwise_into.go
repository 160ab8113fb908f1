package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// into adds to tr: dst = the result of the kernel for td and the dictionary operands dicts.
func (w *leafwise) into(tr *tensor.Transfer, dst, td *TensorDict, dicts []*TensorDict) error {
	head, err := w.head(td)
	if err != nil {
		return err
	}
	if err := dst.batch.CheckEqual(head.batch); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	all, err := w.complete(td, dicts)
	if err != nil {
		return err
	}
	if err := dst.sameNames(all); err != nil {
		return err
	}
	for c, v := range all.entries.columns() {
		to, err := c.of(dst)
		if err == nil {
			was := w.enter(c.name)
			err = w.entryInto(tr, td, dst, to, v, dicts, c)
			w.at = was
		}
		if err != nil {
			return within(w.kernel.Op, c.name, err)
		}
	}
	return nil
}

// enter appends name to w.at, the current key, and returns the key as it was, to restore it.
func (w *leafwise) enter(name nestedkey.Key) (was nestedkey.Key) {
	was, w.at = w.at, name
	if was != "" {
		w.at = nestedkey.Join(was, name)
	}
	return was
}

// complete returns td with replacements for entries that only dicts have, if the kernel has one.
// Otherwise it returns td, and an error unless the keys are the same.
func (w *leafwise) complete(td *TensorDict, dicts []*TensorDict) (*TensorDict, error) {
	if w.kernel.Missing == nil {
		return td, w.sameKeys(td, dicts)
	}
	out := td.emptied()
	for name, v := range td.entries.all() {
		out.entries.put(name, v)
	}
	return out, w.addMissing(out, dicts, func(_ column, zero Value) (Value, error) { return zero, nil })
}

func (w *leafwise) entryInto(tr *tensor.Transfer, td, dst *TensorDict, to, v Value, dicts []*TensorDict, c column) error {
	sameKind := opsOf(to) == opsOf(v)
	if !sameKind && !sameStackedKind(to, v) {
		return mismatch(to, v)
	}
	if d, ok := asDict(v); ok {
		inner, err := w.inner(d, dicts, c)
		if err != nil {
			return err
		}
		e, _ := asDict(to)
		return w.into(tr, e, d, inner)
	}
	e := elements(v)
	if e == nil || w.choosesRows(e, dicts) {
		return w.otherInto(tr, td, dst, to, v, dicts, c)
	}
	if to == v && w.doneBefore(v, dicts) {
		return nil
	}
	operands, err := w.operands(td, v, dicts, c)
	if err != nil {
		return err
	}
	if !sameKind { // dst and x are the dense form and the stacked one
		made, err := e.make(w, len(td.batch), operands)
		if err != nil {
			return err
		}
		return assign(tr, to, made)
	}
	key := w.at
	tr.About(func(err error) error { return failedKey(opOf(w.kernel), key, err) })
	return e.to(w, tr, to, len(td.batch), operands)
}

// doneBefore reports whether v, which changes in place, has been treated under another key with the
// same operands.
func (w *leafwise) doneBefore(v Value, dicts []*TensorDict) bool {
	if slices.ContainsFunc(dicts, func(d *TensorDict) bool { return d != nil }) {
		return false
	}
	if w.done == nil {
		w.done = map[Value]bool{}
	}
	was := w.done[v]
	w.done[v] = true
	return was
}

// otherInto is [leafwise.other] with a destination.
func (w *leafwise) otherInto(tr *tensor.Transfer, td, dst *TensorDict, to, v Value, dicts []*TensorDict, c column) error {
	made, err := w.other(td, dst, v, dicts, c)
	if err != nil || made == to || opsOf(to).passes(to) && opsOf(to).equal(to, made) {
		return err
	}
	if opsOf(to) != opsOf(made) {
		return assign(tr, to, made)
	}
	if w.whole == nil {
		p, err := plan.Index(w.to)
		if err != nil {
			return err
		}
		w.whole = plan.NewPass(p)
	}
	return opsOf(made).into(tr, to, made, w.whole)
}
