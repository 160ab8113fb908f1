package tensor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// pairwise is the kernel that adds bytes up.
var pairwise = &tensor.Kernel{
	Op: "add",
	Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
		return xs[0].DType(), xs[0].Shape(), nil
	},
	Elements: func(b *tensor.Block) error {
		for i := range b.Dst {
			b.Dst[i] = b.Src[0].Bytes[i]
		}
		return nil
	},
}

// operations are those of a tensor of shape [4 3 2].
var operations = map[string]func(x *tensor.Tensor) (*tensor.Tensor, error){
	"at":               func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Index(ix.At(1)) },
	"range":            func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Index(ix.Range(0, 4).Step(2), ix.New) },
	"list":             func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Index(ix.All, ix.Take(2, 0, 0, 1)) },
	"lists apart":      func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Index(ix.Take(1, 0), ix.All, ix.Take(1, 1)) },
	"mask":             func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Index(tensor.Must(rowMask().AsMask())) },
	"masked select":    func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.MaskedSelect(rowMask()) },
	"reshape":          func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Reshape(6, 4) },
	"reshape a turned": func(x *tensor.Tensor) (*tensor.Tensor, error) { return tensor.Must(x.Permute(2, 1, 0)).Reshape(-1) },
	"permute":          func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Permute(2, 0, 1) },
	"transpose":        func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Transpose(0, 2) },
	"movedim":          func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Movedim(0, 2) },
	"squeeze":          func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Squeeze() },
	"unsqueeze":        func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Unsqueeze(1) },
	"flatten":          func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Flatten(0, 1) },
	"unflatten":        func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Unflatten(0, 2, 2) },
	"expand":           func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Expand(5, 4, 3, 2) },
	"narrow":           func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Narrow(0, 1, 2) },
	"at least":         func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.AtLeast(x, 5) },
	"unfold":           func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Unfold(x, 0, 2, 1) },
	"window": func(x *tensor.Tensor) (*tensor.Tensor, error) {
		return shapeops.Window(x, tensor.Vector[int64](0, 1, 0, 1), []int{1}, []int{2})
	},
	"flip":        func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Flip(x, 0, 2) },
	"roll":        func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Roll(x, 0, 1) },
	"rot90":       func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Rot90(x, 0, 1, 1) },
	"repeat":      func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Repeat(x, 2, 1, 3) },
	"tile":        func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Tile(x, 2) },
	"interleave":  func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.RepeatInterleave(x, 0, 2) },
	"repeat each": func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.RepeatEach(x, 0, []int{0, 2, 1, 1}) },
	"gather": func(x *tensor.Tensor) (*tensor.Tensor, error) {
		return x.Gather(0, tensor.Must(tensor.Zeros[int64](2, 3, 2)))
	},
	"take":            func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Take(1, tensor.Vector[int64](2, 0)) },
	"pad":             func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Pad(7, 1, 2, 0, 1) },
	"cast":            func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Cast(tensor.Float64) },
	"cast to its own": func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Cast(x.DType()) },
	"clone":           func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Clone() },
	"contiguous":      func(x *tensor.Tensor) (*tensor.Tensor, error) { return tensor.Must(x.Transpose(0, 1)).Contiguous() },
	"reinterpret":     func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Reinterpret(tensor.Uint8) },
	"kernel":          func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Ops().Leafwise(pairwise, 1) },
	"stack":           func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Stack([]*tensor.Tensor{x, x}, 1) },
	"cat":             func(x *tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Cat([]*tensor.Tensor{x, x, x}, 0) },
	"pad sequence": func(x *tensor.Tensor) (*tensor.Tensor, error) {
		return shapeops.PadSequence([]*tensor.Tensor{x, tensor.Must(x.Narrow(0, 0, 2))}, shapeops.PadSequenceOptions{})
	},
	"split": func(x *tensor.Tensor) (*tensor.Tensor, error) { return tensor.Must(shapeops.Split(x, 0, 1, 3))[1], nil },
	"tensor split": func(x *tensor.Tensor) (*tensor.Tensor, error) {
		return tensor.Must(shapeops.TensorSplit(x, 0, 3))[0], nil
	},
	"unbind":  func(x *tensor.Tensor) (*tensor.Tensor, error) { return tensor.Must(shapeops.Unbind(x, 2))[1], nil },
	"to meta": func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.ToMeta() },
}

