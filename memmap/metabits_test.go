package memmap_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// allKinds returns a dictionary with a value of each kind, names of dims, a class, a lazy stack
// with a stack in it, dictionaries without entries, and a schema.
func allKinds(t *testing.T) (*tdict.TensorDict, tdict.Schema) {
	t.Helper()
	td := tdict.New(2, 3)
	set := func(d *tdict.TensorDict, key string, v tdict.Value, err error) {
		t.Helper()
		require.NoError(t, err)
		require.NoError(t, d.Set(nestedkey.Key(key), v))
	}
	set(td, "a", counted(tensor.Int16, 2, 3, 2), nil)
	set(td, "in/b", counted(tensor.Float32, 2, 3), nil)
	set(td, "in/none", tdict.New(2, 3), nil)
	layout, err := ragged.LayoutOf(shapeops.Shape{2, 3}, []int64{1, 2, 0, 1, 3, 1})
	require.NoError(t, err)
	rows, err := ragged.New(counted(tensor.Int16, 8), layout)
	set(td, "rows", rows, err)
	text, err := tdict.NewData("same", 2, 3)
	set(td, "text", text, err)
	texts, err := tdict.DataFrom([]string{"a", "b", "c", "d", "e", "f"}, 2, 3)
	set(td, "texts", texts, err)
	u, err := tdict.NewUnbatched(tensor.Vector[int16](1, 2))
	set(td, "u", u, err)
	frame := tdict.New(2, 3)
	set(frame, "image", counted(tensor.Uint8, 2, 3, 2), nil)
	none, err := tdict.NewData(nil, 2, 3)
	set(frame, "tags", none, err)
	require.NoError(t, frame.SetClass("my.Frame"))
	set(td, "frame", frame, nil)
	members := []*tdict.TensorDict{tdict.New(3), tdict.New(3)}
	set(members[0], "x", counted(tensor.Int16, 3), nil)
	set(members[1], "x", counted(tensor.Int16, 3, 2), nil)
	set(members[1], "e", tdict.New(3), nil)
	stack, err := tdict.LazyStack(members, 0)
	set(td, "stack", stack, err)
	require.NoError(t, td.SetNames("day", "hour"))
	return td, tdict.SchemaOf(td)
}

// sameAll returns how two dictionaries, or those in them, differ, or "", with all that Equal
// ignores: names of dims, classes, and which are stacks.
func sameAll(a, b *tdict.TensorDict) string {
	describe := func(td *tdict.TensorDict) []string {
		lines := []string{fmt.Sprintln(td.Shape(), td.Names(), td.Class())}
		for key := range td.NestedKeys() {
			v, _ := td.Get(key)
			line := fmt.Sprintln(key, v.Shape())
			if d, ok := v.(*tdict.TensorDict); ok {
				dim, lazy := tdict.StackDim(d)
				line += fmt.Sprintln(d.Names(), d.Class(), dim, lazy)
			}
			lines = append(lines, line)
		}
		slices.Sort(lines) // a consolidated file has another order of keys
		return lines
	}
	if !a.Equal(b) {
		return fmt.Sprint(a.Diff(b))
	}
	return cmp.Diff(describe(a), describe(b))
}

// TestMetaBits flips every bit of every metadata of a dataset with all kinds of values, in each
// form: Verify finds it, or the dataset is the same as before.
func TestMetaBits(t *testing.T) {
	td, schema := allKinds(t)
	dir := testkit.TempDir(t)
	for _, form := range []string{"d", "a.tdz", "c.tdc"} {
		at := filepath.Join(dir, form)
		require.NoError(t, memmap.SaveWith(t.Context(), at, td, memmap.SaveOptions{Schema: schema}))
		for _, file := range metaFiles(t, at) {
			t.Run(form+"/"+file.name, func(t *testing.T) { flipBits(t, at, file, td, schema) })
		}
	}
}

// TestGrowingMetaBits flips every bit of the meta.json of a dataset that a Writer has committed.
func TestGrowingMetaBits(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 2)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	ds := open(t, dir)
	for _, file := range metaFiles(t, dir) {
		flipBits(t, dir, file, tensor.Must(ds.Clone()), ds.Schema())
	}
}

// A metaFile is a file that has metadata, in the bytes from start to stop.
type metaFile struct {
	name        string
	start, stop int
}

// metaFiles returns the files of a dataset that have metadata.
func metaFiles(t *testing.T, at string) (files []metaFile) {
	t.Helper()
	if info := tensor.Must(os.Stat(at)); !info.IsDir() {
		text := tensor.Must(os.ReadFile(at))
		start := 0
		if filepath.Ext(at) == ".tdc" {
			start = bytes.LastIndex(text, []byte(`{"cls":"TensorDict","non_tensors":{"text"`))
			require.Positive(t, start)
		}
		return []metaFile{{"", start, len(text)}}
	}
	for name, text := range tree(t, at) {
		if filepath.Base(name) == "meta.json" {
			files = append(files, metaFile{name, 0, len(text)})
		}
	}
	return files
}

func flipBits(t *testing.T, at string, file metaFile, want *tdict.TensorDict, schema tdict.Schema) {
	path, step := filepath.Join(at, file.name), 1
	if !longtests.On() {
		step = 61
	}
	text := tensor.Must(os.ReadFile(path))
	defer func() { require.NoError(t, os.WriteFile(path, text, 0o666)) }()
	t.Logf("%d bits", 8*(file.stop-file.start))
	for bit := 8 * file.start; bit < 8*file.stop; bit += step {
		damaged := bytes.Clone(text)
		damaged[bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, damaged, 0o666))
		if _, err := memmap.Verify(t.Context(), at, memmap.VerifyOptions{}); err != nil {
			continue
		}
		ds, err := memmap.Open(at)
		require.NoError(t, err, "Verify calls it sound")
		around := damaged[max(0, bit/8-20):min(len(damaged), bit/8+20)]
		if diff := sameAll(want, ds.TensorDict) + cmp.Diff(schema, ds.Schema()); diff != "" {
			t.Errorf("bit %d, %q: it is sound, and has changed: %s", bit, around, diff)
		}
		require.NoError(t, ds.Close())
	}
}
