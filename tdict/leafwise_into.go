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
	all := td // the entries of td, and a replacement for each that td lacks
	if w.kernel.Missing == nil {
		err = w.sameKeys(td, dicts)
	} else {
		all = td.emptied()
		for name, v := range td.entries.all() {
			all.entries.put(name, v)
		}
		err = w.addMissing(all, dicts, func(_ column, zero Value) (Value, error) { return zero, nil })
	}
	if err != nil {
		return err
	}
	if err := dst.sameNames(all); err != nil {
		return err
	}
	for c, v := range all.entries.columns() {
		to, err := c.of(dst)
		if err == nil {
			was := w.at
			if w.at = c.name; was != "" {
				w.at = nestedkey.Join(was, c.name)
			}
			err = w.entryInto(tr, td, dst, to, v, dicts, c)
			w.at = was
		}
		if err != nil {
			return within(w.kernel.Op, c.name, err)
		}
	}
	return nil
}

func (w *leafwise) entryInto(tr *tensor.Transfer, td, dst *TensorDict, to, v Value, dicts []*TensorDict, c column) error {
	sameKind := opsOf(to) == opsOf(v)
	if !sameKind && !sameStackedKind(to, v) {
		return mismatch(to, v)
	}
	if d, ok := v.(*TensorDict); ok {
		inner, err := w.inner(d, dicts, c)
		if err != nil {
			return err
		}
		e, _ := to.(*TensorDict)
		return w.into(tr, e, d, inner)
	}
	e := elements(v)
	if e == nil || w.choosesRows(e, dicts) {
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
	if to == v && !slices.ContainsFunc(dicts, func(d *TensorDict) bool { return d != nil }) {
		if w.done[v] { // v is in td twice
			return nil
		}
		if w.done == nil {
			w.done = map[Value]bool{}
		}
		w.done[v] = true
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
