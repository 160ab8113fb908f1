package inspect_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// patients is the schema of a table for groups and row differences.
var patients = tdict.Schema{
	{Key: "id", DType: tensor.Int64, Mask: "has_id"}, {Key: "name", Kind: tdict.KindText},
	{Key: "x", DType: tensor.Float32, Mask: "has_x"}, {Key: "p", DType: tensor.Int16, Shape: shapeops.Shape{2}},
	{Key: "note", Kind: tdict.KindText, Mask: "has_note"}, {Key: "codes", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1, Mask: "has_codes"},
	{Key: "marks", Kind: tdict.KindRagged, DType: tensor.Float64, Depth: 1, Mask: "has_marks"},
	{Key: "has_id", DType: tensor.Bool}, {Key: "has_x", DType: tensor.Bool}, {Key: "has_note", DType: tensor.Bool}, {Key: "has_codes", DType: tensor.Bool},
	{Key: "has_marks", Kind: tdict.KindRagged, DType: tensor.Bool, Depth: 1},
}

// A visit is a row of patients.
type visit struct {
	id       int64
	name     string
	x        float32
	p        [2]int16
	note     string
	codes    []int64
	marks    []float64
	there    [4]bool // id, x, note, codes
	hasMarks []bool
}

// someVisits returns n rows with few different ids and names.
func someVisits(r *rand.Rand, n int) (rows []visit) {
	for range n {
		v := visit{id: r.Int64N(5) - 2, name: []string{"", "ann", "bob"}[r.IntN(3)], x: float32(r.IntN(9)) / 4, p: [2]int16{int16(r.IntN(7)), -1}, note: "n"}
		if r.IntN(8) == 0 {
			v.x = float32(math.NaN())
		}
		for i := range v.there {
			v.there[i] = r.IntN(4) > 0
		}
		for range r.IntN(3) {
			v.marks, v.hasMarks = append(v.marks, r.Float64()), append(v.hasMarks, r.IntN(3) > 0)
			if v.there[3] { // a missing list is empty
				v.codes = append(v.codes, r.Int64N(9))
			}
		}
		rows = append(rows, v)
	}
	return rows
}

// dictOf returns the rows as a dictionary of patients.
func dictOf(t *testing.T, rows []visit) *tdict.TensorDict {
	t.Helper()
	n := len(rows)
	column := func(v tdict.Value, err error) tdict.Value {
		require.NoError(t, err)
		return v
	}
	var id []int64
	var name, note []string
	var x []float32
	var p []int16
	codes, marks, hasMarks := [][]int64{}, [][]float64{}, [][]bool{}
	there := [4][]bool{}
	for _, v := range rows {
		id, name, note, x, p = append(id, v.id), append(name, v.name), append(note, v.note), append(x, v.x), append(p, v.p[:]...)
		codes, marks, hasMarks = append(codes, v.codes), append(marks, v.marks), append(hasMarks, v.hasMarks)
		for i := range there {
			there[i] = append(there[i], v.there[i])
		}
	}
	pairs, err := tensor.From(p, n, 2)
	td, err := tdict.FromMap(shapeops.Shape{n}, tdict.Entries{
		"id": tensor.Vector(id...), "name": tensor.Must(ragged.FromStrings(name)), "x": tensor.Vector(x...), "p": column(pairs, err),
		"note": tensor.Must(ragged.FromStrings(note)), "codes": tensor.Must(ragged.From[int64](codes)), "marks": tensor.Must(ragged.From[float64](marks)),
		"has_id": tensor.Vector(there[0]...), "has_x": tensor.Vector(there[1]...), "has_note": tensor.Vector(there[2]...), "has_codes": tensor.Vector(there[3]...),
		"has_marks": tensor.Must(ragged.From[bool](hasMarks)),
	})
	require.NoError(t, err)
	require.NoError(t, patients.Check(td))
	return td
}

// idText is the text of an id in a group, and in the key of a row.
func (v visit) idText() string {
	if !v.there[0] {
		return "missing"
	}
	return fmt.Sprint(v.id)
}