func rowMask() *tensor.Tensor { return tensor.Vector(true, false, true, true) }

// TestMetaShapes: an operation on device meta makes the dtype and shape that it makes of elements,
// on that device.
func TestMetaShapes(t *testing.T) {
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			for _, d := range []tensor.DType{tensor.Uint8, tensor.Float32} {
				want := tensor.Must(op(tensor.Must(tensor.New(d, 4, 3, 2))))
				got, err := op(tensor.Must(tensor.NewMeta(d, 4, 3, 2)))
				require.NoError(t, err)
				require.Equal(t, tensor.Meta, got.Device())
				require.Equal(t, want.DType(), got.DType())
				require.Equal(t, want.Shape().Clone(), got.Shape().Clone())
			}
		})
	}
}

// TestMetaTakesNoMemory plans with more elements than any machine has.
func TestMetaTakesNoMemory(t *testing.T) {
	const n = 1 << 40
	testkit.MaxBytes(t, 1<<16, func() {
		x := tensor.Must(tensor.NewMeta(tensor.Float32, n))
		y := tensor.Must(shapeops.Stack([]*tensor.Tensor{x, x}, 0))
		y = tensor.Must(tensor.Must(y.Transpose(0, 1)).Reshape(-1))
		y = tensor.Must(tensor.Must(y.Cast(tensor.Float64)).Clone())
		y = tensor.Must(y.Index(ix.Range(0, ix.End).Step(2)))
		y = tensor.Must(tensor.Must(y.Contiguous()).Ops().Leafwise(pairwise))
		y = tensor.Must(shapeops.Repeat(tensor.Must(y.Pad(0, 1, 1)), 2))
		y = tensor.Must(y.Reinterpret(tensor.Uint8))
		require.Equal(t, shapeops.Shape{(n + 2) * 16}, y.Shape().Clone())
		require.Contains(t, fmt.Sprint(y), "uint8")
	})
}

// TestMetaHasNoElements: what wants elements says that there are none, and writes none.
func TestMetaHasNoElements(t *testing.T) {
	real := tensor.Vector[int64](1, 2)
	wants := map[string]func(x *tensor.Tensor) error{
		"of":         func(x *tensor.Tensor) error { return testkit.Err(tensor.Of[int64](tensor.Must(x.Contiguous()))) },
		"read":       func(x *tensor.Tensor) error { return tensor.Read(x, func([]int64) { panic("read") }) },
		"write":      func(x *tensor.Tensor) error { return tensor.Write(x, func([]int64) { panic("written") }) },
		"item":       func(x *tensor.Tensor) error { return testkit.Err(tensor.Item[int64](tensor.Must(x.Narrow(0, 0, 1)))) },
		"elements":   func(x *tensor.Tensor) error { return testkit.Err(tensor.Elements[int64](x)) },
		"map":        func(x *tensor.Tensor) error { return testkit.Err(tensor.Map(x, func(v int64) int64 { return v })) },
		"diff":       func(x *tensor.Tensor) error { return testkit.Err(x.Diff(real)) },
		"diff other": func(x *tensor.Tensor) error { return testkit.Err(real.Diff(x)) },
		"all close": func(x *tensor.Tensor) error {
			return testkit.Err(x.AllClose(real, tensor.Tolerance{Relative: 1, Absolute: 1}))
		},
		"copy to":    func(x *tensor.Tensor) error { return x.CopyFrom(real) },
		"copy from":  func(x *tensor.Tensor) error { return real.CopyFrom(x) },
		"set index":  func(x *tensor.Tensor) error { return x.SetIndex(tensor.Scalar[int64](9), ix.At(0)) },
		"set from":   func(x *tensor.Tensor) error { return real.SetIndex(x, ix.All) },
		"index into": func(x *tensor.Tensor) error { return x.IndexInto(real, ix.Take(1, 0)) },
		"index to":   func(x *tensor.Tensor) error { return real.IndexInto(x, ix.Take(1, 0)) },
		"stack into": func(x *tensor.Tensor) error {
			return shapeops.CatInto(tensor.Must(tensor.Zeros[int64](4)), []*tensor.Tensor{real, x}, 0)
		},
		"ints":          func(x *tensor.Tensor) error { return testkit.Err(x.Ints()) },
		"as index":      func(x *tensor.Tensor) error { return testkit.Err(x.AsIndex()) },
		"kernel into":   func(x *tensor.Tensor) error { return real.Ops().LeafwiseInto(real, pairwise, x) },
		"kernel to":     func(x *tensor.Tensor) error { return real.Ops().LeafwiseInto(x, pairwise) },
		"flip in place": func(x *tensor.Tensor) error { return shapeops.FlipInto(x, x, 0) },
		"scatter":       func(x *tensor.Tensor) error { return x.Scatter(0, tensor.Vector[int64](0), tensor.Vector[int64](1)) },
		"as a scalar": func(x *tensor.Tensor) error {
			return testkit.Err(tensor.ScalarOf(tensor.Int64, tensor.Must(x.Narrow(0, 0, 1))))
		},
		"write to": func(x *tensor.Tensor) error { return testkit.Err(x.WriteTo(discard{})) },
		"mask": func(x *tensor.Tensor) error {
			return testkit.Err(real.MaskedSelect(tensor.Must(tensor.NewMeta(tensor.Bool, 2))))
		},
	}
	for name, want := range wants {
		t.Run(name, func(t *testing.T) {
			for _, x := range []*tensor.Tensor{
				tensor.Must(tensor.NewMeta(tensor.Int64, 2)),
				tensor.Must(tensor.Must(tensor.NewMeta(tensor.Int64, 4)).Index(ix.Range(0, 4).Step(2))),
			} {
				require.NotPanics(t, func() { require.ErrorIs(t, want(x), tensor.ErrMeta) })
			}
			require.Equal(t, []int64{1, 2}, testkit.Elements[int64](t, real))
		})
	}
	x := tensor.Must(real.ToMeta())
	require.False(t, x.Equal(real) || real.Equal(x))
	require.False(t, x.SharesMemory(real) || x.SharesMemory(tensor.Must(x.ToMeta())))
}

