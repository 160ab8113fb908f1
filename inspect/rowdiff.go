package inspect

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/rowsort"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A RowDifference is a row that only one of two datasets has, or a row that differs.
type RowDifference struct {
	// A and B are the numbers of the row in the two datasets, or -1 if a dataset lacks it.
	A, B int
	// Key has the values of the key columns, such as `id=13, day=4`.
	Key string
	// Entries are the differences between the two rows, one for each entry. Positions in Elements
	// are within the row.
	Entries []tdict.Difference
}

// String returns one line: "added", "removed" or "changed", the key, and the entries that differ.
func (d RowDifference) String() string {
	switch {
	case d.A < 0:
		return "added: " + d.Key
	case d.B < 0:
		return "removed: " + d.Key
	}
	var parts []string
	for _, entry := range d.Entries {
		parts = append(parts, entry.String())
	}
	return "changed: " + d.Key + ": " + strings.Join(parts, "; ")
}

// RowDifferencesOptions are the options of [RowDifferences].
type RowDifferencesOptions struct {
	DifferencesOptions
	// By are the keys of the columns that say which rows are the same, in this order: tensors of
	// one column, or text. Rows of equal values in one dataset match in their order. Categories are
	// compared as texts.
	By []nestedkey.Key
	// SchemaA and SchemaB say which values are missing. A missing value equals a missing value, and
	// nothing else. Nil means the schema of the dataset, if a or b is a *memmap.Dataset.
	SchemaA, SchemaB tdict.Schema
}

// RowDifferences returns an iterator over the differences between the rows of a and b. Rows match
// by the values of some columns, at any position:
//
//	a [N R...], b [M R...]
//
// It yields one RowDifference for each row that only a has, that only b has, and that differs, in
// the order of the columns. It compares the entries that both have with one kind, dtype and shape.
// To find the other entries, call [Differences] with no rows of a and of b. Differences says how
// elements are compared; opt.TrustSums has no effect.
//
// It keeps some 64 MiB of values in memory, and the other values in temporary files. If it yields
// an error, it ends: the errors of Differences, and tdict.ErrKind, tensor.ErrDType,
// shapeops.ErrShape, tdict.ErrMissing or, for values that cannot be compared, tdict.ErrSchema about
// a key of By.
func RowDifferences(ctx context.Context, a, b tdict.Dictionary, opt RowDifferencesOptions) iter.Seq2[RowDifference, error] {
	return func(yield func(RowDifference, error) bool) {
		opt.SchemaA, opt.SchemaB = schemaOf(a, opt.SchemaA), schemaOf(b, opt.SchemaB)
		if err := compareRows(ctx, tdict.Of(a), tdict.Of(b), opt, yield); err != nil {
			yield(RowDifference{A: -1, B: -1}, err)
		}
	}
}

// compareRows yields the differences between rows until yield returns false.
func compareRows(ctx context.Context, a, b *tdict.TensorDict, opt RowDifferencesOptions, yield func(RowDifference, error) bool) error {
	if a == nil || b == nil {
		return fmt.Errorf("differences: %w: got nil, want two dictionaries", tdict.ErrKind)
	}
	if err := rowsort.Alike(a, b, opt.SchemaA, opt.SchemaB, opt.By); err != nil {
		return err
	}
	left, err := rowsort.Rows(ctx, a, opt.SchemaA, opt.By, rowsort.Options{Texts: true})
	if err != nil {
		return err
	}
	defer left.Close()
	right, err := rowsort.Rows(ctx, b, opt.SchemaB, opt.By, rowsort.Options{Texts: true})
	if err != nil {
		return err
	}
	defer right.Close()
	m := &matcher{ctx: ctx, a: a, b: b, opt: opt, yield: yield, specA: specsOf(opt.SchemaA), specB: specsOf(opt.SchemaB)}
	if err := m.alike(); err != nil {
		return err
	}
	err = m.run(left, right)
	if err == nil && !m.ended {
		err = m.flush()
	}
	return err
}

// A matcher compares rows in pairs.
type matcher struct {
	ctx   context.Context
	a, b  *tdict.TensorDict
	opt   RowDifferencesOptions
	yield func(RowDifference, error) bool
	specA specs                    // of opt.SchemaA
	specB specs                    // of opt.SchemaB
	keys  []nestedkey.Key          // entries to compare
	withA []nestedkey.Key          // and their masks in a
	withB []nestedkey.Key          // and in b
	joint map[nestedkey.Key]*joint // of entries whose categories differ
	most  int                      // pairs to compare at a time
	pairs [][2]int                 // -1 for none
	ended bool                     // yield has returned false
}