// naiveLeaf summarizes values, of which there are some missing.
func naiveLeaf(key nestedkey.Key, values []float64, missing int) inspect.GroupLeaf {
	spec, _ := patients.Find(key)
	leaf := inspect.GroupLeaf{Key: key, DType: spec.DType, Missing: missing}
	sum := 0.0
	for _, x := range values {
		if math.IsNaN(x) {
			leaf.NaN++
			continue
		}
		leaf.Count++
		sum += x
	}
	leaf.Mean = sum / float64(leaf.Count)
	return leaf
}

// naiveGroups summarizes rows by their definition.
func naiveGroups(rows []visit) (all []inspect.Group) {
	groups := map[[2]string][]visit{}
	for _, v := range rows {
		at := [2]string{v.idText(), fmt.Sprintf("%q", v.name)}
		groups[at] = append(groups[at], v)
	}
	order := slices.SortedFunc(maps.Keys(groups), func(a, b [2]string) int {
		x, y := groups[a][0], groups[b][0]
		return cmp.Or(-cmp.Compare(fmt.Sprint(x.there[0]), fmt.Sprint(y.there[0])), map[bool]int{true: cmp.Compare(x.id, y.id)}[x.there[0]], cmp.Compare(x.name, y.name))
	})
	for _, at := range order {
		g := inspect.Group{Values: at[:], Rows: len(groups[at])}
		var x, p, codes, marks []float64
		var lost [4]int
		notes := 0
		for _, v := range groups[at] {
			for i, value := range map[int]*[]float64{1: &x} {
				if v.there[i] {
					*value = append(*value, float64(v.x))
				} else {
					lost[0]++
				}
			}
			p = append(p, float64(v.p[0]), float64(v.p[1]))
			if v.there[2] {
				notes++
			}
			if !v.there[3] {
				lost[2]++
			}
			for _, code := range v.codes {
				codes = append(codes, float64(code))
			}
			for i, mark := range v.marks {
				if v.hasMarks[i] {
					marks = append(marks, mark)
				} else {
					lost[3]++
				}
			}
		}
		text := inspect.GroupLeaf{Key: "note", Count: notes, Missing: g.Rows - notes, Mean: math.NaN()}
		g.Leaves = []inspect.GroupLeaf{naiveLeaf("codes", codes, lost[2]), naiveLeaf("marks", marks, lost[3]), text, naiveLeaf("p", p, 0), naiveLeaf("x", x, lost[0])}
		all = append(all, g)
	}
	return all
}

// TestGroupsIsNaive compares with a loop over the rows: masks of values, texts, lists and values in
// lists, NaN, and a missing value as a group.
func TestGroupsIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 30 {
		rows := someVisits(r, r.IntN(80))
		var got []inspect.Group
		opt := inspect.GroupsOptions{By: []nestedkey.Key{"id", "name"}, Schema: patients}
		for group, err := range inspect.Groups(t.Context(), dictOf(t, rows), opt) {
			require.NoError(t, err)
			for i, leaf := range group.Leaves {
				if leaf.Count > 0 && !math.IsNaN(leaf.Mean) {
					group.Leaves[i].Mean = math.Round(leaf.Mean*1e9) / 1e9
				}
			}
			got = append(got, group)
		}
		want := naiveGroups(rows)
		for _, group := range want {
			for i, leaf := range group.Leaves {
				if !math.IsNaN(leaf.Mean) {
					group.Leaves[i].Mean = math.Round(leaf.Mean*1e9) / 1e9
				}
			}
		}
		require.Equal(t, fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got))
	}
}

