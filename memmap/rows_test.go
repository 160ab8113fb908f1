package memmap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rowsOver returns ragged rows over a layout, whose values count on from 0.
func rowsOver(t testing.TB, l *ragged.Layout, features ...int) *ragged.Tensor {
	t.Helper()
	n := tensor.Must(l.NumRows(l.Depth()))
	shape := append(shapeops.Shape{n}, features...)
	values := tensor.Must(tensor.Must(tensor.Arange[int32](0, int32(shape.Size()), 1)).Reshape(shape...))
	return tensor.Must(ragged.New(values, l))
}

// layoutOf returns the layout of a batch with rows of some lengths.
func layoutOf(t testing.TB, batch shapeops.Shape, lengths ...[]int64) *ragged.Layout {
	t.Helper()
	offsets := make([][]int64, len(lengths))
	for i, list := range lengths {
		offsets[i] = make([]int64, 1, len(list)+1)
		for row, n := range list {
			offsets[i] = append(offsets[i], offsets[i][row]+n)
		}
	}
	return tensor.Must(ragged.NewLayout(batch, offsets...))
}

// requireSoundRows requires offsets that fit the values.
func requireSoundRows(t testing.TB, r *ragged.Tensor) {
	t.Helper()
	rows := r.Shape().Size()
	for level := 1; level <= r.Depth(); level++ {
		offsets := tensor.Must(r.Layout().Offsets(level))
		require.Len(t, offsets, rows+1)
		require.Zero(t, offsets[0])
		for i := range rows {
			require.LessOrEqual(t, offsets[i], offsets[i+1])
		}
		rows = int(offsets[rows])
	}
	require.Equal(t, rows, tensor.Must(r.Values()).Shape()[0])
}

// visits returns patients [3] with visits, and their codes, two leaves of each layout, one of them
// in a nested dictionary.
func visits(t testing.TB) *tdict.TensorDict {
	t.Helper()
	codes := layoutOf(t, shapeops.Shape{3}, []int64{2, 0, 1}, []int64{3, 0, 2})
	td := tdict.New(3)
	require.NoError(t, td.Set("ts", rowsOver(t, codes.Outer())))
	require.NoError(t, td.Set("codes", rowsOver(t, codes)))
	require.NoError(t, td.Set("age", tensor.Vector[float32](30, 40, 50)))
	require.NoError(t, td.Set("more/weight", rowsOver(t, codes, 2)))
	require.NoError(t, td.Set("more/ward", rowsOver(t, codes.Outer(), 0)))
	return td
}

// rowsAt returns the ragged rows under a key.
func rowsAt(t testing.TB, td *tdict.TensorDict, key nestedkey.Key) *ragged.Tensor {
	t.Helper()
	return tensor.Must(tdict.Get[*ragged.Tensor](td, key))
}

func saveRows(t testing.TB, td *tdict.TensorDict) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rows")
	require.NoError(t, memmap.Save(dir, td))
	return dir
}