// alike finds the entries to compare.
func (m *matcher) alike() error {
	none, err := m.a.Narrow(0, 0, 0)
	if err != nil {
		return err
	}
	other, err := m.b.Narrow(0, 0, 0)
	if err != nil {
		return err
	}
	skip := map[nestedkey.Key]bool{}
	opt := m.opt.DifferencesOptions
	opt.TrustSums = false
	for d, err := range Differences(m.ctx, none, other, opt) {
		if err != nil {
			return err
		}
		skip[d.Key] = true
	}
	chosen, err := newSelection("differences", m.opt.Keys, m.a, m.b)
	if err != nil {
		return err
	}
	for key := range m.a.Leaves() {
		if !skip[key] && m.b.Has(key) && !slices.Contains(m.opt.By, key) && chosen.within(key) {
			m.keys = append(m.keys, key)
		}
	}
	m.joint = jointCategories(m.specA, m.specB, m.keys)
	m.withA, m.withB = m.specA.withMasks(m.keys), m.specB.withMasks(m.keys)
	const bytes = 4 << 20
	size := max(rowSize(m.a), rowSize(m.b))
	m.most = max(1, min(4096, bytes/max(1, size)))
	return nil
}

// rowSize returns the mean size of a row in bytes.
func rowSize(td *tdict.TensorDict) int { return td.ByteSize() / max(1, td.Shape()[0]) }

// run matches the rows of two sorted datasets.
func (m *matcher) run(left, right *rowsort.Sorter) error {
	nextA, stopA := iter.Pull2(left.All())
	defer stopA()
	nextB, stopB := iter.Pull2(right.All())
	defer stopB()
	a, errA, moreA := nextA()
	b, errB, moreB := nextB()
	for (moreA || moreB) && !m.ended {
		switch {
		case errA != nil:
			return errA
		case errB != nil:
			return errB
		case m.ctx.Err() != nil:
			return context.Cause(m.ctx)
		}
		order := 0
		switch {
		case !moreA:
			order = 1
		case !moreB:
			order = -1
		default:
			order = slices.Compare(a.Key, b.Key)
		}
		pair := [2]int{-1, -1}
		if order <= 0 {
			pair[0] = int(a.Number)
		}
		if order >= 0 {
			pair[1] = int(b.Number)
		}
		if err := m.add(pair); err != nil {
			return err
		}
		if order <= 0 {
			a, errA, moreA = nextA()
		}
		if order >= 0 {
			b, errB, moreB = nextB()
		}
	}
	return nil
}

// add adds a pair of rows.
func (m *matcher) add(pair [2]int) error {
	m.pairs = append(m.pairs, pair)
	if len(m.pairs) < m.most {
		return nil
	}
	return m.flush()
}

// flush compares the pairs and yields the differences.
func (m *matcher) flush() error {
	found, err := m.compared()
	if err != nil {
		return err
	}
	for i, pair := range m.pairs {
		if pair[0] >= 0 && pair[1] >= 0 && len(found[i]) == 0 {
			continue
		}
		d := RowDifference{A: pair[0], B: pair[1], Entries: found[i]}
		if pair[0] >= 0 {
			d.Key, err = m.text(m.a, pair[0], m.specA)
		} else {
			d.Key, err = m.text(m.b, pair[1], m.specB)
		}
		if err != nil {
			return err
		}
		if !m.yield(d, nil) {
			m.ended = true
			break
		}
	}
	m.pairs = m.pairs[:0]
	return nil
}

// compared returns the differences of each pair of two rows.
func (m *matcher) compared() (map[int][]tdict.Difference, error) {
	found := map[int][]tdict.Difference{}
	var at []int // positions in pairs
	var rowsA, rowsB []int64
	for i, pair := range m.pairs {
		if pair[0] >= 0 && pair[1] >= 0 {
			at, rowsA, rowsB = append(at, i), append(rowsA, int64(pair[0])), append(rowsB, int64(pair[1]))
		}
	}
	if len(at) == 0 || len(m.keys) == 0 {
		return found, nil
	}
	a, err := picked(m.a, m.withA, rowsA)
	if err != nil {
		return nil, err
	}
	b, err := picked(m.b, m.withB, rowsB)
	if err != nil {
		return nil, err
	}
	if err := m.recode(a, b); err != nil {
		return nil, err
	}
	if err := m.entries(m.keys, a, b, at, found); err != nil {
		return nil, err
	}
	for pair, list := range found {
		found[pair] = m.withoutMasks(list)
	}
	return found, nil
}

