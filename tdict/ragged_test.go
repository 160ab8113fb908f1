package tdict_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// ragRows returns a ragged tensor of depth 1 with rows of these lengths, which counts up from 0.
func ragRows(lengths ...int64) *ragged.Tensor {
	l := tensor.Must(ragged.LayoutOf(shapeops.Shape{len(lengths)}, lengths))
	return tensor.Must(ragged.New(count(tensor.Must(l.NumRows(1))), l))
}

// ward is a dictionary [3] with days [[0 1] [] [2]], codes within it, and a dense age.
func ward() *tdict.TensorDict {
	days := ragRows(2, 0, 1)
	codes := tensor.Must(days.Layout().Nest([]int64{0, 1, 1, 3}))
	return dict([]int{3}, entry{"age", count(3)}, entry{"days", days}, entry{"in/codes", tensor.Must(ragged.New(count(3), codes))})
}

func asRagged(td *tdict.TensorDict, key nestedkey.Key) *ragged.Tensor {
	return tensor.Must(tdict.Get[*ragged.Tensor](td, key))
}

// leafText returns the rows of a ragged leaf, as JSON.
func leafText(t testing.TB, td *tdict.TensorDict, key nestedkey.Key) string {
	t.Helper()
	var out struct{ Values json.RawMessage }
	require.NoError(t, json.Unmarshal(tensor.Must(asRagged(td, key).MarshalJSON()), &out))
	return string(out.Values)
}

// sharesWard checks that codes lie within the layout of days.
func sharesWard(t testing.TB, td *tdict.TensorDict) {
	t.Helper()
	require.Same(t, asRagged(td, "days").Layout(), asRagged(td, "in/codes").Layout().Outer())
}

// What looks at elements looks at the values of rows, which stay as long as they are.
func TestRaggedElements(t *testing.T) {
	type dictionary = *tdict.TensorDict
	add := func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) { return arith.Add(x, 1) }
	tests := []struct {
		name        string
		run         func(td dictionary) (dictionary, error)
		days, codes string
	}{
		{"apply", func(td dictionary) (dictionary, error) { return td.Apply(add) }, "[[1,2],[],[3]]", "[[[1],[]],[],[[2,3]]]"},
		{"apply to a part", func(td dictionary) (dictionary, error) {
			return tensor.Must(td.Index(ix.Range(1, 3))).Apply(add)
		}, "[[],[3]]", "[[],[[2,3]]]"},
		{"apply after a permutation", func(td dictionary) (dictionary, error) {
			return tensor.Must(td.Index(ix.Take(2, 0))).Apply(add)
		}, "[[3],[1,2]]", "[[[2,3]],[[1],[]]]"},
		{"apply to some", func(td dictionary) (dictionary, error) {
			each := func(_ nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return arith.Add(xs[0], xs[1]) }
			return tdict.Apply(context.Background(), []dictionary{td, td}, each, tdict.ApplyOptions{Keys: []nestedkey.Key{"days"}})
		}, "[[0,2],[],[4]]", "[[[0],[]],[],[[1,2]]]"},
		{"apply in place", func(td dictionary) (dictionary, error) {
			td.Lock()
			each := func(key nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return add(key, xs[0]) }
			_, err := tdict.Apply(context.Background(), []dictionary{td}, each, tdict.ApplyOptions{InPlace: true})
			return td, err
		}, "[[1,2],[],[3]]", "[[[1],[]],[],[[2,3]]]"},
		{"map elems", func(td dictionary) (dictionary, error) {
			return tdict.MapElems(td, func(v int64) int64 { return 2 * v })
		},
			"[[0,2],[],[4]]", "[[[0],[]],[],[[2,4]]]"},
		{"cast", func(td dictionary) (dictionary, error) { return td.Cast(tensor.Float32) }, "[[0,1],[],[2]]", "[[[0],[]],[],[[1,2]]]"},
		{"materialize", func(td dictionary) (dictionary, error) { return tensor.Must(td.ToMeta()).Materialize() }, "[[0,0],[],[0]]", "[[[0],[]],[],[[0,0]]]"},
		{"add a number", func(td dictionary) (dictionary, error) { return arith.Add(td, 1) }, "[[1,2],[],[3]]", "[[[1],[]],[],[[2,3]]]"},
		{"add itself", func(td dictionary) (dictionary, error) { return arith.Add(td, td) }, "[[0,2],[],[4]]", "[[[0],[]],[],[[2,4]]]"},
		{"add for each row", func(td dictionary) (dictionary, error) { return arith.Add(td, tensor.Vector[int64](10, 20, 30)) },
			"[[10,11],[],[32]]", "[[[10],[]],[],[[31,32]]]"},
		{"add in place", func(td dictionary) (dictionary, error) { td.Lock(); return td, arith.AddInto(td, td, td) }, "[[0,2],[],[4]]", "[[[0],[]],[],[[2,4]]]"},
		{"add into", func(td dictionary) (dictionary, error) {
			dst := tensor.Must(td.NewZeros(td.Shape()...))
			return dst, arith.AddInto(dst, td, 1)
		}, "[[1,2],[],[3]]", "[[[1],[]],[],[[2,3]]]"},
		{"features", func(td dictionary) (dictionary, error) { return arith.Sum(td, arith.Features) }, "[[0,1],[],[2]]", "[[[0],[]],[],[[1,2]]]"},
		{"features where a mask says", func(td dictionary) (dictionary, error) {
			return arith.Sum(td, arith.Features.Where(tensor.Vector(false, true, true)))
		}, "[[0,0],[],[2]]", "[[[0],[]],[],[[1,2]]]"},
		{"compare and fill", func(td dictionary) (dictionary, error) {
			return arith.MaskedFill(td, tensor.Must(arith.Greater(td, 1)), -1)
		}, "[[0,1],[],[-1]]", "[[[0],[]],[],[[1,-1]]]"},
		{"where a number", func(td dictionary) (dictionary, error) { return arith.Where(tensor.Vector(true, true, false), td, 7) },
			"[[0,1],[],[7]]", "[[[0],[]],[],[[7,7]]]"},
		{"where rows of another", func(td dictionary) (dictionary, error) {
			return arith.Where(tensor.Vector(false, true, true), td, tensor.Must(shapeops.Flip(td, 0)))
		}, "[[2],[],[2]]", "[[[1,2]],[],[[1,2]]]"},
		{"where rows of another, in place", func(td dictionary) (dictionary, error) {
			return td, arith.WhereInto(td, tensor.Vector(false, true, true), td, tensor.Must(shapeops.Flip(td, 0)))
		}, "[[2],[],[2]]", "[[[1,2]],[],[[1,2]]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.run(ward())
			require.NoError(t, err)
			require.Equal(t, tt.days, leafText(t, got, "days"))
			require.Equal(t, tt.codes, leafText(t, got, "in/codes"))
			sharesWard(t, got)
			consistent(t, got)
		})
	}
}

