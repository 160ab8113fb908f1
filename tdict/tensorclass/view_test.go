package tensorclass_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tensorclass"
	"github.com/go-tensordict/tensordict/tensor"
)

// frames returns a dictionary of three frames, each with so many next ones.
func frames(t testing.TB, depth int) *tdict.TensorDict {
	t.Helper()
	f := frameOf(depth)
	return tensor.Must(tensorclass.Dict(shapeops.Shape{3}, f))
}

func frameOf(depth int) *frame {
	f := &frame{
		Pixels: tensorclass.Leaf[uint8]{Tensor: tensor.Must(tensor.Zeros[uint8](3, 2, 5))},
		Action: tensorclass.Leaf[int64]{Tensor: tensor.Vector[int64](1, 2, 3)},
	}
	if f.Info.Seed = int64(depth); depth > 0 {
		f.Next = frameOf(depth - 1)
	}
	return f
}

func TestViewSharesMemory(t *testing.T) {
	td := frames(t, 2)
	f, err := tensorclass.View[frame](td)
	require.NoError(t, err)
	require.EqualValues(t, 2, f.Info.Seed)
	require.EqualValues(t, 0, f.Next.Next.Info.Seed)
	require.Nil(t, f.Next.Next.Next)
	require.Nil(t, f.Reward)
	require.NoError(t, f.Action.Write(func(s []int64) { s[1] = 9 }))
	require.EqualValues(t, 9, tensor.Must(tdict.Item[int64](td, "action", 1)))
	require.EqualValues(t, 9, tensor.Must(f.Action.At(-2)))
	require.Equal(t, []int64{1, 9, 3}, tensor.Must(f.Action.Slice()))
	require.NoError(t, f.Action.Read(func(s []int64) { require.Len(t, s, 3) }))
	require.Equal(t, "my.module.Frame", td.Class())
	require.NoError(t, td.Set("extra", tensor.Must(tensor.Zeros[bool](3))))
	_, err = tensorclass.View[frame](td)
	require.NoError(t, err, "an entry that no field names")
}

func TestViewOfEveryKind(t *testing.T) {
	type all struct {
		A tensorclass.Leaf[float32] `td:"a/b" shape:"?"`
		B *tensor.Tensor            `shape:"2"`
		C *ragged.Tensor            `shape:"*,*"`
		D *tdict.Data
		E *tdict.Unbatched `shape:"4"`
		F map[string]int   `td:"f,data,optional"`
		G struct{ H *ragged.Tensor }
	}
	u := tensor.Must(tdict.NewUnbatched(tensor.Must(tensor.Zeros[int8](4))))
	f := all{
		A: tensorclass.Leaf[float32]{Tensor: tensor.Must(tensor.Zeros[float32](2, 7))},
		B: tensor.Must(tensor.Zeros[bool](2, 2)),
		C: tensor.Must(ragged.From[int64]([][][]int64{{{1}}, {{2, 3}, {}}})),
		D: tensor.Must(tdict.DataFrom([]string{"x", "y"}, 2)),
		E: u,
		F: map[string]int{"n": 5},
	}
	f.G.H = tensor.Must(ragged.FromStrings([]string{"p", "q"}))
	td := tensor.Must(tensorclass.Dict(shapeops.Shape{2}, &f))
	require.NoError(t, tensor.Must(tensorclass.SchemaFor[all]()).Check(td))
	g := tensor.Must(tensorclass.View[all](td))
	require.Same(t, f.A.Tensor, g.A.Tensor)
	require.Same(t, f.C, g.C)
	require.Equal(t, f.F, g.F)
	require.Same(t, f.G.H, g.G.H)
	require.True(t, tensor.Must(tensorclass.Dict(shapeops.Shape{2}, &g)).Equal(td))
}

