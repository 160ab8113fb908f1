package memmap

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// offsetsName is the name, without extension, of the file with the offsets of a level.
func offsetsName(level int) string { return "offsets." + strconv.Itoa(level) }

// owners records which leaves have the offsets of layouts. The value has, for each level from the
// first, the path of the leaf below a dictionary.
type owners map[*ragged.Layout][][]string

// siblings are the entries of one dictionary that is being read. Ragged entries may refer to each
// other's offsets. Entries that refer to one file get one layout.
type siblings struct {
	r       *reader
	n       tree
	entries []metaEntry
	grow    bool          // a Writer has not called Finish
	values  []tdict.Value // of the entries read so far
	numbers map[string]int
	layouts map[levelOf]readLevel
	owners  owners // of layouts whose offsets were read, here or before
}

// A levelOf is a level of an entry; level 0 is the batch.
type levelOf struct {
	e     *metaEntry
	level int
}

// A readLevel is the result of reading a level.
type readLevel struct {
	layout *ragged.Layout
	err    error
}

// layout returns the layout of the first levels of e, up to level. The recursion ends: an entry
// refers only to entries that have the offsets of that level themselves.
func (s *siblings) layout(e *metaEntry, level int) (*ragged.Layout, error) {
	at := levelOf{e, level}
	if known, ok := s.layouts[at]; ok {
		return known.layout, known.err
	}
	l, err := s.makeLayout(e, level)
	if s.layouts == nil {
		s.layouts = map[levelOf]readLevel{}
	}
	s.layouts[at] = readLevel{l, err}
	return l, err
}

func (s *siblings) makeLayout(e *metaEntry, level int) (*ragged.Layout, error) {
	f := e.fact.rows
	if level == 0 {
		l, err := ragged.NewLayout(f.batch)
		return l, s.fail(e, asCorrupt(err))
	}
	outer, err := s.layout(e, level-1)
	if err != nil {
		return nil, err
	}
	if !f.own(level) {
		return s.sharedLayout(e, level, outer)
	}
	l, err := s.readOffsets(e, level, outer)
	if err == nil {
		s.note(l, e, level)
	}
	return l, err
}

// fail returns err as one about the entry e; nil stays nil.
func (s *siblings) fail(e *metaEntry, err error) error {
	if err == nil {
		return nil
	}
	if !known(err) {
		err = corrupt("%w", err)
	}
	return s.r.fail(s.n, metaName, inEntry(e, err))
}

// inEntry adds the name of the entry to an error about a meta.json.
func inEntry(e *metaEntry, err error) error { return fmt.Errorf("%w (entry %s)", err, quote(e.name)) }

// note records that e has the offsets of level of l.
func (s *siblings) note(l *ragged.Layout, e *metaEntry, level int) {
	paths := make([][]string, level)
	for i := range paths {
		if paths[i] = e.fact.rows.levels[i].of; len(paths[i]) == 0 {
			paths[i] = []string{e.name}
		}
	}
	if s.owners == nil {
		s.owners = owners{}
	}
	s.owners[l] = paths
}

// readOffsets reads the offsets of a level from the file of e.
func (s *siblings) readOffsets(e *metaEntry, level int, outer *ragged.Layout) (*ragged.Layout, error) {
	inner, err := s.n.node(e.name)
	if err != nil {
		return nil, err
	}
	f := e.fact.rows
	l, err := s.readLevel(inner, f, level, outer)
	if err != nil && !known(err) {
		err = corrupt("%w", err)
	}
	err = s.r.fail(inner, offsetsName(level)+leafExt, err)
	if failed := inner.close(); err == nil {
		err = s.r.fail(inner, "", failed)
	}
	return l, err
}

