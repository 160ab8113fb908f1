package tdict_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestZerosLike keeps keys, kinds, dtypes, features and the dims of inner batch shapes.
func TestNewZeros(t *testing.T) {
	td := kinds()
	require.NoError(t, td.Set("d/inner", dict([]int{3, 2}, entry{"z", tensor.Must(tensor.Full[int8](1, 3, 2, 4))})))
	for _, batch := range [][]int{{5}, {}, {0}, {2, 3}} {
		testkit.Unchanged(t, td, state, func() {
			got := tensor.Must(td.NewZeros(batch...))
			consistent(t, got)
			require.Equal(t, keys(td), keys(got))
			require.Equal(t, append(shapeops.Shape{}, batch...), got.Shape().Clone())
			require.Equal(t, append(slices.Clone(batch), 2), []int(tensor.Must(got.Dict("d/inner")).Shape()))
			z := tensor.Must(got.Tensor("d/inner/z"))
			require.Equal(t, append(slices.Clone(batch), 2, 4), []int(z.Shape()))
			require.True(t, z.Equal(tensor.Must(tensor.New(tensor.Int8, z.Shape()...))))
			for v := range tensor.Must(tdict.Get[*tdict.Data](got, "name")).All() {
				require.Nil(t, v)
			}
			w := tensor.Must(tdict.Get[*tdict.Unbatched](got, "w"))
			own := tensor.Must(tdict.Get[*tdict.Unbatched](td, "w")).Tensor()
			require.True(t, own.Equal(w.Tensor()))
			require.False(t, own.SharesMemory(w.Tensor()), "what is written to it stays there")
			require.NoError(t, got.Set("more", tdict.New(batch...)), "it can be edited")
		})
	}
	dst := tensor.Must(tensor.Must(td.Exclude("w").Index(ix.Range(0, 2))).NewZeros(2))
	require.NoError(t, td.Exclude("w").IndexInto(dst, ix.Range(1, 3)))
	require.Equal(t, []int64{2, 3, 4, 5}, values(t, dst, "x"))
	refuse(t, kinds, []refusal{
		{"a negative size", func(td *tdict.TensorDict) error { return testkit.Err(td.NewZeros(-1)) }, shapeops.ErrShape},
		{"too many rows", func(td *tdict.TensorDict) error { return testkit.Err(td.NewZeros(math.MaxInt)) }, shapeops.ErrShape},
	})
}

// metaOps are operations on a dictionary of batch shape [3].
var metaOps = map[string]func(td *tdict.TensorDict) (*tdict.TensorDict, error){
	"at":    func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Index(ix.At(-1)) },
	"range": func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Index(ix.Range(1, 3), ix.New) },
	"list":  func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Index(ix.Take(2, 0, 0, 1)) },
	"mask": func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return td.MaskedSelect(tensor.Vector(true, false, true))
	},
	"reshape": func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Reshape(3, 1) },
	"expand":  func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Expand(2, 3) },
	"flip":    func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return shapeops.Flip(td, 0) },
	"roll":    func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return shapeops.Roll(td, 0, 1) },
	"repeat":  func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return shapeops.Repeat(td, 3) },
	"repeat each": func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return shapeops.RepeatEach(td, 0, []int{0, 2, 1})
	},
	"take":   func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Take(0, tensor.Vector[int64](2, 0)) },
	"gather": func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Gather(0, tensor.Vector[int64](2, 0)) },
	"window": func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return shapeops.Window(tensor.Must(td.Reshape(1, 3)), tensor.Vector[int64](1), []int{1}, []int{2})
	},
	"unfold": func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return shapeops.Unfold(td, 0, 2, 1) },
	"pad":    func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Pad(tdict.PadOptions{}, 1, 1) },
	"stack": func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return shapeops.Stack([]*tdict.TensorDict{td, td}, 0)
	},
	"cat": func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return shapeops.Cat([]*tdict.TensorDict{td, td}, 0)
	},
	"clone":   func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Clone() },
	"kernel":  func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Ops().Leafwise(adding(), td, 1) },
	"to meta": (*tdict.TensorDict).ToMeta,
	"pad sequence": func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return shapeops.PadSequence([]*tdict.TensorDict{td, tensor.Must(td.Narrow(0, 0, 1))}, shapeops.PadSequenceOptions{})
	},
}

