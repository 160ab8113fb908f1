package memmap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// namedDims returns a dictionary of batch shape [4 2] with names, and two in it: one with a dim of
// its own that has a name, one that shares both.
func namedDims(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(4, 2)
	require.NoError(t, td.Set("x", tensor.Must(tensor.Full(1.5, 4, 2))))
	require.NoError(t, td.Set("d", tdict.New(4, 2, 3)))
	require.NoError(t, td.Set("d/y", tensor.Must(tensor.Full(2.5, 4, 2, 3))))
	require.NoError(t, td.Set("e/z", tensor.Must(tensor.Full(3.5, 4, 2))))
	require.NoError(t, tensor.Must(td.Dict("d")).SetNames("", "", "joint"))
	require.NoError(t, td.SetNames("time", ""))
	return td
}

// requireNames checks the names in a dictionary that is like namedDims.
func requireNames(t testing.TB, td *tdict.TensorDict) {
	t.Helper()
	require.Equal(t, []string{"time", ""}, td.Names())
	require.Equal(t, []string{"time", "", "joint"}, tensor.Must(td.Dict("d")).Names())
	require.Equal(t, []string{"time", ""}, tensor.Must(td.Dict("e")).Names())
}

// savedNames saves namedDims in a new directory.
func savedNames(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "named")
	require.NoError(t, memmap.Save(dir, namedDims(t)))
	return dir
}

func TestDimNamesAreSaved(t *testing.T) {
	dir := savedNames(t)
	ds := open(t, dir)
	requireNames(t, ds.TensorDict)
	require.Equal(t, "time", tensor.Must(ds.Index(ix.Range(0, 2))).Names()[0])
	requireSame(t, namedDims(t), ds.TensorDict)
	requireSound(t, dir)

	again := filepath.Join(t.TempDir(), "again")
	require.NoError(t, memmap.Save(again, ds.TensorDict))
	requireNames(t, open(t, again).TensorDict)
	require.Equal(t, metaText(t, dir), metaText(t, again))
}

// TestDimNamesSurviveEdits: whatever changes the sums in meta.json keeps the names.
func TestDimNamesSurviveEdits(t *testing.T) {
	edits := map[string]func(t *testing.T, ds *memmap.Dataset){
		"flush": func(t *testing.T, ds *memmap.Dataset) {
			require.NoError(t, ds.SetIndex(tensor.Scalar(9.5), ix.At(0)))
			require.NoError(t, ds.Flush())
		},
		"write and close": func(t *testing.T, ds *memmap.Dataset) {
			require.NoError(t, ds.SetIndex(tensor.Scalar(9.5), ix.At(0)))
		},
		"write twice": func(t *testing.T, ds *memmap.Dataset) {
			for range 2 {
				require.NoError(t, tensor.Must(ds.Tensor("d/y")).SetIndex(tensor.Scalar(9.5), ix.At(0)))
				require.NoError(t, ds.Flush())
			}
		},
		"add leaves": func(t *testing.T, ds *memmap.Dataset) {
			require.NoError(t, ds.AddLeaf("new", tensor.Must(tensor.Full(true, 4, 2))))
			require.NoError(t, ds.AddLeaf("d/new", tensor.Must(tensor.Full(true, 4, 2, 3))))
			require.NoError(t, ds.AddLeaf("f/g/new", tensor.Must(tensor.Full(true, 4, 2))))
			require.Equal(t, []string{"time", ""}, tensor.Must(ds.Dict("f/g")).Names())
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			dir := savedNames(t)
			ds := writable(t, dir)
			requireNames(t, ds.TensorDict)
			edit(t, ds)
			requireNames(t, ds.TensorDict)
			requireNames(t, open(t, dir).TensorDict) // while the sums may be void
			require.NoError(t, ds.Close())
			after := open(t, dir)
			requireNames(t, after.TensorDict)
			if name == "add leaves" {
				require.Equal(t, []string{"time", ""}, tensor.Must(after.Dict("f/g")).Names())
			}
			_, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
			require.NoError(t, err)
		})
	}
}

// TestDimNamesOfCreated: the prototype tells the names too, on device meta as well.
func TestDimNamesOfCreated(t *testing.T) {
	for name, prototype := range map[string]*tdict.TensorDict{"elements": namedDims(t), "meta": tensor.Must(namedDims(t).ToMeta())} {
		dir := filepath.Join(t.TempDir(), name)
		ds, err := memmap.Create(dir, prototype, memmap.CreateOptions{})
		require.NoError(t, err, name)
		requireNames(t, ds.TensorDict)
		require.NoError(t, ds.SetIndex(tensor.Scalar(4.5), ix.At(0)))
		require.NoError(t, ds.Close())
		requireNames(t, open(t, dir).TensorDict)
	}
}