func TestRowsReopened(t *testing.T) {
	two := layoutOf(t, shapeops.Shape{4}, []int64{2, 0, 1, 3}, []int64{3, 0, 2, 1, 0, 4})
	x := rowsOver(t, two, 2)
	views := map[string]*ragged.Tensor{
		"a range of rows":  tensor.Must(x.Index(ix.Range(1, 3))),
		"rows backwards":   tensor.Must(x.Index(ix.Take(3, 2, 1, 0))),
		"a row":            tensor.Must(x.Index(ix.At(3))),
		"every other row":  tensor.Must(x.Index(ix.Range(0, 4).Step(2))),
		"no rows of some":  tensor.Must(x.Index(ix.Range(2, 2))),
		"rows of a matrix": tensor.Must(rowsOver(t, layoutOf(t, shapeops.Shape{2, 2}, []int64{1, 2, 3, 0})).Index(ix.All, ix.At(1))),
	}
	tests := map[string]*ragged.Tensor{
		"depth 0":          rowsOver(t, layoutOf(t, shapeops.Shape{3}), 2),
		"depth 1":          rowsOver(t, layoutOf(t, shapeops.Shape{3}, []int64{2, 0, 1})),
		"depth 2":          rowsOver(t, two),
		"depth 3":          rowsOver(t, layoutOf(t, shapeops.Shape{2}, []int64{2, 1}, []int64{0, 2, 1}, []int64{1, 2, 3}), 2, 3),
		"features":         x,
		"features without": rowsOver(t, two, 3, 0),
		"empty rows":       rowsOver(t, layoutOf(t, shapeops.Shape{2}, []int64{0, 0})),
		"no rows":          rowsOver(t, layoutOf(t, shapeops.Shape{0}, nil, nil)),
		"a scalar batch":   rowsOver(t, layoutOf(t, shapeops.Shape{}, []int64{3})),
		"a matrix":         rowsOver(t, layoutOf(t, shapeops.Shape{2, 3}, []int64{1, 2, 3, 0, 1, 2})),
	}
	for name, v := range views {
		tests[name] = v
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			td := tdict.New(want.Shape()...)
			require.NoError(t, td.Set("x", want))
			dir := saveRows(t, td)
			got := rowsAt(t, open(t, dir).TensorDict, "x")
			require.Empty(t, tensor.Must(want.Diff(got)))
			require.Equal(t, want.String(), got.String())
			requireSoundRows(t, got)
			report := tensor.Must(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{}))
			require.Empty(t, report.Unsummed)
			readPython(t, dir).requireRules(t, true)
		})
	}
}

// TestRowsOnDisk: the files, their sizes, and the entries. Equal data have equal bytes.
func TestRowsOnDisk(t *testing.T) {
	dir := saveRows(t, visits(t))
	files := tree(t, dir)
	for file, size := range map[string]int{
		"age.memmap": 12, "ts/@lengths.memmap": 24, "ts/@pool.memmap": 12, "ts/@row.memmap": 24,
		"codes/@lengths.memmap": 24, "codes/@lengths2.memmap": 24, "codes/@pool.memmap": 24, "codes/@row.memmap": 24,
		"more/weight/@lengths.memmap": 24, "more/weight/@lengths2.memmap": 24, "more/weight/@pool.memmap": 48, "more/weight/@row.memmap": 24,
		"more/ward/@lengths.memmap": 24, "more/ward/@row.memmap": 24,
	} {
		require.Contains(t, files, file)
		require.Len(t, files[file], size, file)
	}
	require.Equal(t, int64s(2, 0, 1), files["codes/@lengths.memmap"])
	require.Equal(t, int64s(3, 0, 2), files["codes/@lengths2.memmap"])
	require.Contains(t, metaText(t, dir), `"codes":{"type":"TensorDict"}`)
	require.Equal(t, `{"@lengths":{"device":"cpu","shape":[3],"dtype":"torch.int64","is_nested":false},"@lengths2":{"device":"cpu","shape":[3,1],"dtype":"torch.int64","is_nested":false},`+
		`"@pool":{"device":"cpu","shape":[3,2],"dtype":"torch.int32","is_nested":false},"@row":{"device":"cpu","shape":[3],"dtype":"torch.int64","is_nested":false},"shape":[3],`+dictTail,
		withoutNative(metaText(t, filepath.Join(dir, "codes"))))
	require.Equal(t, files, tree(t, saveRows(t, visits(t))))
	other := visits(t)
	require.NoError(t, rowsAt(t, other, "codes").SetIndex(rowsOver(t, layoutOf(t, shapeops.Shape{1}, []int64{2}, []int64{3, 0})), ix.Range(0, 1)))
	again := tree(t, saveRows(t, other))
	require.Equal(t, files["codes/@row.memmap"], again["codes/@row.memmap"], "the same values")
	require.NotEqual(t, files["codes/@row.memmap"], files["ts/@row.memmap"], "other values")
}

