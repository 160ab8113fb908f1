package memmap_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// frames returns a dictionary [3] of class my.Frame: tensors, ragged rows that share a layout with
// an instance of my.Inner in it, and data of all kinds.
func frames(t *testing.T) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(3)
	l := tensor.Must(ragged.NewLayout(shapeops.Shape{3}, []int64{0, 2, 2, 5}))
	rows := func() tdict.Value { return tensor.Must(ragged.New(counted(tensor.Int64, 5), l)) }
	entries := map[nestedkey.Key]tdict.Value{
		"x": counted(tensor.Float32, 3, 2), "codes": rows(), "in/codes": rows(), "in/y": counted(tensor.Int32, 3),
		"note": tensor.Must(tdict.NewData("hi", 3)), "child": tensor.Must(tdict.NewData(nil, 3)),
		"in/none": tensor.Must(tdict.NewData(nil, 3)), "each": tensor.Must(tdict.DataFrom([]any{"a", nil, int64(1)}, 3)),
		"wide": tensor.Must(tdict.NewData(nil, 3, 2)),
	}
	for key, v := range entries {
		require.NoError(t, td.Set(key, v))
	}
	require.NoError(t, td.SetNames("frame"))
	require.NoError(t, td.SetClass("my.Frame"))
	require.NoError(t, tensor.Must(td.Dict("in")).SetClass("my.outer.<locals>.Inner"))
	return td
}

// requireFrames checks that a dictionary is the one of frames.
func requireFrames(t *testing.T, got *tdict.TensorDict) {
	t.Helper()
	want := frames(t)
	require.True(t, want.Equal(got), "%v", tensor.Must(want.Diff(got)))
	require.Equal(t, "my.Frame", got.Class())
	require.Equal(t, "my.outer.<locals>.Inner", tensor.Must(got.Dict("in")).Class())
	require.Equal(t, want.Names(), got.Names())
	a, b := tensor.Must(tdict.Get[*ragged.Tensor](got, "codes")), tensor.Must(tdict.Get[*ragged.Tensor](got, "in/codes"))
	require.Same(t, a.Layout(), b.Layout())
}

// TestTensorclassGolden saves a tensorclass that Python wrote again: the same files, byte for byte,
// but for native fields.
func TestTensorclassGolden(t *testing.T) {
	data := filepath.Join("..", "testdata", "golden", "td10_tensorclass", "data")
	ds := open(t, data)
	require.Equal(t, "golden_classes.MyData", ds.Class())
	again := filepath.Join(t.TempDir(), "again")
	require.NoError(t, memmap.Save(again, ds.TensorDict))
	got := tree(t, again)
	for name, text := range got {
		got[name] = withoutNative(text)
	}
	require.Equal(t, tree(t, data), got)
}

// TestTensorclassKept saves instances of classes as directory and archive, and copies them.
func TestTensorclassKept(t *testing.T) {
	dir := t.TempDir()
	td := frames(t)
	outer := tdict.New(3)
	require.NoError(t, outer.Set("f", td))
	for _, name := range []string{"d", "a.tdz"} {
		at := filepath.Join(dir, name)
		require.NoError(t, memmap.Save(at, td))
		requireFrames(t, open(t, at).TensorDict)
		requireSound(t, at)
		for _, other := range []string{"copy-" + name, "copy-of-" + name + ".tdz"} {
			require.NoError(t, memmap.Copy(t.Context(), at, filepath.Join(dir, other), memmap.CopyOptions{}))
			requireFrames(t, open(t, filepath.Join(dir, other)).TensorDict)
		}
		require.NoError(t, memmap.Save(filepath.Join(dir, "outer-"+name), outer))
		requireFrames(t, tensor.Must(open(t, filepath.Join(dir, "outer-"+name)).Dict("f")))
	}
	files := tree(t, filepath.Join(dir, "outer-d"))
	require.Equal(t, `{"_type":"<class 'my.Frame'>","child":null}`, files["f/meta.json"])
	require.Contains(t, files["meta.json"], `"f":{"type":"Frame"}`)
	require.Equal(t, `{"_type":"<class 'my.outer.<locals>.Inner'>","none":null}`, files["f/_tensordict/in/meta.json"])
}