func TestUpdate(t *testing.T) {
	td := frames(t, 1)
	f := tensor.Must(tensorclass.View[frame](td))
	f.Reward = tensor.Must(tensor.Zeros[float32](3))
	f.Next.Action.Tensor = tensor.Vector[int64](7, 8, 9)
	f.Info.Seed = 42
	require.NoError(t, tensorclass.Update(td, &f))
	require.EqualValues(t, 8, tensor.Must(tdict.Item[int64](td, "next/action", 1)))
	require.EqualValues(t, 42, tensor.Must(tensorclass.View[frame](td)).Info.Seed)
	f.Reward, f.Next = nil, nil
	require.NoError(t, tensorclass.Update(td, &f))
	require.True(t, td.Has("reward"), "a nil field leaves the entry")
}

// TestRefusedUpdates changes one field to what td must not have: td is as it was.
func TestRefusedUpdates(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(f *frame)
		want   error
	}{
		"nil":       {func(f *frame) { f.Action.Tensor = nil }, tdict.ErrSchema},
		"dtype":     {func(f *frame) { f.Action.Tensor = tensor.Must(tensor.Zeros[int32](3)) }, tdict.ErrSchema},
		"shape":     {func(f *frame) { f.Pixels.Tensor = tensor.Must(tensor.Zeros[uint8](3, 3, 3)) }, tdict.ErrSchema},
		"batch":     {func(f *frame) { f.Pixels.Tensor = tensor.Must(tensor.Zeros[uint8](4, 2, 3)) }, shapeops.ErrShape},
		"below":     {func(f *frame) { f.Next.Action.Tensor = tensor.Must(tensor.Zeros[int64](3, 1)) }, tdict.ErrSchema},
		"no tensor": {func(f *frame) { f.Action.Tensor = new(tensor.Tensor) }, tdict.ErrKind},
	} {
		t.Run(name, func(t *testing.T) {
			td := frames(t, 1)
			before := tensor.Must(td.Clone())
			f := tensor.Must(tensorclass.View[frame](td))
			f.Info.Seed = 5
			tt.change(&f)
			testkit.Fails(t, tt.want, tensorclass.Update(td, &f))
			require.True(t, td.Equal(before))
		})
	}
	t.Run("cycle", func(t *testing.T) {
		td := frames(t, 0)
		f := tensor.Must(tensorclass.View[frame](td))
		f.Next = &f
		require.ErrorIs(t, tensorclass.Update(td, &f), tdict.ErrDepth)
		require.False(t, td.Has("next"))
	})
	t.Run("locked", func(t *testing.T) {
		td := frames(t, 0)
		f := tensor.Must(tensorclass.View[frame](td))
		td.Lock("by a test")
		require.ErrorIs(t, tensorclass.Update(td, &f), tdict.ErrLocked)
	})
	t.Run("nil dictionary", func(t *testing.T) { testkit.Fails(t, tdict.ErrKind, tensorclass.Update(nil, &frame{})) })
	t.Run("nil struct", func(t *testing.T) { testkit.Fails(t, tdict.ErrKind, tensorclass.Update[frame](tdict.New(), nil)) })
	t.Run("a bad batch shape", func(t *testing.T) {
		testkit.Fails(t, shapeops.ErrShape, testkit.Err(tensorclass.Dict(shapeops.Shape{-1}, &frame{})))
	})
}

// TestRefusedViews lists dictionaries that are none of the struct's.
func TestRefusedViews(t *testing.T) {
	set := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := frames(t, 1)
		require.NoError(t, td.Set(key, v))
		return td
	}
	without := func(key nestedkey.Key) *tdict.TensorDict {
		td := frames(t, 1)
		require.NoError(t, td.Delete(key))
		return td
	}
	longer := tdict.New(3, 2)
	for name, tt := range map[string]struct {
		td   *tdict.TensorDict
		want error
	}{
		"nil":             {nil, tdict.ErrKind},
		"missing":         {without("action"), tdict.ErrSchema},
		"missing below":   {without("next/obs/pixels"), tdict.ErrSchema},
		"dtype":           {set("action", tensor.Must(tensor.Zeros[int32](3))), tdict.ErrSchema},
		"shape":           {set("obs/pixels", tensor.Must(tensor.Zeros[uint8](3, 1, 1))), tdict.ErrSchema},
		"kind":            {set("action", tensor.Must(tdict.NewData("x"))), tdict.ErrSchema},
		"a leaf":          {set("next", tensor.Must(tensor.Zeros[uint8](3))), tdict.ErrSchema},
		"a leaf outside":  {set("obs", tensor.Must(tensor.Zeros[uint8](3))), tdict.ErrNotDict},
		"data differ":     {set("info", tensor.Must(tdict.DataFrom([]int64{1, 2, 3}, 3))), tdict.ErrSchema},
		"a longer batch":  {set("next", longer), shapeops.ErrShape},
		"not the default": {tdict.New(3), tdict.ErrSchema},
	} {
		t.Run(name, func(t *testing.T) { testkit.Fails(t, tt.want, testkit.Err(tensorclass.View[frame](tt.td))) })
	}
	t.Run("data of another type", func(t *testing.T) {
		f, err := tensorclass.View[frame](set("info", tensor.Must(tdict.NewData("x"))))
		require.Error(t, err)
		require.Zero(t, f)
	})
}