// Functions of rows get rows that are whole, and results of other lengths go together.
func TestRaggedFunctions(t *testing.T) {
	td, ctx := ward(), context.Background()
	twice := func(_ context.Context, chunk *tdict.TensorDict) (*tdict.TensorDict, error) {
		return arith.Mul(chunk, 2)
	}
	out, err := tdict.MapChunks(ctx, td, twice, tdict.MapChunksOptions{ChunkSize: 1})
	require.NoError(t, err)
	require.Equal(t, "[[0,2],[],[4]]", leafText(t, out, "days"))
	sharesWard(t, out)

	turned := tensor.Must(shapeops.Flip(td, 0))
	same := func(_ context.Context, chunk *tdict.TensorDict) (*tdict.TensorDict, error) { return chunk, nil }
	_, err = tdict.MapChunks(ctx, turned, same, tdict.MapChunksOptions{ChunkSize: 2, Into: td, Workers: 2})
	require.NoError(t, err)
	require.Equal(t, "[[2],[],[0,1]]", leafText(t, td, "days"))
	sharesWard(t, td)

	out, err = tdict.Vmap(ctx, []*tdict.TensorDict{td}, func(_ context.Context, rows []*tdict.TensorDict) (*tdict.TensorDict, error) {
		return arith.Add(rows[0], 1)
	}, tdict.VmapOptions{})
	require.NoError(t, err)
	require.Equal(t, "[[[2,3]],[],[[1],[]]]", leafText(t, out, "in/codes"))
	sharesWard(t, out)

	leaves, tree := td.Tree()
	require.Len(t, leaves, 1, "dense tensors only")
	require.True(t, tensor.Must(tree.Build(leaves)).Equal(td))
}