// TestRowsShareLayouts: leaves of equal lengths have one layout when they are opened, whatever they
// shared when they were saved, and a nested dictionary can be opened by itself.
func TestRowsShareLayouts(t *testing.T) {
	shared := func(t *testing.T, td *tdict.TensorDict) {
		codes, ts, weight, ward := rowsAt(t, td, "codes"), rowsAt(t, td, "ts"), rowsAt(t, td, "more/weight"), rowsAt(t, td, "more/ward")
		require.Same(t, codes.Layout(), weight.Layout())
		require.Same(t, codes.Layout().Outer(), ts.Layout())
		require.Same(t, ts.Layout(), ward.Layout())
	}
	apart := visits(t)
	require.NoError(t, apart.Set("ts", rowsOver(t, layoutOf(t, shapeops.Shape{3}, []int64{2, 0, 1}))))
	for _, td := range []*tdict.TensorDict{visits(t), apart} {
		dir := saveRows(t, td)
		for _, at := range []string{dir, savedArchive(t, td)} {
			ds := open(t, at)
			require.True(t, td.Equal(ds.TensorDict))
			shared(t, ds.TensorDict)
			shared(t, open(t, saveRows(t, tensor.Must(ds.Index(ix.Range(0, 2))))).TensorDict)
		}
		more := open(t, filepath.Join(dir, "more"))
		require.Same(t, rowsAt(t, more.TensorDict, "weight").Layout().Outer(), rowsAt(t, more.TensorDict, "ward").Layout())
	}
	other := visits(t)
	require.NoError(t, other.Set("ts", rowsOver(t, layoutOf(t, shapeops.Shape{3}, []int64{2, 1, 0}))))
	ds := open(t, saveRows(t, other))
	require.NotSame(t, rowsAt(t, ds.TensorDict, "ts").Layout(), rowsAt(t, ds.TensorDict, "more/ward").Layout())
}

// TestRowsWritten: values are written in place, lengths are not; sums are set again.
func TestRowsWritten(t *testing.T) {
	dir := saveRows(t, visits(t))
	ds := writable(t, dir)
	src := tensor.Must(ragged.New(tensor.Vector[int32](70, 71, 72), layoutOf(t, shapeops.Shape{1}, []int64{2}, []int64{3, 0})))
	codes := rowsAt(t, ds.TensorDict, "codes")
	require.NoError(t, codes.SetIndex(src, ix.Range(0, 1)))
	longer := tensor.Must(ragged.New(tensor.Vector[int32](1), layoutOf(t, shapeops.Shape{1}, []int64{1}, []int64{1})))
	require.ErrorIs(t, codes.SetIndex(longer, ix.Range(0, 1)), ragged.ErrLengths)
	text := metaText(t, filepath.Join(dir, "codes"))
	require.Contains(t, text, `"go":{"v":1,"sums":[]}`, "void while it is written")
	require.Equal(t, 1, strings.Count(text, `"sums":[]`), "those of lengths and row numbers stay")
	require.NoError(t, ds.Flush())
	require.NoError(t, ds.Close())
	report := tensor.Must(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{}))
	require.Empty(t, report.Unsummed)
	require.Equal(t, 4, report.Leaves, "those with elements")
	got := rowsAt(t, open(t, dir).TensorDict, "codes")
	require.Equal(t, []int32{70, 71, 72, 3, 4}, testkit.Elements[int32](t, tensor.Must(got.Values())))
	readPython(t, dir).requireRules(t, true)
}

// TestRowsPrefetched: rows of a part of the batch, in each leaf.
func TestRowsPrefetched(t *testing.T) {
	ds := writable(t, saveRows(t, visits(t)))
	for start := range 3 {
		require.NoError(t, ds.Prefetch(start))
	}
	require.NoError(t, ds.Prefetch(0, 2, 1))
	require.NoError(t, ds.Advise(memmap.Random))
}