// TestMetaMapTakesNoMemory: Map says that there is nothing to map before it makes room for it.
func TestMetaMapTakesNoMemory(t *testing.T) {
	x := tensor.Must(tensor.NewMeta(tensor.Int64, 1<<20))
	testkit.MaxBytes(t, 1<<16, func() { _ = testkit.Err(tensor.Map(x, func(v int64) int64 { return v })) })
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// TestMetaPrints: formatting and JSON tell what is there, or fail without a panic.
func TestMetaPrints(t *testing.T) {
	x := tensor.Must(tensor.NewMeta(tensor.Float32, 2, 3))
	for _, format := range []string{"%v", "%+v", "%s"} {
		require.Contains(t, fmt.Sprintf(format, x), "float32 [2 3]")
	}
	require.NotPanics(t, func() { _ = x.LogValue().String() })
	if _, err := json.Marshal(x); err != nil {
		require.ErrorIs(t, err, tensor.ErrMeta)
	}
}

func TestMaterialize(t *testing.T) {
	x := tensor.Must(tensor.Must(tensor.NewMeta(tensor.Int16, 2, 3)).Permute(1, 0))
	zeros := tensor.Must(x.Materialize())
	require.Equal(t, tensor.CPU, zeros.Device())
	require.True(t, zeros.Equal(tensor.Must(tensor.Zeros[int16](3, 2))))
	require.Same(t, zeros, tensor.Must(zeros.Materialize()))
	require.Equal(t, shapeops.Shape{4, 2}, tensor.Must(tensor.Must(tensor.Must(tensor.Zeros[int8](1, 2)).Expand(4, 2)).ToMeta()).Shape().Clone())
	require.ErrorIs(t, testkit.Err(tensor.NewMeta(0, 2)), tensor.ErrDType)
	require.ErrorIs(t, testkit.Err(tensor.NewMeta(tensor.Int8, -1)), shapeops.ErrShape)
	require.ErrorIs(t, testkit.Err(new(tensor.Tensor).ToMeta()), tensor.ErrDType)
	both := errors.Join(testkit.Err(x.Pad(70_000, 1, 0)), testkit.Err(x.Index(ix.At(3))))
	require.ErrorIs(t, both, tensor.ErrDType, "what elements would not take is refused without them")
	require.ErrorIs(t, both, shapeops.ErrIndex)
}