// What is about keys shares ragged leaves, and a locked dictionary keeps them.
func TestRaggedKeys(t *testing.T) {
	td := ward()
	days := asRagged(td, "days")
	require.Same(t, days, asRagged(tensor.Must(td.Select("days")), "days"))
	require.Same(t, days, asRagged(tensor.Must(tensor.Must(td.FlattenKeys(".")).UnflattenKeys(".")), "days"))
	updated := tdict.New(3)
	require.NoError(t, updated.Update(td))
	require.Same(t, days, asRagged(updated, "days"))
	td.Lock()
	require.ErrorIs(t, td.Delete("days"), tdict.ErrLocked)
	require.NoError(t, td.SetIndex(tensor.Must(ward().Index(ix.At(0))), ix.At(1)), "writing rows is not a change of structure")
	require.Equal(t, "[[0,1],[0,1],[2]]", leafText(t, td, "days"))
	require.Equal(t, "", tensor.Must(td.Diff(tensor.Must(td.Clone()))))
	require.Equal(t, `"days": level 1, row 1 has length 2, other 0`, tensor.Must(tensor.Must(td.Select("days")).Diff(tensor.Must(ward().Select("days")))))
	named := ward()
	require.NoError(t, named.SetNames("n"))
	require.Equal(t, []string{"n"}, tensor.Must(shapeops.Flip(named, 0)).Names())
}

func TestRaggedPrints(t *testing.T) {
	td := ward()
	require.Equal(t, `TensorDict(
    fields={
        age: Tensor(shape=[3], dtype=int64),
        days: Ragged(shape=[3 *], dtype=int64),
        in: TensorDict(
            fields={
                codes: Ragged(shape=[3 * *], dtype=int64)},
            batch=[3])},
    batch=[3])`, td.String())
	require.Contains(t, fmt.Sprintf("%+v", td), "days: Ragged(shape=[3 *], dtype=int64, values=3, bytes=24)")
	require.Equal(t, "age  days   in/codes\n0    [0 1]  [[0] []]\n1    []     []\n2    [2]    [[1 2]]", td.Head(3))
	require.Contains(t, string(tensor.Must(td.MarshalJSON())), `"days":{"dtype":"int64","shape":"[3 *]","values":[[0,1],[],[2]]}`)
	require.Contains(t, td.LogValue().String(), "days=ragged int64 [3 *] [[0,1],[],[2]]")
}

// What ragged leaves cannot do is refused, with the key, and nothing has changed.
func TestRaggedRefuses(t *testing.T) {
	refuse(t, ward, []refusal{
		{"another batch", func(td *tdict.TensorDict) error { return td.Set("x", ragRows(1, 2)) }, shapeops.ErrShape},
		{"as a tensor", func(td *tdict.TensorDict) error { return testkit.Err(td.Tensor("days")) }, tdict.ErrKind},
		{"rows of another depth", func(td *tdict.TensorDict) error {
			return td.SetIndex(dict([]int{3}, entry{"days", asRagged(td, "in/codes")}))
		}, ragged.ErrLengths},
		{"a tensor for rows", func(td *tdict.TensorDict) error { return td.SetIndex(dict([]int{3}, entry{"days", count(3)})) }, tdict.ErrKind},
		{"rows for a tensor", func(td *tdict.TensorDict) error { return td.SetIndex(dict([]int{3}, entry{"age", ragRows(1, 1, 1)})) }, tdict.ErrKind},
		{"a sum of other lengths", func(td *tdict.TensorDict) error { return testkit.Err(arith.Add(td, tensor.Must(shapeops.Flip(td, 0)))) }, ragged.ErrLengths},
		{"all of it reduced", func(td *tdict.TensorDict) error { return testkit.Err(arith.Sum(td, arith.Whole)) }, tdict.ErrKind},
		{"running sums over the batch", func(td *tdict.TensorDict) error { return testkit.Err(arith.CumSum(td, arith.Dims(0))) }, tdict.ErrKind},
		{"a sum over the batch", func(td *tdict.TensorDict) error { return testkit.Err(arith.Sum(td, arith.Dims(0))) }, tdict.ErrKind},
		{"a sort of the batch", func(td *tdict.TensorDict) error { return testkit.Err(arith.Sort(td, 0, arith.SortOptions{})) }, tdict.ErrKind},
		{"padding a dim after the batch", func(td *tdict.TensorDict) error {
			return testkit.Err(shapeops.PadSequence([]*tdict.TensorDict{tensor.Must(td.Select("days"))}, shapeops.PadSequenceOptions{Dim: 1}))
		}, shapeops.ErrDim},
		{"filling rows", func(td *tdict.TensorDict) error {
			return testkit.Err(td.Pad(tdict.PadOptions{Fills: map[nestedkey.Key]any{"days": 1}}, 1, 1))
		}, tdict.ErrKind},
		{"apply that changes how many values there are", func(td *tdict.TensorDict) error {
			few := func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Repeat(x, 2) }
			return testkit.Err(tensor.Must(td.Select("days")).Apply(few))
		}, ragged.ErrOffsets},
		{"apply with other lengths", func(td *tdict.TensorDict) error {
			each := func(_ nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return xs[0], nil }
			return testkit.Err(tdict.Apply(context.Background(), []*tdict.TensorDict{td, tensor.Must(shapeops.Flip(td, 0))}, each, tdict.ApplyOptions{}))
		}, ragged.ErrLengths},
	})
}