// recode gives the categories of rows of a and b the same numbers.
func (m *matcher) recode(a, b *tdict.TensorDict) error {
	for key, j := range m.joint {
		if err := j.recode(a, key, j.a); err != nil {
			return err
		}
		if err := j.recode(b, key, j.b); err != nil {
			return err
		}
	}
	return nil
}

// withoutMasks returns the differences of a row without the masks of entries that differ.
func (m *matcher) withoutMasks(list []tdict.Difference) []tdict.Difference {
	said := map[nestedkey.Key]bool{}
	for _, d := range list {
		said[m.specA.of(d.Key).Mask], said[m.specB.of(d.Key).Mask] = true, true
	}
	return slices.DeleteFunc(list, func(d tdict.Difference) bool { return said[d.Key] })
}

// picked returns some rows and entries of td.
func picked(td *tdict.TensorDict, keys []nestedkey.Key, rows []int64) (*tdict.TensorDict, error) {
	return td.SelectPresent(keys...).Take(0, tensor.Vector(rows...))
}

// entries adds the differences of some entries between the rows of a and b, which are pairs at.
func (m *matcher) entries(keys []nestedkey.Key, a, b *tdict.TensorDict, at []int, found map[int][]tdict.Difference) error {
	opt := m.opt.DifferencesOptions
	opt.Keys, opt.Most, opt.TrustSums = keys, math.MaxInt, false
	for d, err := range Differences(m.ctx, a, b, opt) {
		if err != nil {
			return err
		}
		if err := m.distribute(d, a, b, at, found); err != nil {
			return err
		}
		if d.Kind != tdict.DiffShape || len(d.Elements) == 0 {
			continue
		}
		if err := m.sameLengths(d.Key, a, b, at, found, d.Elements); err != nil {
			return err
		}
	}
	return nil
}

// sameLengths compares the rows of a ragged entry whose lengths are not among the rows that differ.
func (m *matcher) sameLengths(key nestedkey.Key, a, b *tdict.TensorDict, at []int, found map[int][]tdict.Difference, differ []tensor.ElementDiff) error {
	other := map[int]bool{}
	for _, element := range differ {
		other[element.Position[0]] = true
	}
	var rows []int64
	var left []int
	for i, pair := range at {
		if !other[i] {
			rows, left = append(rows, int64(i)), append(left, pair)
		}
	}
	if len(left) == 0 {
		return nil
	}
	one := []nestedkey.Key{key}
	a, err := picked(a, m.specA.withMasks(one), rows)
	if err != nil {
		return err
	}
	if b, err = picked(b, m.specB.withMasks(one), rows); err != nil {
		return err
	}
	return m.entries(one, a, b, left, found)
}

// distribute adds a difference of several rows to the row of each element that a mask shows.
func (m *matcher) distribute(d tdict.Difference, a, b *tdict.TensorDict, at []int, found map[int][]tdict.Difference) error {
	most := m.opt.most()
	specA, specB := m.specA.of(d.Key), m.specB.of(d.Key)
	if j := m.joint[d.Key]; j != nil {
		specA.Categories, specB.Categories = j.texts, j.texts
	}
	maskA, err := m.specA[d.Key].MaskOf(a, d.Key)
	if err != nil {
		return err
	}
	maskB, err := m.specB[d.Key].MaskOf(b, d.Key)
	if err != nil {
		return err
	}
	for _, element := range d.Elements {
		hiddenA, err := hides(maskA, element.Position)
		if err != nil {
			return err
		}
		hiddenB, err := hides(maskB, element.Position)
		if err != nil {
			return err
		}
		if hiddenA && hiddenB {
			continue
		}
		pair := at[element.Position[0]]
		list := found[pair]
		if len(list) == 0 || list[len(list)-1].Key != d.Key {
			list = append(list, tdict.Difference{Kind: d.Kind, Key: d.Key})
		}
		one := &list[len(list)-1]
		if one.Count++; one.Count <= most {
			one.Elements = append(one.Elements, tensor.ElementDiff{
				Position: element.Position[1:], A: spelled(specA, element.A, hiddenA), B: spelled(specB, element.B, hiddenB)})
		}
		one.Text = rowText(*one)
		found[pair] = list
	}
	return nil
}