func TestRowsCreated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rows")
	ds := tensor.Must(memmap.Create(dir, visits(t), memmap.CreateOptions{}))
	codes := rowsAt(t, ds.TensorDict, "codes")
	require.True(t, rowsAt(t, visits(t), "codes").Layout().Equal(codes.Layout()))
	require.Equal(t, make([]int32, 5), testkit.Elements[int32](t, tensor.Must(codes.Values())))
	require.NoError(t, codes.SetIndex(rowsAt(t, visits(t), "codes"), ix.All))
	require.NoError(t, ds.Close())
	back := open(t, dir)
	require.True(t, rowsAt(t, visits(t), "codes").Equal(rowsAt(t, back.TensorDict, "codes")))
	require.NotContains(t, tensor.Must(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})).Unsummed, nestedkey.Key("codes"))
}

// TestRowsAdded: AddLeaf adds ragged rows, which share layouts with leaves that are there.
func TestRowsAdded(t *testing.T) {
	dir := saveRows(t, visits(t))
	ds := writable(t, dir)
	own, weight := rowsAt(t, ds.TensorDict, "ts").Layout(), rowsAt(t, ds.TensorDict, "more/weight").Layout()
	require.NoError(t, ds.AddLeaf("scores", rowsOver(t, layoutOf(t, shapeops.Shape{3}, []int64{1, 1, 1}), 2)))
	scores := rowsAt(t, ds.TensorDict, "scores").Layout()
	require.NoError(t, ds.AddLeaf("ranks", rowsOver(t, scores)))
	require.NoError(t, ds.AddLeaf("more/height", rowsOver(t, weight)))
	require.NoError(t, ds.AddLeaf("new/x", rowsOver(t, own)))
	require.Same(t, scores, rowsAt(t, ds.TensorDict, "ranks").Layout())
	require.Same(t, weight, rowsAt(t, ds.TensorDict, "more/height").Layout())
	for _, key := range []nestedkey.Key{"@pool", "more/@row", "x.@lengths", "scores/more"} {
		require.Error(t, ds.AddLeaf(key, tensor.Vector[int64](1, 2, 3)), key)
	}

	fresh := tensor.Must(ds.Refresh())
	defer fresh.Close()
	require.True(t, ds.Equal(fresh.TensorDict))
	require.Same(t, rowsAt(t, fresh.TensorDict, "scores").Layout(), rowsAt(t, fresh.TensorDict, "ranks").Layout())
	require.NoError(t, testkit.Err(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})))
	require.ErrorIs(t, ds.AddLeaf("ranks", rowsOver(t, scores)), tdict.ErrExists)
}

func TestRowsReplaced(t *testing.T) {
	dir := saveRows(t, visits(t))
	ds := open(t, dir)
	want := tensor.Must(ds.Index(ix.Take(2, 0)))
	var done, total int64
	require.NoError(t, memmap.SaveWith(t.Context(), dir, want, memmap.SaveOptions{NoSync: true, Progress: func(d, n int64) { done, total = d, n }}))
	require.Equal(t, total, done)
	require.NotZero(t, total)
	require.True(t, tensor.Must(ds.Stale()))
	require.True(t, want.Equal(open(t, dir).TensorDict))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ts", "notes.txt"), nil, 0o666))
	require.ErrorIs(t, memmap.Save(dir, want), memmap.ErrForeign)
}

func TestRowsServed(t *testing.T) {
	dir := saveRows(t, visits(t))
	live := tensor.Must(memmap.OpenLive(dir, memmap.LiveOptions{}))
	ds := tensor.Must(live.Acquire())
	require.True(t, visits(t).Equal(ds.TensorDict))
	require.NoError(t, live.Release(ds))
	require.NoError(t, live.Close())
}

// TestRowsOfALazyStack: members of a stack that keeps them may have ragged rows.
func TestRowsOfALazyStack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	members := []*tdict.TensorDict{visits(t), tensor.Must(visits(t).Index(ix.Take(2, 1, 0)))}
	require.NoError(t, memmap.Save(dir, tensor.Must(tdict.LazyStack(members, 0))))
	ds := open(t, dir)
	require.True(t, tensor.Must(shapeops.Stack(members, 0)).Equal(tensor.Must(ds.Dense())))
	_, again, err := tdict.Members(ds.TensorDict)
	require.NoError(t, err)
	for i := range members {
		require.True(t, members[i].Equal(again[i]))
	}
	require.NoError(t, testkit.Err(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})))
}