// TestMetaDictionaries: operations on device meta make the keys, dtypes and shapes that they make
// of elements.
func TestMetaDictionaries(t *testing.T) {
	for name, op := range metaOps {
		t.Run(name, func(t *testing.T) {
			td := dict([]int{3}, entry{"x", count(3, 2)}, entry{"d", dict([]int{3, 2}, entry{"y", count(3, 2, 4)})}, entry{"name", texts("a", "b", "c")})
			want, err := op(td)
			require.NoError(t, err)
			got, err := op(tensor.Must(td.ToMeta()))
			require.NoError(t, err)
			require.Equal(t, keys(want), keys(got))
			require.Equal(t, want.Shape().Clone(), got.Shape().Clone())
			for key, x := range want.Tensors() {
				y := tensor.Must(got.Tensor(key))
				require.Equal(t, tensor.Meta, y.Device(), key)
				require.Equal(t, fmt.Sprint(x.DType(), x.Shape()), fmt.Sprint(y.DType(), y.Shape()), key)
			}
			zeros := tensor.Must(got.Materialize())
			for key, x := range zeros.Tensors() {
				require.True(t, x.Equal(tensor.Must(tensor.New(x.DType(), x.Shape()...))), key)
			}
			require.Equal(t, keys(got), keys(zeros))
		})
	}
}

// TestMetaDictionariesTakeNoMemory plans a batch that no machine holds.
func TestMetaDictionariesTakeNoMemory(t *testing.T) {
	td := dict([]int{1}, entry{"x", tensor.Must(tensor.NewMeta(tensor.Float32, 1, 8))})
	testkit.MaxBytes(t, 1<<16, func() {
		big := tensor.Must(tensor.Must(td.Expand(1 << 40)).Clone())
		big = tensor.Must(shapeops.Stack([]*tdict.TensorDict{big, big}, 0))
		require.Contains(t, fmt.Sprint(big), "1099511627776")
		require.NotPanics(t, func() { _, _ = big.MarshalJSON() })
		require.Equal(t, 1<<41, big.Shape().Size())
	})
	require.Equal(t, tensor.Meta, tensor.Must(tensor.Must(td.NewZeros(2)).Tensor("x")).Device())
}

// TestMetaDictionariesHaveNoElements: what wants elements says so, under which key.
func TestMetaDictionariesHaveNoElements(t *testing.T) {
	meta := func() *tdict.TensorDict { return tensor.Must(sample().ToMeta()) }
	wants := map[string]func() error{
		"diff":        func() error { return testkit.Err(meta().Diff(sample())) },
		"set index":   func() error { return meta().SetIndex(sample()) },
		"set from":    func() error { return sample().SetIndex(meta()) },
		"index into":  func() error { return meta().IndexInto(sample()) },
		"kernel into": func() error { return sample().Ops().LeafwiseInto(sample(), adding(), meta()) },
		"in place":    func() error { return shapeops.FlipInto(sample(), meta(), 0) },
	}
	for name, want := range wants {
		require.ErrorIs(t, want(), tensor.ErrMeta, name)
	}
	require.False(t, meta().Equal(sample()))
}

// TestReinterpretOfDictionaries shares memory, and changes dims after the batch shape only.
func TestReinterpretOfDictionaries(t *testing.T) {
	td := sample()
	require.NoError(t, td.Set("name", texts("a", "b", "c")))
	got := tensor.Must(td.Reinterpret(tensor.Uint8))
	consistent(t, got)
	require.Equal(t, shapeops.Shape{3, 32}, tensor.Must(got.Tensor("a")).Shape().Clone())
	require.Equal(t, shapeops.Shape{3, 4, 16}, tensor.Must(got.Tensor("b/c")).Shape().Clone())
	for key, x := range got.Tensors() {
		require.Equal(t, testkit.Content(t, tensor.Must(td.Tensor(key))), testkit.Content(t, x))
		require.True(t, x.SharesMemory(tensor.Must(td.Tensor(key))))
	}
	require.Same(t, tensor.Must(td.Get("name")), tensor.Must(got.Get("name")))
	require.Equal(t, state(t, td), state(t, tensor.Must(got.Reinterpret(tensor.Int64))))
	same := dict([]int{3}, entry{"x", count(3)})
	require.Equal(t, tensor.Float64, tensor.Must(tensor.Must(same.Reinterpret(tensor.Float64)).Tensor("x")).DType())
	of := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict { return dict([]int{4}, entry{key, v}) }
	refuse(t, sample, []refusal{
		{"no dim after the batch shape", func(*tdict.TensorDict) error { return testkit.Err(of("d/x", count(4)).Reinterpret(tensor.Uint8)) }, shapeops.ErrShape},
		{"a batch dim that would shrink", func(*tdict.TensorDict) error {
			return testkit.Err(of("x", tensor.Must(tensor.Zeros[uint8](4))).Reinterpret(tensor.Uint16))
		}, shapeops.ErrShape},
		{"no dtype", func(td *tdict.TensorDict) error { return testkit.Err(td.Reinterpret(0)) }, tensor.ErrDType},
		{"no whole elements", func(*tdict.TensorDict) error {
			return testkit.Err(of("x", tensor.Must(tensor.Zeros[uint8](4, 3))).Reinterpret(tensor.Uint16))
		}, shapeops.ErrShape},
		{"elements with gaps", func(td *tdict.TensorDict) error {
			return testkit.Err(of("x", tensor.Must(count(2, 4).Permute(1, 0))).Reinterpret(tensor.Uint8))
		}, tensor.ErrLayout},
	})
}

