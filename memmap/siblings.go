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

// offsetsName is the name, without extension, of the file that has the offsets of a level.
func offsetsName(level int) string { return "offsets." + strconv.Itoa(level) }

// owners says where the offsets of layouts are: for each level, from the first on, the path to the
// leaf that has them, below a dictionary.
type owners map[*ragged.Layout][][]string

// siblings are the entries of one dictionary that is read, of which some may have offsets that
// others refer to. What refers to one file has one layout.
type siblings struct {
	r       *reader
	n       tree
	entries []metaEntry
	grow    bool          // a Writer has not finished them
	values  []tdict.Value // of the entries that are read
	numbers map[string]int
	layouts map[levelOf]readLevel
	owners  owners // of layouts whose offsets were read here, and before
}

// A levelOf is a level of an entry; level 0 is the batch.
type levelOf struct {
	e     *metaEntry
	level int
}

// A readLevel is what became of reading it.
type readLevel struct {
	layout *ragged.Layout
	err    error
}

// layout returns the layout of an entry's first levels. It never goes round in a circle: an entry
// that refers to another refers to one that has the offsets of that level itself.
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

// fail returns err, if there is one, as one about the entry.
func (s *siblings) fail(e *metaEntry, err error) error {
	if err == nil {
		return nil
	}
	if !known(err) {
		err = corrupt("%w", err)
	}
	return s.r.fail(s.n, metaName, inEntry(e, err))
}

// inEntry says of which entry an error of meta.json is.
func inEntry(e *metaEntry, err error) error { return fmt.Errorf("%w (entry %s)", err, quote(e.name)) }

// note takes down that the offsets of l are those of an entry.
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

// readOffsets reads the offsets that an entry itself has of a level.
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

// readLevel reads and checks offsets.
func (s *siblings) readLevel(inner tree, f *rowsFact, level int, outer *ragged.Layout) (*ragged.Layout, error) {
	rows := f.rowsAt(level - 1)
	if rows >= math.MaxInt/8 {
		return nil, corrupt("got %d rows, want offsets that can be counted", rows)
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
		return nil, corrupt("level %d, row %d: got the end %d, want %d", level, rows-1, got, want)
	}
	return l, sameSums(sums, f.levels[level-1].sums)
}

// sameSums returns ErrCorrupt unless sums of what was read are those that are known, if any are.
func sameSums(got, want []uint32) error {
	if want == nil {
		return nil
	}
	if len(got) != len(want) {
		return corrupt("got %d sums, want %d", len(want), len(got))
	}
	for i := range got {
		if got[i] != want[i] {
			return &mismatch{got[i], want[i]}
		}
	}
	return nil
}

// lent returns the layout of a level whose offsets another leaf has: that leaf's, to which the
// levels around it must be equal.
func (s *siblings) sharedLayout(e *metaEntry, level int, outer *ragged.Layout) (*ragged.Layout, error) {
	path := e.fact.rows.levels[level-1].of
	l, err := s.find(path, level)
	if err != nil {
		return nil, s.fail(e, err)
	}
	if level > 1 && l.Outer() != outer || level == 1 && !l.Shape().Equal(outer.Shape()) {
		return nil, s.fail(e, corrupt("level %d is that of %s, and what is around it is not", level, quotePath(path)))
	}
	rows, err := l.NumRows(level)
	if want := e.fact.rows.rowsAt(level); err == nil && rows != want {
		err = corrupt("level %d is that of %s: got %d rows, want %d", level, quotePath(path), rows, want)
	}
	return l, s.fail(e, err)
}

// quotePath quotes a path from a file.
func quotePath(path []string) string { return quote(string(keyOf(path))) }

// find returns the layout of the first levels of the leaf at a path.
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
		return nil, corrupt("the offsets of level %d are to be those of %s, which has none itself", level, quotePath(path))
	}
	return s.layout(e, level)
}

// number returns which of the entries has a name.
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

// below is find in a dictionary among the entries.
func (s *siblings) below(i int, path []string, level int) (*ragged.Layout, error) {
	td, ok := s.values[i].(*tdict.TensorDict)
	if !ok {
		return nil, corrupt("the offsets of level %d are to be those of %s, where there is no dictionary", level, quotePath(path))
	}
	t, err := tdict.Get[*ragged.Tensor](td, nestedkey.Of(path[1], path[2:]...))
	if err != nil {
		return nil, corrupt("the offsets of level %d are to be those of %s: %w", level, quotePath(path), err)
	}
	return t.Layout().At(level)
}

// findKnown is find among what was read before.
func (s *siblings) findKnown(path []string, level int) (*ragged.Layout, error) {
	for l, paths := range s.owners {
		if level <= len(paths) && slices.Equal(paths[level-1], path) {
			return l.At(level)
		}
	}
	return nil, corrupt("the offsets of level %d are to be those of %s, which is not there", level, quotePath(path))
}
