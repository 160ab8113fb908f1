package memmap

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// fitsRows returns an error unless got is a ragged tensor like want, with the given batch shape.
func fitsRows(want *ragged.Tensor, got tdict.Value, batch shapeops.Shape) error {
	t, ok := got.(*ragged.Tensor)
	if !ok {
		return fmt.Errorf("%w: got a %T, want ragged rows", tdict.ErrKind, got)
	}
	f := rowsFactOf(want)
	f.batch = batch
	return rowsFactOf(t).checkLike(f)
}

// agree returns an error unless rows like f can be appended to the n rows that there describes.
func (f *rowsFact) agree(there *rowsFact, n int) error {
	if err := checkCount(there.batch, n); err != nil {
		return err
	}
	like := *f
	like.batch = append(shapeops.Shape{n}, f.batch[1:]...)
	return like.checkLike(there)
}

// checkLike returns an error unless f has the dtype, batch shape, levels and features of want.
func (f *rowsFact) checkLike(want *rowsFact) error {
	if f.dtype != want.dtype {
		return fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, f.dtype, want.dtype)
	}
	if got, want := f.text(false), want.text(false); got != want {
		return fmt.Errorf("%w: got %s, want %s", shapeops.ErrShape, got, want)
	}
	return nil
}

// raggedEntries returns the entries of ragged leaves.
func (w *Writer) raggedEntries() (entries []*metaEntry) {
	for i := range w.meta.entries {
		if e := &w.meta.entries[i]; e.fact.rows != nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// layoutIn returns the layout of the first depth levels of the leaf of e in td.
func (e *metaEntry) layoutIn(td *tdict.TensorDict, depth int) (*ragged.Layout, error) {
	t, err := tdict.Get[*ragged.Tensor](td, keyOf(e.fact.path))
	if err != nil {
		return nil, err
	}
	return t.Layout().At(depth)
}

// checkSharedLengths returns an error unless leaves of td that share offsets have equal lengths.
func (w *Writer) checkSharedLengths(td *tdict.TensorDict) error {
	for _, e := range w.raggedEntries() {
		shared := e.fact.rows.shared()
		if shared == 0 {
			continue
		}
		if err := e.checkLengthsOf(w.named.owner(e, shared), shared, td); err != nil {
			return w.keyError(keyOf(e.fact.path), err)
		}
	}
	return nil
}

// checkLengthsOf returns an error unless the first depth levels of e and owner are equal in td.
func (e *metaEntry) checkLengthsOf(owner *metaEntry, depth int, td *tdict.TensorDict) error {
	l, err := e.layoutIn(td, depth)
	if err != nil {
		return err
	}
	want, err := owner.layoutIn(td, depth)
	if err != nil || l == want {
		return err
	}
	if err := l.CheckEqual(want); err != nil {
		return fmt.Errorf("it shares offsets with %s, so both must have equal lengths: %w", quote(string(keyOf(owner.fact.path))), err)
	}
	return nil
}

// namedEntries are the entries of a dictionary by name.
type namedEntries map[string]*metaEntry

// named returns the entries by name. Pointers into m.entries must stay valid.
func (m *meta) named() namedEntries {
	named := make(namedEntries, len(m.entries))
	for i := range m.entries {
		named[m.entries[i].name] = &m.entries[i]
	}
	return named
}

// owner returns the entry that has the offsets of a level of e: e itself or another.
func (named namedEntries) owner(e *metaEntry, level int) *metaEntry {
	if of := e.fact.rows.levels[level-1].of; len(of) == 1 && named[of[0]] != nil {
		return named[of[0]]
	}
	return e
}

// countRows adds n rows of td to the counts of all levels of all ragged leaves.
func (w *Writer) countRows(td *tdict.TensorDict, n int) error {
	for _, e := range w.raggedEntries() {
		f := e.fact.rows
		l, err := e.layoutIn(td, len(f.levels))
		if err != nil {
			return err
		}
		f.batch[0] += n
		for i := range f.levels {
			more, err := l.NumRows(i + 1)
			if err != nil {
				return err
			}
			f.levels[i].rows += more
		}
	}
	return nil
}

// dropOffsets removes the files of offsets from the plan s, which has them without rows.
func (w *Writer) dropOffsets(s *saver) {
	offsets := map[string]bool{}
	for _, c := range w.leaves {
		offsets[c.at()] = c.level > 0
	}
	s.files = slices.DeleteFunc(s.files, func(f *savedFile) bool { return offsets[f.at] })
}

// takeOffsets plans the file of c with the offsets of ds.
func (w *Writer) takeOffsets(s *saver, c *column, ds *Dataset) error {
	l, err := c.entry.layoutIn(ds.TensorDict, c.level)
	if err != nil {
		return err
	}
	offsets, err := l.Offsets(c.level)
	if err != nil {
		return err
	}
	s.ints(c.at(), offsets, c.sums())
	return nil
}