// Data that is the same for all rows belongs to none of them and stays, as in Python; a value for
// each row becomes nil.
func TestZerosKeepUniformData(t *testing.T) {
	settings := map[string]any{"lr": 0.1}
	td := dict([]int{2}, entry{"task", data("reach")}, entry{"d/settings", data(settings)},
		entry{"d/inner", dict([]int{2, 3}, entry{"unit", data("m")})},
		entry{"rows", texts("a", "b")}, entry{"equal", texts("a", "a")}, entry{"none", data(nil)})
	nameOf := func(td *tdict.TensorDict, key nestedkey.Key) string {
		return tensor.Must(tdict.Get[*tdict.Data](td, key)).String()
	}
	for name, zeros := range map[string]*tdict.TensorDict{
		"of another batch shape": tensor.Must(td.NewZeros(4)),
		"of zeros":               tensor.Must(tensor.Must(td.NewZeros(7)).NewZeros(4)),
		"like it":                tensor.Must(tensor.Must(td.Expand(2, 2)).NewZeros(2, 2)),
	} {
		batch := zeros.Shape()
		require.Equal(t, fmt.Sprintf(`data %v "reach"`, batch), nameOf(zeros, "task"), name)
		require.Equal(t, fmt.Sprintf(`data %v {"lr":0.1}`, batch), nameOf(zeros, "d/settings"), name)
		require.Equal(t, fmt.Sprintf(`data %v "m"`, append(batch.Clone(), 3)), nameOf(zeros, "d/inner/unit"), name)
		require.Equal(t, fmt.Sprintf(`data %v null`, batch), nameOf(zeros, "rows"), name)
		require.Equal(t, fmt.Sprintf(`data %v "a"`, batch), nameOf(zeros, "equal"), name)
		require.Equal(t, fmt.Sprintf(`data %v null`, batch), nameOf(zeros, "none"), name)
	}
	zeros := tensor.Must(td.NewZeros(2))
	require.NoError(t, zeros.SetIndex(dict(nil, entry{"task", data("push")}), ix.At(0)))
	require.Equal(t, `data [2] "reach"`, nameOf(td, "task"), "what is written to zeros stays there")
	require.NoError(t, td.IndexInto(zeros, ix.Take(1, 0)))
	require.Equal(t, `data [2] "reach"`, nameOf(zeros, "task"))
	require.Equal(t, `data [2] ["b" "a"]`, nameOf(zeros, "rows"))
	empty := tensor.Must(td.NewZeros(0))
	require.Equal(t, `data [0] []`, nameOf(empty, "task"))
	testkit.MaxBytes(t, 1<<16, func() { tensor.Must(td.NewZeros(1 << 40)) })
}

// NewZeros keeps the names of as many dims, and those of nested dictionaries.
func TestNewZerosKeepsNames(t *testing.T) {
	td := sample()
	require.NoError(t, tensor.Must(td.Dict("b")).SetNames("", "time"))
	require.NoError(t, td.SetNames("row"))
	zeros := tensor.Must(td.NewZeros(td.Shape()...))
	require.Equal(t, []string{"row"}, zeros.Names())
	require.Equal(t, []string{"row", "time"}, tensor.Must(zeros.Dict("b")).Names())
	require.Equal(t, make([]int64, 12), values(t, zeros, "a"))
	require.Equal(t, []string{"", ""}, tensor.Must(td.NewZeros(3, 1)).Names())
	require.Equal(t, []string{"", "", ""}, tensor.Must(tensor.Must(td.NewZeros(3, 1)).Dict("b")).Names())
}