// TestTensorclassFields reads fields that are not null as Data.
func TestTensorclassFields(t *testing.T) {
	dir := t.TempDir()
	td := tdict.New(2)
	require.NoError(t, td.Set("x", counted(tensor.Int8, 2)))
	require.NoError(t, td.SetClass("my.Frame"))
	require.NoError(t, memmap.Save(filepath.Join(dir, "d"), td))
	write(t, dir, "d/meta.json", `{"note":{"a":[1,null]},"_type":"<class 'my.Frame'>","n":7,"data":"d","x":null,"none":null}`)
	require.ErrorContains(t, testkit.Err(memmap.Open(filepath.Join(dir, "d"))), "the meta.json of the class around it has the checksum")
	write(t, dir, "d/_tensordict/meta.json", withoutNative(metaText(t, filepath.Join(dir, "d/_tensordict"))))
	ds := open(t, filepath.Join(dir, "d"))
	want := td.Copy()
	object := tensor.Must(tdict.NewObject(tdict.Field{Name: "a", Value: []any{1, nil}}))
	for name, v := range map[nestedkey.Key]any{"note": object, "n": 7, "data": "d", "none": nil} {
		require.NoError(t, want.Set(name, tensor.Must(tdict.NewData(v, 2))))
	}
	require.True(t, want.Equal(ds.TensorDict), "%v", ds)
	require.Equal(t, "my.Frame", ds.Class())

	_, err := memmap.OpenWith(filepath.Join(dir, "d"), memmap.OpenOptions{MaxEntries: 5})
	require.ErrorIs(t, err, memmap.ErrUnsupported)
	write(t, dir, "d/meta.json", `{"_type":"<class 'my.Frame'>","none":1,"none":null}`)
	_, err = memmap.Open(filepath.Join(dir, "d"))
	require.ErrorIs(t, err, memmap.ErrCorrupt)
	require.ErrorContains(t, err, `duplicate field "none"`)
	write(t, dir, "d/meta.json", `{"note":{"a":[1,null]},"_type":"<class 'my.Frame'>","n":7,"data":"d","none":null}`)
	write(t, dir, "d/other.pickle", "x")
	_, err = memmap.Open(filepath.Join(dir, "d"))
	require.ErrorIs(t, err, memmap.ErrUnsupported)
	require.ErrorContains(t, err, `"Frame"`)
	skipped := tensor.Must(memmap.OpenWith(filepath.Join(dir, "d"), memmap.OpenOptions{SkipPickled: true}))
	defer skipped.Close()
	require.True(t, want.Equal(skipped.TensorDict))
}

// TestTensorclassWritten writes elements of an instance and adds leaves to it, at two depths.
func TestTensorclassWritten(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, frames(t)))
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	_, err := memmap.OpenWith(filepath.Join(dir, "_tensordict", "in", "_tensordict"), memmap.OpenOptions{})
	require.NoError(t, err, "its dictionary can be opened by itself")
	require.NoError(t, tensor.Write(tensor.Must(ds.Tensor("in/y")), func(s []int32) { s[0] = 99 }))
	require.NoError(t, ds.AddLeaf("more", counted(tensor.Int8, 3)))
	require.NoError(t, ds.AddLeaf("in/more/z", counted(tensor.Int8, 3)))
	require.ErrorIs(t, ds.AddLeaf("child", counted(tensor.Int8, 3)), tdict.ErrExists)
	require.NoError(t, ds.Close())

	requireSound(t, dir)
	back := open(t, dir)
	require.Equal(t, int32(99), tensor.Must(tdict.Item[int32](back.TensorDict, "in/y", 0)))
	require.True(t, back.Has("more") && back.Has("in/more/z"))
	require.Contains(t, tree(t, dir), "_tensordict/in/_tensordict/more/z.memmap")
}