func TestGroupsRefuses(t *testing.T) {
	td := dictOf(t, someVisits(rand.New(rand.NewPCG(1, 1)), 3))
	ended, end := context.WithCancel(t.Context())
	end()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		td   *tdict.TensorDict
		opt  inspect.GroupsOptions
		want error
	}{
		{"no dictionary", t.Context(), nil, inspect.GroupsOptions{By: []nestedkey.Key{"id"}}, tdict.ErrKind},
		{"no rows", t.Context(), tdict.New(), inspect.GroupsOptions{By: []nestedkey.Key{"id"}}, shapeops.ErrDim},
		{"a key that is not there", t.Context(), td, inspect.GroupsOptions{By: []nestedkey.Key{"z"}}, tdict.ErrMissing},
		{"a leaf that is not there", t.Context(), td, inspect.GroupsOptions{By: []nestedkey.Key{"id"}, Keys: []nestedkey.Key{"z"}}, tdict.ErrMissing},
		{"several values in a row", t.Context(), td, inspect.GroupsOptions{By: []nestedkey.Key{"p"}}, shapeops.ErrShape},
		{"lists", t.Context(), td, inspect.GroupsOptions{By: []nestedkey.Key{"codes"}}, tensor.ErrDType},
		{"an end", ended, td, inspect.GroupsOptions{By: []nestedkey.Key{"id"}}, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, err := range inspect.Groups(tt.ctx, tt.td, tt.opt) {
				testkit.Fails(t, tt.want, err)
			}
		})
	}
}

// rowLines returns the differences as lines, without the entries.
func rowLines(t *testing.T, a, b []visit, keys ...nestedkey.Key) (lines []string) {
	t.Helper()
	opt := inspect.RowDifferencesOptions{By: []nestedkey.Key{"id", "name"}, SchemaA: patients, SchemaB: patients}
	opt.Keys, opt.Tolerance.EqualNaN = keys, true
	for d, err := range inspect.RowDifferences(t.Context(), dictOf(t, a), dictOf(t, b), opt) {
		require.NoError(t, err)
		line, _, _ := strings.Cut(d.String(), ": \"")
		for _, entry := range d.Entries {
			line += " " + string(entry.Key)
		}
		lines = append(lines, fmt.Sprintf("%s %d %d", line, d.A, d.B))
	}
	slices.Sort(lines)
	return lines
}

// TestRowDifferencesIsNaive compares with a loop: rows are removed, added, moved and changed.
func TestRowDifferencesIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 40 {
		a := someVisits(r, r.IntN(40))
		var b []visit
		for _, v := range a {
			switch r.IntN(6) {
			case 0:
				continue
			case 1:
				v.x++
			case 2:
				v.codes = append(slices.Clone(v.codes), 1)
			case 3:
				if len(v.marks) > 0 {
					v.marks = slices.Clone(v.marks)
					v.marks[0] = 7
				}
			case 4:
				v.note = "other"
			}
			b = append(b, v)
		}
		b = append(b, someVisits(r, r.IntN(4))...)
		r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		require.Equal(t, naiveRowLines(a, b), rowLines(t, a, b))
	}
}