func TestRowsKeysRefused(t *testing.T) {
	for _, name := range []string{"shape", "_go", "meta.json"} {
		td := tdict.New(3)
		require.NoError(t, td.Set(nestedkey.Of(name), rowsOver(t, layoutOf(t, shapeops.Shape{3}))))
		require.ErrorIs(t, memmap.Save(filepath.Join(t.TempDir(), "d"), td), memmap.ErrName)
	}
}

// TestPoolNamesRefused: the names of the parts of ragged rows are refused for any other entry, at
// any depth and in every form.
func TestPoolNamesRefused(t *testing.T) {
	inner := tdict.New(3)
	require.NoError(t, inner.Set("x", tensor.Vector[int64](1, 2, 3)))
	values := map[string]tdict.Value{
		"tensor": tensor.Vector[int64](1, 2, 3), "data": tensor.Must(tdict.NewData("a", 3)), "dictionary": inner,
		"ragged": rowsOver(t, layoutOf(t, shapeops.Shape{3}, []int64{1, 2, 0})), "unbatched": tensor.Must(tdict.NewUnbatched(tensor.Vector[int64](1))),
	}
	tests := []struct {
		name    string
		refused bool
	}{
		{"@pool", true}, {"@row", true}, {"@lengths", true}, {"@lengths2", true}, {"@lengths64", true},
		{"text.@pool", true}, {"a.b.@row", true}, {".@lengths", true},
		{"@lengths1", false}, {"@lengths02", false}, {"@lengths65", false}, {"@lengthsx", false}, {"@pools", false}, {"@", false},
		{"x@pool", false}, {"@pool.x", false}, {"@Row", false},
	}
	for _, tt := range tests {
		for kind, v := range values {
			for _, above := range []string{"", "in"} {
				for _, file := range []string{"d", "d.tdz", "d.tdc"} {
					key := nestedkey.Of(tt.name)
					if above != "" {
						key = nestedkey.Of(above, tt.name)
					}
					td := tdict.New(3)
					require.NoError(t, td.Set(key, v))
					at := filepath.Join(t.TempDir(), file)
					err := memmap.SaveWith(t.Context(), at, td, memmap.SaveOptions{NoSync: true})
					if !tt.refused {
						require.NoError(t, err, "%s: %s in %s", tt.name, kind, file)
						require.True(t, td.Equal(open(t, at).TensorDict))
						continue
					}
					require.ErrorIs(t, err, memmap.ErrName, "%s: %s in %s", tt.name, kind, file)
					require.ErrorContains(t, err, "a part of a ragged tensor")
				}
			}
		}
	}
}

// TestRowsGrowth: opening costs in proportion to leaves and offsets, whatever the values are, and
// saving in proportion to leaves.
func TestRowsGrowth(t *testing.T) {
	many := func(leaves int, features int) string {
		td := tdict.New(3)
		l := layoutOf(t, shapeops.Shape{3}, []int64{2, 0, 1}, []int64{3, 0, 2})
		for i := range leaves {
			x := l
			if i%2 == 0 {
				x = l.Outer()
			}
			require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint("leaf", i)), rowsOver(t, x, features)))
		}
		dir := filepath.Join(t.TempDir(), "many")
		require.NoError(t, memmap.SaveWith(t.Context(), dir, td, memmap.SaveOptions{NoSync: true}))
		return dir
	}
	opening := func(dir string) func() { return func() { require.NoError(t, tensor.Must(memmap.Open(dir)).Close()) } }
	testkit.Near(t, 15, opening(many(10, 1)), opening(many(100, 1)))
	if longtests.On() {
		testkit.Near(t, 15, opening(many(100, 1)), opening(many(1000, 1)))
	}
	testkit.Near(t, 1.1, opening(many(10, 1)), opening(many(10, 10_000)))
}