// TestTensorclassIsWhole refuses to append to an instance.
func TestTensorclassIsWhole(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(dir, frames(t)))
	before := tree(t, dir)
	row := tdict.New()
	require.NoError(t, row.Set("x", counted(tensor.Float32, 2)))
	_, err := memmap.NewWriter(dir, row, memmap.WriterOptions{Resume: true})
	require.ErrorIs(t, err, memmap.ErrForeign)
	require.ErrorContains(t, err, "my.Frame")
	require.Equal(t, before, tree(t, dir))

	require.NoError(t, row.SetClass("my.Frame"))
	w := tensor.Must(memmap.NewWriter(filepath.Join(filepath.Dir(dir), "w"), row, memmap.WriterOptions{}))
	require.NoError(t, w.Append(tensor.Must(row.Expand(2))))
	require.NoError(t, w.Finish())
	require.Empty(t, open(t, filepath.Join(filepath.Dir(dir), "w")).Class(), "a Writer keeps no class")
}

// TestTensorclassNames refuses classes and fields that would be read as something else.
func TestTensorclassNames(t *testing.T) {
	for _, name := range []string{"TensorDict", "my.NonTensorData", "my.LazyStackedTensorDict", "my.NonTensorStack", "MetaData", "my.TensorDictParams"} {
		td := tdict.New(1)
		require.NoError(t, td.SetClass(name))
		require.ErrorIs(t, memmap.Save(filepath.Join(t.TempDir(), "d"), td), memmap.ErrName, name)
	}
	td := tdict.New(1)
	require.NoError(t, td.SetClass("my.Frame"))
	require.NoError(t, td.Set("_type", tensor.Must(tdict.NewData(nil, 1))))
	require.ErrorIs(t, memmap.Save(filepath.Join(t.TempDir(), "d"), td), memmap.ErrName)
}

// TestPythonTensorclass opens in Python, as its class, an instance that Go saved, and in Go the
// instance that Python saves again.
func TestPythonTensorclass(t *testing.T) {
	const script = `
import sys, torch
from typing import Any
from tensordict import tensorclass, TensorDict
@tensorclass
class Inner:
    y: torch.Tensor
    none: Any = None
@tensorclass
class Frame:
    x: torch.Tensor
    note: str
    inner: Any = None
    child: Any = None
f = Frame.load_memmap(sys.argv[1])
assert type(f) is Frame and f.batch_size == torch.Size([3]), f
assert f.x.tolist() == [[0, 1], [2, 3], [4, 5]] and f.note == "hi" and f.child is None
assert type(f.inner) is Inner and f.inner.y.tolist() == [0, 1, 2] and f.inner.none is None
assert type(TensorDict.load_memmap(sys.argv[1])) is Frame
f.memmap(sys.argv[2], copy_existing=True)
print(type(f[0]).__name__)
`
	td := tdict.New(3)
	for key, v := range map[nestedkey.Key]tdict.Value{
		"x": counted(tensor.Float32, 3, 2), "note": tensor.Must(tdict.NewData("hi", 3)), "child": tensor.Must(tdict.NewData(nil, 3)),
		"inner/y": counted(tensor.Int32, 3), "inner/none": tensor.Must(tdict.NewData(nil, 3)),
	} {
		require.NoError(t, td.Set(key, v))
	}
	require.NoError(t, td.SetClass("__main__.Frame"))
	require.NoError(t, tensor.Must(td.Dict("inner")).SetClass("__main__.Inner"))
	dir, again := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "again")
	require.NoError(t, memmap.Save(dir, td))
	require.Equal(t, "Frame", strings.TrimSpace(processkit.Python(t, script, dir, again)))
	back := open(t, again)
	require.True(t, td.Equal(back.TensorDict), "%v", back)
	require.Equal(t, "__main__.Inner", tensor.Must(back.Dict("inner")).Class())
}