// Rows of a part keep their lengths: what would change them is refused, and has changed nothing,
// dense leaves neither, which would be those of the whole.
func TestRaggedPartInPlace(t *testing.T) {
	c := newClinic(t, rand.New(rand.NewPCG(3, 3)), 0, 6)
	was := tensor.Must(c.td.Clone())
	part := tensor.Must(c.td.Index(ix.Range(3, 6)))
	require.ErrorIs(t, shapeops.FlipInto(part, part, 0), ragged.ErrLengths)
	require.ErrorIs(t, part.SetIndex(tensor.Must(was.Index(ix.Range(2, 5)))), ragged.ErrLengths)
	require.Equal(t, "", tensor.Must(was.Diff(c.td)))

	own := tensor.Must(part.Clone())
	require.NoError(t, shapeops.FlipInto(own, own, 0))
	c.check(t, own, "a clone")
	require.Equal(t, "", tensor.Must(was.Diff(c.td)))
}

// Dictionaries of unequal lengths lie one after the other, under one layout, and come back.
func TestStackRagged(t *testing.T) {
	episode := func(first, n int) *tdict.TensorDict {
		labels := make([]string, n)
		lengths := make([]int64, n)
		for i := range labels {
			labels[i], lengths[i] = fmt.Sprint(first+i), int64(i%3)
		}
		l := tensor.Must(ragged.LayoutOf(shapeops.Shape{n}, lengths))
		made := tensor.Must(tensor.Arange(int64(first), int64(first+n), 1))
		return dict([]int{n}, entry{"reward", made}, entry{"in/obs", count(n, 2)}, entry{"name", tensor.Must(tdict.DataFrom(labels, n))},
			entry{"w", unbatched(count(2))}, entry{"codes", tensor.Must(ragged.New(count(tensor.Must(l.NumRows(1))), l))})
	}
	tds := []*tdict.TensorDict{episode(0, 3), episode(10, 0), episode(20, 1), episode(30, 4)}
	got, err := tdict.StackRagged(tds)
	require.NoError(t, err)
	consistent(t, got)
	require.Equal(t, shapeops.Shape{4}, got.Shape())
	require.Equal(t, "[[0,1,2],[],[20],[30,31,32,33]]", leafText(t, got, "reward"))
	require.Equal(t, "[[[],[0],[1,2]],[],[[]],[[],[0],[1,2],[]]]", leafText(t, got, "codes"))
	require.Equal(t, "ragged int64 [4 * 2]", asRagged(got, "in/obs").Text())
	l := asRagged(got, "reward").Layout()
	require.Same(t, l, asRagged(got, "in/obs").Layout())
	require.Same(t, l, asRagged(got, "codes").Layout().Outer())
	require.Equal(t, `data [4] [["0","1","2"] [] ["20"] ["30","31","32","33"]]`, tensor.Must(got.Get("name")).(*tdict.Data).String())
}

func TestStackRaggedRefuses(t *testing.T) {
	one := func() *tdict.TensorDict { return dict([]int{2}, entry{"x", count(2)}) }
	stacked := func(td *tdict.TensorDict, others ...*tdict.TensorDict) error {
		return testkit.Err(tdict.StackRagged(append([]*tdict.TensorDict{td}, others...)))
	}
	refuse(t, one, []refusal{
		{"nothing", func(*tdict.TensorDict) error { return testkit.Err(tdict.StackRagged(nil)) }, tdict.ErrKind},
		{"no batch dim", func(td *tdict.TensorDict) error { return stacked(td, tdict.New()) }, shapeops.ErrDim},
		{"other keys", func(td *tdict.TensorDict) error { return stacked(td, dict([]int{2}, entry{"y", count(2)})) }, tdict.ErrMissing},
		{"other features", func(td *tdict.TensorDict) error { return stacked(td, dict([]int{2}, entry{"x", count(2, 1)})) }, shapeops.ErrShape},
		{"data with further batch dims", func(*tdict.TensorDict) error {
			return stacked(dict([]int{2, 2}, entry{"name", data("x")}))
		}, shapeops.ErrShape},
	})
}