// TestDimNamesOfALog: the rows of a log have no name for their first dim, and keep those of a row.
func TestDimNamesOfALog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	row := namedDims(t)
	w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{})
	require.NoError(t, err)
	check := func(t *testing.T, td *tdict.TensorDict) {
		t.Helper()
		require.Equal(t, []string{"", "time", ""}, td.Names())
		require.Equal(t, []string{"", "time", ""}, tensor.Must(td.Dict("e")).Names())
		require.Equal(t, []string{"", "time", "", "joint"}, tensor.Must(td.Dict("d")).Names())
	}
	require.NoError(t, w.Append(row))
	require.NoError(t, w.Commit())
	t.Run("growing", func(t *testing.T) { check(t, open(t, dir).TensorDict) })
	require.NoError(t, w.Close())

	w, err = memmap.NewWriter(dir, row, memmap.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Append(row))
	require.NoError(t, w.Finish())
	t.Run("finished", func(t *testing.T) { check(t, open(t, dir).TensorDict) })
	require.Equal(t, shapeops.Shape{2, 4, 2}, open(t, dir).Shape().Clone())
	requireSound(t, dir)
}

// TestDimNamesInTheFile: names that do not fit the dims are damage, and those of no dim are
// nothing.
func TestDimNamesInTheFile(t *testing.T) {
	tests := []struct {
		name, names string
		ok          bool
	}{
		{"fewer names than dims", `["time"]`, false},
		{"more names than dims", `["time","","x"]`, false},
		{"no names", `[]`, false},
		{"a name twice", `["time","time"]`, false},
		{"numbers", `[1,2]`, false},
		{"null", `null`, false},
		{"a text", `"time"`, false},
		{"the name of an inner dim", `["time","joint"]`, false},
		{"other names", `["t","ü\n"]`, true},
		{"no name set", `["",""]`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := savedNames(t)
			text := metaText(t, dir)
			edited := strings.Replace(text, `"names":["time",""]`, `"names":`+tt.names, 1)
			require.NotEqual(t, text, edited)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "meta.json"), []byte(edited), 0o666))
			ds, err := memmap.Open(dir)
			if tt.ok {
				require.NoError(t, err)
				require.NoError(t, ds.Close())
				return
			}
			require.ErrorIs(t, err, memmap.ErrCorrupt)
			require.Contains(t, err.Error(), "meta.json")
		})
	}
}

// TestDimNamesAreNotSaid: what has no names is as it was before there were any.
func TestDimNamesAreNotSaid(t *testing.T) {
	td := namedDims(t)
	require.NoError(t, td.SetNames("", ""))
	require.NoError(t, tensor.Must(td.Dict("d")).SetNames("", "", ""))
	dir := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, memmap.Save(dir, td))
	require.NotContains(t, metaText(t, dir), "names")
	require.NotContains(t, metaText(t, dir), `"_go"`)
	ds := writable(t, dir)
	require.NoError(t, ds.SetIndex(tensor.Scalar(9.5), ix.At(0)))
	require.NotContains(t, metaText(t, dir), "names")
	require.NoError(t, ds.Close())
	require.Equal(t, []string{"", ""}, open(t, dir).Names())
}

// TestMetaIsNotSaved: Save wants elements, and leaves nothing without.
func TestMetaIsNotSaved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "meta")
	require.ErrorIs(t, memmap.Save(dir, tensor.Must(namedDims(t).ToMeta())), tensor.ErrMeta)
	require.NoFileExists(t, filepath.Join(dir, "meta.json"))
}

// TestDimNamesThatCannotBe: what Open would call corrupt is not saved, and what was there stays.
func TestDimNamesThatCannotBe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	td := namedDims(t)
	require.NoError(t, memmap.Save(dir, td))
	require.ErrorIs(t, td.SetNames("\xff", ""), tdict.ErrName, "not UTF-8")
	inner := tensor.Must(td.Dict("d"))
	require.NoError(t, inner.SetNames("a", "b", "time"))
	require.ErrorIs(t, memmap.Save(dir, td), tdict.ErrName)
	_, err := memmap.Create(filepath.Join(t.TempDir(), "e"), td, memmap.CreateOptions{})
	require.ErrorIs(t, err, tdict.ErrName)
	requireNames(t, open(t, dir).TensorDict)
}

// TestDimNamesOfALogStay: a log that is gone on with keeps its names.
func TestDimNamesOfALogStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	row := namedDims(t)
	w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{Dim: "step"})
	require.NoError(t, err)
	require.NoError(t, w.Append(row))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	_, err = memmap.NewWriter(dir, row, memmap.WriterOptions{Dim: "row"})
	require.ErrorIs(t, err, tdict.ErrName)
	w, err = memmap.NewWriter(dir, row, memmap.WriterOptions{Dim: "step"})
	require.NoError(t, err)
	require.NoError(t, w.Finish())
	require.Equal(t, []string{"step", "time", ""}, open(t, dir).Names())
}