// TestViewOfAPart views an index of a dictionary, and one that is mapped.
func TestViewOfAPart(t *testing.T) {
	td := frames(t, 1)
	one := tensor.Must(td.Index(ix.At(1)))
	require.EqualValues(t, 2, tensor.Must(tensor.Must(tensorclass.View[frame](one)).Action.At()))
	dir := filepath.Join(testkit.TempDir(t), "frames")
	require.NoError(t, memmap.Save(dir, td))
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	f := tensor.Must(tensorclass.View[frame](ds.TensorDict))
	require.EqualValues(t, 3, tensor.Must(f.Next.Action.At(2)))
	require.Equal(t, "my.module.Frame", ds.Class())
}

func TestZeroLeaf(t *testing.T) {
	var l tensorclass.Leaf[int8]
	t.Run("slice", func(t *testing.T) { testkit.Fails(t, tdict.ErrKind, testkit.Err(l.Slice())) })
	t.Run("at", func(t *testing.T) { testkit.Fails(t, tdict.ErrKind, testkit.Err(l.At(0))) })
	t.Run("write", func(t *testing.T) { testkit.Fails(t, tdict.ErrKind, l.Write(func([]int8) {})) })
}

// TestGolden views what Python saved of a tensorclass, saves the struct and views it again.
func TestGolden(t *testing.T) {
	type myData struct {
		_     tensorclass.Class       `td:"golden_classes.MyData"`
		Image tensorclass.Leaf[uint8] `shape:"3,4"`
		Label tensorclass.Leaf[int64]
		Note  string `td:",data"`
		Tags  *tdict.Data
	}
	ds := tensor.Must(memmap.Open(filepath.Join("..", "..", "testdata", "golden", "td10_tensorclass", "data")))
	defer ds.Close()
	d := tensor.Must(tensorclass.View[myData](ds.TensorDict))
	require.Equal(t, "hi", d.Note)
	require.EqualValues(t, 0x17, tensor.Must(d.Image.At(-1, -1, -1)))
	again := tensor.Must(tensorclass.Dict(ds.Shape(), &d))
	require.True(t, again.Equal(ds.TensorDict))
	dir := filepath.Join(testkit.TempDir(t), "again")
	require.NoError(t, memmap.Save(dir, again))
	back := tensor.Must(memmap.Open(dir))
	defer back.Close()
	require.True(t, back.Equal(ds.TensorDict))
	require.Equal(t, ds.Class(), back.Class())
}

// TestWritesKeepTheSchema writes rows, and fields: the dictionary still has the struct's schema.
func TestWritesKeepTheSchema(t *testing.T) {
	td := tensor.Must(tensorclass.FromRows(visits(3)))
	require.NoError(t, tensorclass.SetRow(td, 1, &visit{Patient: "x"}))
	require.NoError(t, tensor.Must(tensorclass.SchemaFor[visit]()).Check(td))

	td = tenOf(t)
	v := tensor.Must(tensorclass.View[ten](td))
	v.A.Tensor = tensor.Vector[float32](1, 2, 3, 4)
	require.NoError(t, tensorclass.Update(td, &v))
	require.NoError(t, tensor.Must(tensorclass.SchemaFor[ten]()).Check(td))
}