// readLevel reads and checks the offsets of a level.
func (s *siblings) readLevel(inner tree, f *rowsFact, level int, outer *ragged.Layout) (*ragged.Layout, error) {
	rows := f.rowsAt(level - 1)
	if rows >= math.MaxInt/8 {
		return nil, corrupt("got %d rows, want offsets of a size in bytes that an int holds", rows)
	}
	offsets, sums, err := inner.ints(offsetsName(level), leafExt, rows+1)
	if err != nil {
		return nil, err
	}
	l, err := outer.Nest(offsets)
	if err != nil {
		return nil, err
	}
	if got, want := offsets[rows], int64(f.rowsAt(level)); got != want {
		return nil, corrupt("level %d: the last row, %d, ends at %d, want %d", level, rows-1, got, want)
	}
	return l, sameSums(sums, f.levels[level-1].sums)
}

// sameSums returns ErrCorrupt unless got equals want, or want is nil.
func sameSums(got, want []uint32) error {
	if want == nil {
		return nil
	}
	if len(got) != len(want) {
		return corrupt("got %d checksums, want %d", len(want), len(got)) // want was read from the file
	}
	for i := range got {
		if got[i] != want[i] {
			return &mismatch{got[i], want[i]}
		}
	}
	return nil
}

// sharedLayout returns the layout of a level whose offsets another leaf has. The outer levels of
// both leaves must be equal.
func (s *siblings) sharedLayout(e *metaEntry, level int, outer *ragged.Layout) (*ragged.Layout, error) {
	path := e.fact.rows.levels[level-1].of
	l, err := s.find(path, level)
	if err != nil {
		return nil, s.fail(e, err)
	}
	if level > 1 && l.Outer() != outer || level == 1 && !l.Shape().Equal(outer.Shape()) {
		return nil, s.fail(e, corrupt("level %d shares the offsets of %s, but the outer levels of the two differ", level, quotePath(path)))
	}
	rows, err := l.NumRows(level)
	if want := e.fact.rows.rowsAt(level); err == nil && rows != want {
		err = corrupt("level %d shares the offsets of %s: got %d rows, want %d", level, quotePath(path), rows, want)
	}
	return l, s.fail(e, err)
}

// quotePath quotes a path that was read from a file.
func quotePath(path []string) string { return quote(string(keyOf(path))) }

// find returns the layout of the first levels of the leaf at path, up to level.
func (s *siblings) find(path []string, level int) (*ragged.Layout, error) {
	i, ok := s.number(path[0])
	if !ok {
		return s.findKnown(path, level)
	}
	if len(path) > 1 {
		return s.below(i, path, level)
	}
	e := &s.entries[i]
	if e.fact.rows == nil || !e.isNode() || level > len(e.fact.rows.levels) || !e.fact.rows.own(level) {
		return nil, corrupt("level %d refers to the offsets of %s, which does not store them", level, quotePath(path))
	}
	return s.layout(e, level)
}

// number returns the index of the entry with a name.
func (s *siblings) number(name string) (int, bool) {
	if s.numbers == nil {
		s.numbers = make(map[string]int, len(s.entries))
		for i := range s.entries {
			s.numbers[s.entries[i].name] = i
		}
	}
	i, ok := s.numbers[name]
	return i, ok
}

// below returns the layout of a leaf in entry i, a dictionary, as find does.
func (s *siblings) below(i int, path []string, level int) (*ragged.Layout, error) {
	td, ok := s.values[i].(*tdict.TensorDict)
	if !ok {
		return nil, corrupt("level %d refers to the offsets of %s, which is not in a dictionary", level, quotePath(path))
	}
	t, err := tdict.Get[*ragged.Tensor](td, nestedkey.Of(path[1], path[2:]...))
	if err != nil {
		return nil, corrupt("level %d refers to the offsets of %s: %w", level, quotePath(path), err)
	}
	return t.Layout().At(level)
}

// findKnown returns the layout of a leaf that was read before, as find does.
func (s *siblings) findKnown(path []string, level int) (*ragged.Layout, error) {
	for l, paths := range s.owners {
		if level <= len(paths) && slices.Equal(paths[level-1], path) {
			return l.At(level)
		}
	}
	return nil, corrupt("level %d refers to the offsets of %s, which is missing", level, quotePath(path))
}
