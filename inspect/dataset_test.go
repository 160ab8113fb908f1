package inspect_test

import (
	"io/fs"
	"os"
	"path/filepath"
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

// kinds returns a dictionary with a value of each kind.
func kinds(t testing.TB) *tdict.TensorDict {
	td := tdict.New(2)
	for key, v := range map[nestedkey.Key]tdict.Value{
		"in/x": tensor.Must(tensor.New(tensor.Float32, 2, 3)),
		"r":    tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {3}})),
		"d":    tensor.Must(tdict.NewData("one", 2)),
		"u":    tensor.Must(tdict.NewUnbatched(tensor.Vector[uint8](1, 2, 3))),
		"none": tensor.Must(tensor.New(tensor.Int8, 2, 0)),
	} {
		require.NoError(t, td.Set(key, v))
	}
	require.NoError(t, td.SetNames("time"))
	return td
}

func TestDataset(t *testing.T) {
	for name, form := range map[string]memmap.Container{"d": memmap.Directory, "d.tdz": memmap.Archive} {
		path := filepath.Join(testkit.TempDir(t), name)
		require.NoError(t, memmap.Save(path, kinds(t)))
		r, err := inspect.Dataset(path)
		require.NoError(t, err)
		got := map[nestedkey.Key]memmap.Entry{}
		for _, e := range r.Entries {
			key := e.Key
			e.Key = ""
			got[key] = e
		}
		dims := []string{"time"}
		require.Equal(t, map[nestedkey.Key]memmap.Entry{
			"in":   {Kind: tdict.KindDict, Shape: shapeops.Shape{2}, Names: dims},
			"in/x": {DType: tensor.Float32, Shape: shapeops.Shape{2, 3}, File: "in/x.memmap", Bytes: 24, Summed: true},
			"r":    {Kind: tdict.KindRagged, DType: tensor.Int64, Shape: shapeops.Shape{2, tdict.Any}, File: "r/@pool.memmap", Bytes: 24, Summed: true},
			"d":    {Kind: tdict.KindData, Shape: shapeops.Shape{2}},
			"u":    {Kind: tdict.KindUnbatched, DType: tensor.Uint8, Shape: shapeops.Shape{3}, File: "u.memmap", Bytes: 3, Summed: true},
			"none": {DType: tensor.Int8, Shape: shapeops.Shape{2, 0}},
		}, got)
		r.Entries = nil
		require.Equal(t, &inspect.Report{
			Listing: &memmap.Listing{Container: form, Batch: shapeops.Shape{2}, Names: dims}, Leaves: 3, Bytes: 51, Summed: 3,
		}, r)
	}
}

// TestDatasetThatGrows looks at what a Writer has not finished.
func TestDatasetThatGrows(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	row := tdict.New()
	require.NoError(t, row.Set("in/x", tensor.Scalar(float32(1))))
	w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{})
	require.NoError(t, err)
	defer w.Close()
	for range 3 {
		require.NoError(t, w.Append(row))
	}
	require.NoError(t, w.Commit())
	require.NoError(t, w.Append(row))
	r, err := inspect.Dataset(dir)
	require.NoError(t, err)
	require.Equal(t, []any{true, 3, 1}, []any{r.Growing, r.Committed, r.Leaves})
	require.Equal(t, nestedkey.Key("in/x"), r.Entries[1].Key)
}

// TestDatasetLeftovers has what a killed save leaves, and what a user called alike.
func TestDatasetLeftovers(t *testing.T) {
	top := testkit.TempDir(t)
	path := filepath.Join(top, "d")
	require.NoError(t, memmap.Save(path, kinds(t)))
	put := func(names ...string) {
		require.NoError(t, os.MkdirAll(filepath.Join(append([]string{top}, names...)...), 0o777))
	}
	put(".saving-ABCDEFGH")
	put(".saving-HGFEDCBA", "new")
	require.NoError(t, os.WriteFile(filepath.Join(top, ".saving-HGFEDCBA", ".saving"), nil, 0o666))
	r, err := inspect.Dataset(path)
	require.NoError(t, err)
	require.Equal(t, []string{".saving-HGFEDCBA"}, r.Leftovers)
}

// TestDatasetOfPython has a directory as Python writes it: without sums and names.
func TestDatasetOfPython(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, os.Mkdir(dir, 0o777))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	write("meta.json", `{"x":{"device":"cpu","shape":[2],"dtype":"torch.float32","is_nested":false},"shape":[2],"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>"}`)
	write("x.memmap", "12345678")
	r, err := inspect.Dataset(dir)
	require.NoError(t, err)
	require.Equal(t, []memmap.Entry{{Key: "x", DType: tensor.Float32, Shape: shapeops.Shape{2}, File: "x.memmap", Bytes: 8}}, r.Entries)
	require.Equal(t, []int{1, 8, 0}, []int{r.Leaves, int(r.Bytes), r.Summed})

	write("x.memmap", "1234567")
	_, err = inspect.Dataset(dir)
	require.ErrorIs(t, err, memmap.ErrCorrupt)
	_, err = inspect.Dataset(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