// naiveRowLines matches rows of equal values in their order.
func naiveRowLines(a, b []visit) (lines []string) {
	at := func(v visit) string { return fmt.Sprintf("id=%s, name=%q", v.idText(), v.name) }
	rows := map[string][2][]int{}
	for side, list := range [][]visit{a, b} {
		for i, v := range list {
			both := rows[at(v)]
			both[side] = append(both[side], i)
			rows[at(v)] = both
		}
	}
	for key, both := range rows {
		for i := range max(len(both[0]), len(both[1])) {
			switch {
			case i >= len(both[0]):
				lines = append(lines, fmt.Sprintf("added: %s -1 %d", key, both[1][i]))
			case i >= len(both[1]):
				lines = append(lines, fmt.Sprintf("removed: %s %d -1", key, both[0][i]))
			default:
				if changed := naiveChanges(a[both[0][i]], b[both[1][i]]); changed != "" {
					lines = append(lines, fmt.Sprintf("changed: %s%s %d %d", key, changed, both[0][i], both[1][i]))
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// naiveChanges returns the keys of the entries that differ. Values that are missing in both do not
// differ, and the mask of an entry that differs is not listed.
func naiveChanges(a, b visit) (changed string) {
	shown := func(i int) bool { return a.there[i] || b.there[i] }
	marks := len(a.marks) != len(b.marks)
	for i := 0; !marks && i < len(a.marks); i++ {
		marks = a.marks[i] != b.marks[i] && (a.hasMarks[i] || b.hasMarks[i])
	}
	codes := shown(3) && !slices.Equal(a.codes, b.codes)
	note := shown(2) && a.note != b.note
	x := shown(1) && a.x != b.x && !(a.x != a.x && b.x != b.x)
	for _, entry := range []struct {
		key     string
		differs bool
	}{
		{"codes", codes}, {"has_codes", !codes && a.there[3] != b.there[3]},
		{"has_marks", !marks && !slices.Equal(a.hasMarks, b.hasMarks)}, {"has_note", !note && a.there[2] != b.there[2]},
		{"has_x", !x && a.there[1] != b.there[1]}, {"marks", marks}, {"note", note}, {"p", a.p != b.p}, {"x", x},
	} {
		if entry.differs {
			changed += " " + entry.key
		}
	}
	return changed
}

// TestRowDifferenceText: what a line says.
func TestRowDifferenceText(t *testing.T) {
	a := []visit{{id: 1, name: "ann", x: 0.5, note: "n", codes: []int64{1}, there: [4]bool{true, true, true, true}}, {id: 2, name: "bob", there: [4]bool{true, true, true, true}}}
	b := []visit{a[0], {id: 3, name: "c\n", there: [4]bool{false, true, true, true}}}
	b[0].x, b[0].note, b[0].codes, b[0].p = 1, "m", []int64{1, 2}, [2]int16{5, 0}
	var lines []string
	for d, err := range inspect.RowDifferences(t.Context(), dictOf(t, a), dictOf(t, b), inspect.RowDifferencesOptions{By: []nestedkey.Key{"id", "name"}, SchemaA: patients, SchemaB: patients}) {
		require.NoError(t, err)
		lines = append(lines, d.String())
	}
	require.Equal(t, []string{
		`changed: id=1, name="ann": "codes": length 1, other 2; "note": "n", other "m"; "p": 1 element differs: [0] is 0, other 5; "x": 0.5, other 1`,
		`removed: id=2, name="bob"`,
		`added: id=missing, name="c\n"`,
	}, lines)
	for _, err := range inspect.RowDifferences(t.Context(), nil, dictOf(t, b), inspect.RowDifferencesOptions{By: []nestedkey.Key{"id"}}) {
		testkit.Fails(t, tdict.ErrKind, err)
	}
}

// Missing values equal each other, whatever the masks hide, and no other value.
func TestRowDifferencesUnderMasks(t *testing.T) {
	says := tdict.Schema{
		{Key: "id", DType: tensor.Int64}, {Key: "x", DType: tensor.Float64, Mask: "x_there"}, {Key: "x_there", DType: tensor.Bool},
		{Key: "pair", DType: tensor.Int32, Shape: shapeops.Shape{2}, Mask: "pair_there"}, {Key: "pair_there", DType: tensor.Bool, Shape: shapeops.Shape{2}},
		{Key: "list", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1, Mask: "list_there"}, {Key: "list_there", DType: tensor.Bool},
		{Key: "marks", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1, Mask: "marks_there"},
		{Key: "marks_there", Kind: tdict.KindRagged, DType: tensor.Bool, Depth: 1},
	}
	bits := func(text string) (b []bool) {
		for _, c := range text {
			b = append(b, c == '1')
		}
		return b
	}
	rows := func(x []float64, pair []int32, list, marks [][]int64, there ...string) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap(shapeops.Shape{3}, tdict.Entries{
			"id": tensor.Vector[int64](1, 2, 3), "x": tensor.Vector(x...), "x_there": tensor.Vector(bits(there[0])...),
			"pair": tensor.Must(tensor.From(pair, 3, 2)), "pair_there": tensor.Must(tensor.From(bits(there[1]), 3, 2)),
			"list": tensor.Must(ragged.From[int64](list)), "list_there": tensor.Vector(bits(there[2])...),
			"marks":       tensor.Must(ragged.From[int64](marks)),
			"marks_there": tensor.Must(ragged.From[bool]([][]bool{bits(there[3])[:2], bits(there[3])[2:3], bits(there[3])[3:]})),
		}))
	}
	a := rows([]float64{0, 0, 3}, []int32{0, 1, 0, 0, 5, 6}, [][]int64{{}, {}, {7}}, [][]int64{{0, 1}, {2}, {0}}, "001", "010011", "001", "0110")
	b := rows([]float64{math.NaN(), 0, 0}, []int32{9, 1, 8, 4, 5, 0}, [][]int64{{1, 2}, {3}, {8}}, [][]int64{{9, 1}, {3}, {4}}, "010", "010110", "001", "0111")
	for _, same := range []*tdict.TensorDict{a, b} {
		for range inspect.RowDifferences(t.Context(), same, same, inspect.RowDifferencesOptions{By: []nestedkey.Key{"id"}, SchemaA: says, SchemaB: says}) {
			t.Fatal("a row differs from itself")
		}
	}
	var lines []string
	for d, err := range inspect.RowDifferences(t.Context(), a, b, inspect.RowDifferencesOptions{By: []nestedkey.Key{"id"}, SchemaA: says, SchemaB: says}) {
		require.NoError(t, err)
		lines = append(lines, d.String())
	}
	require.Equal(t, []string{
		`changed: id=2: "marks": 1 element differs: [0] is 2, other 3; "pair": 1 element differs: [1] is missing, other 4; "x_there": false, other true`,
		`changed: id=3: "list": 1 element differs: [0] is 7, other 8; "marks": 1 element differs: [0] is missing, other 4; "pair": 1 element differs: [1] is 6, other missing; "x": 3, other missing`,
	}, lines)
}

// Codes of other categories are compared by their texts.
func TestRowDifferencesOfCategories(t *testing.T) {
	says := func(categories ...string) tdict.Schema {
		return tdict.Schema{{Key: "id", DType: tensor.Int64}, {Key: "sex", DType: tensor.Int32, Categories: categories}}
	}
	rows := func(sex ...int32) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap(shapeops.Shape{4}, tdict.Entries{"id": tensor.Vector[int64](1, 2, 3, 4), "sex": tensor.Vector(sex...)}))
	}
	var lines []string
	opt := inspect.RowDifferencesOptions{By: []nestedkey.Key{"id"}, SchemaA: says("f", "m"), SchemaB: says("m", "f", "x")}
	for d, err := range inspect.RowDifferences(t.Context(), rows(0, 0, 1, 2), rows(1, 0, 2, 2), opt) {
		require.NoError(t, err)
		lines = append(lines, d.String())
	}
	require.Equal(t, []string{`changed: id=2: "sex": "f", other "m"`, `changed: id=3: "sex": "m", other "x"`, `changed: id=4: "sex": 5, other "x"`}, lines)
}

// Groups and rows have the texts of categories and times, and rows of two datasets match by them.
func TestMeaningOfRows(t *testing.T) {
	says := func(categories ...string) tdict.Schema {
		return tdict.Schema{
			{Key: "sex", DType: tensor.Int32, Categories: categories}, {Key: "day", DType: tensor.Int64, Time: "2006-01-02", Unit: "d"},
			{Key: "t", Kind: tdict.KindText, Depth: 1},
		}
	}
	rows := func(sex ...int32) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{
			"sex": tensor.Vector(sex...), "day": tensor.Vector[int64](1, -1), "t": tensor.Must(ragged.From[uint8]([][][]uint8{{[]uint8("x")}, {}})),
		}))
	}
	var groups []string
	for g, err := range inspect.Groups(t.Context(), rows(1, 0), inspect.GroupsOptions{By: []nestedkey.Key{"sex", "day"}, Schema: says("f", "m")}) {
		require.NoError(t, err)
		groups = append(groups, strings.Join(g.Values, " "))
	}
	require.Equal(t, []string{`"f" 1969-12-31`, `"m" 1970-01-02`}, groups)
	require.NotContains(t, says("f", "m").Head(rows(1, 0), 2), "no such dim")

	opt := inspect.RowDifferencesOptions{By: []nestedkey.Key{"sex", "day"}, SchemaA: says("f", "m"), SchemaB: says("m", "f", "x")}
	for d, err := range inspect.RowDifferences(t.Context(), rows(1, 0), rows(0, 1), opt) {
		require.NoError(t, err)
		require.Fail(t, "want no difference", d.String())
	}
	var all []string
	for d, err := range inspect.RowDifferences(t.Context(), rows(1, 0), rows(0, 2), opt) {
		require.NoError(t, err)
		all = append(all, d.String())
	}
	require.Equal(t, []string{`removed: sex="f", day=1969-12-31`, `added: sex="x", day=1969-12-31`}, all)
	opt.SchemaB = nil
	for _, err := range inspect.RowDifferences(t.Context(), rows(1, 0), rows(0, 2), opt) {
		testkit.Fails(t, tdict.ErrSchema, err)
	}
}

// TestGroupsOfHiddenLists counts with a mask that has a bool for each list of two levels of lists.
func TestGroupsOfHiddenLists(t *testing.T) {
	rows, err := ragged.NewLayout(shapeops.Shape{2})
	require.NoError(t, err)
	outer, err := rows.Nest([]int64{0, 2, 3})
	require.NoError(t, err)
	inner, err := outer.Nest([]int64{0, 3, 3, 5})
	require.NoError(t, err)
	x, err := ragged.New(tensor.Vector(1.0, 2, 3, 4, 6), inner)
	require.NoError(t, err)
	some, err := ragged.New(tensor.Vector(true, false, true), outer)
	require.NoError(t, err)
	td, err := tdict.FromMap([]int{2}, tdict.Entries{"g": tensor.Vector[int64](1, 2), "x": x, "x_mask": some})
	require.NoError(t, err)
	says := tdict.Schema{{Key: "g", DType: tensor.Int64}, {Key: "x", Kind: tdict.KindRagged, DType: tensor.Float64, Depth: 2, Mask: "x_mask"}, {Key: "x_mask", Kind: tdict.KindRagged, DType: tensor.Bool, Depth: 1}}
	require.NoError(t, says.Check(td))
	var got []inspect.GroupLeaf
	for group, err := range inspect.Groups(t.Context(), td, inspect.GroupsOptions{By: []nestedkey.Key{"g"}, Schema: says}) {
		require.NoError(t, err)
		got = append(got, group.Leaves...)
	}
	require.Equal(t, []inspect.GroupLeaf{
		{Key: "x", DType: tensor.Float64, Count: 3, Missing: 1, Mean: 2},
		{Key: "x", DType: tensor.Float64, Count: 2, Mean: 5},
	}, got)
}

// TestMasksOfADataset uses the schema of a dataset if there is no other.
func TestMasksOfADataset(t *testing.T) {
	says := tdict.Schema{{Key: "g", DType: tensor.Int64}, {Key: "x", DType: tensor.Float64, Mask: "there"}, {Key: "there", DType: tensor.Bool}}
	td, err := tdict.FromMap([]int{2}, tdict.Entries{"g": tensor.Vector[int64](1, 1), "x": tensor.Vector(3., 0), "there": tensor.Vector(true, false)})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, memmap.SaveWith(t.Context(), path, td, memmap.SaveOptions{Schema: says, NoSync: true}))
	ds, err := memmap.Open(path)
	require.NoError(t, err)
	defer ds.Close()
	for g, err := range inspect.Groups(t.Context(), ds, inspect.GroupsOptions{By: []nestedkey.Key{"g"}}) {
		require.NoError(t, err)
		require.Equal(t, inspect.GroupLeaf{Key: "x", DType: tensor.Float64, Count: 1, Missing: 1, Mean: 3}, g.Leaves[0])
	}
	var all []string
	for d, err := range inspect.RowDifferences(t.Context(), ds, td, inspect.RowDifferencesOptions{By: []nestedkey.Key{"x"}, SchemaB: says[:1]}) {
		require.NoError(t, err)
		all = append(all, d.String())
	}
	require.Equal(t, []string{"added: x=0", "removed: x=missing"}, all)
}
