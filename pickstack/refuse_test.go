package pickstack_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

var errGone = errors.New("gone")

// A call is what a plan is given, with what it would write.
type call struct {
	plan    *pickstack.Plan
	xs, dxs []*tensor.Tensor
	out, g  *tensor.Tensor
}

// newCall returns one that is as it should be: a plan that pools x_0 [2 3 2] and passes x_1 [2 4 1]
// on.
func newCall() *call {
	pools := list(poolsOf(tensor.Int64, [][]int{{0, 1}, {}, {2, 2}, {1}}), nil)
	filled := func(v float64, shape ...int) *tensor.Tensor {
		x := tensor.Must(tensor.Full(float32(v), shape...))
		return x
	}
	return &call{
		tensor.Must(pickstack.NewPool(pools, []int{3, 4}, pickstack.PoolOptions{MinValue: new(-1.0)})),
		list(filled(1, 2, 3, 2), filled(2, 2, 4, 1)), list(filled(3, 2, 3, 2), filled(4, 2, 4, 1)),
		filled(5, 2, 4, 3), filled(6, 2, 4, 3),
	}
}

// state shows what could have changed.
func (c *call) state(t testing.TB) string {
	var b []byte
	for _, x := range append(append(list(c.out, c.g), c.xs...), c.dxs...) {
		if x != nil && x.Device() == tensor.CPU && x.Size() > 0 {
			if y, err := x.Clone(); err == nil { // else its memory is gone
				b = append(b, testkit.Content(t, y)...)
			}
		}
	}
	return fmt.Sprint(b)
}

func forward(c *call) error    { return c.plan.ForwardInto(c.out, c.xs...) }
func gradientOf(c *call) error { return c.plan.GradientInto(c.dxs, c.g, c.xs...) }
func add(c *call) error        { return c.plan.AddGradient(c.dxs, c.g, c.xs...) }

// A fault is something wrong with a call.
type fault struct {
	name string
	make func(c *call)
	want error
}

func f32(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Zeros[float32](shape...)) }

// inputFaults are about the inputs.
var inputFaults = []fault{
	{"the zero plan", func(c *call) { c.plan = &pickstack.Plan{} }, tensor.ErrKind},
	{"too few inputs", func(c *call) { c.xs = c.xs[:1] }, shapeops.ErrShape},
	{"too many inputs", func(c *call) { c.xs = append(c.xs, f32(2, 4, 1)) }, shapeops.ErrShape},
	{"no inputs", func(c *call) { c.xs = nil }, shapeops.ErrShape},
	{"a nil input", func(c *call) { c.xs[1] = nil }, tensor.ErrKind},
	{"a zero input", func(c *call) { c.xs[1] = &tensor.Tensor{} }, tensor.ErrDType},
	{"an input of two dims", func(c *call) { c.xs[0] = f32(3, 2) }, shapeops.ErrDim},
	{"an input of four dims", func(c *call) { c.xs[1] = f32(2, 4, 1, 1) }, shapeops.ErrDim},
	{"an input of fewer rows", func(c *call) { c.xs[0] = f32(2, 2, 2) }, shapeops.ErrShape},
	{"an input of more rows", func(c *call) { c.xs[1] = f32(2, 5, 1) }, shapeops.ErrShape},
	{"an input of another batch", func(c *call) { c.xs[1] = f32(1, 4, 1) }, shapeops.ErrShape},
	{"an input of another dtype", func(c *call) { c.xs[1] = tensor.Must(tensor.Zeros[float64](2, 4, 1)) }, tensor.ErrDType},
	{"inputs of integers", func(c *call) {
		c.xs = list(tensor.Must(tensor.Zeros[int32](2, 3, 2)), tensor.Must(tensor.Zeros[int32](2, 4, 1)))
	}, tensor.ErrDType},
	{"inputs of complex numbers", func(c *call) {
		c.xs = list(tensor.Must(tensor.Zeros[complex64](2, 3, 2)), tensor.Must(tensor.Zeros[complex64](2, 4, 1)))
	}, tensor.ErrDType},
	{"an input on device meta", func(c *call) { c.xs[0] = tensor.Must(c.xs[0].ToMeta()) }, tensor.ErrMeta},
	{"an input whose memory is gone", func(c *call) { c.xs[0] = gone(tensor.Float32, 2, 3, 2) }, errGone},
}

// half returns a tensor in a part of a buffer of 100, from element at on.
func half(buffer *tensor.Tensor, at int, shape ...int) *tensor.Tensor {
	n := shape[0] * shape[1] * shape[2]
	return tensor.Must(tensor.Must(buffer.Narrow(0, at, n)).Reshape(shape...))
}

// outFaults are about the output.
var outFaults = []fault{
	{"a nil output", func(c *call) { c.out = nil }, tensor.ErrKind},
	{"an output of fewer rows", func(c *call) { c.out = f32(2, 3, 3) }, shapeops.ErrShape},
	{"an output of more channels", func(c *call) { c.out = f32(2, 4, 4) }, shapeops.ErrShape},
	{"an output of another batch", func(c *call) { c.out = f32(1, 4, 3) }, shapeops.ErrShape},
	{"an output of two dims", func(c *call) { c.out = f32(8, 3) }, shapeops.ErrDim},
	{"an output of another dtype", func(c *call) { c.out = tensor.Must(tensor.Zeros[float64](2, 4, 3)) }, tensor.ErrDType},
	{"an output of integers", func(c *call) { c.out = tensor.Must(tensor.Zeros[int32](2, 4, 3)) }, tensor.ErrDType},
	{"an expanded output", func(c *call) { c.out = tensor.Must(f32(1, 4, 3).Expand(2, 4, 3)) }, tensor.ErrLayout},
	{"an output on device meta", func(c *call) { c.out = tensor.Must(c.out.ToMeta()) }, tensor.ErrMeta},
	{"a read-only output", func(c *call) { c.out = readOnly(2, 4, 3) }, tensor.ErrReadOnly},
	{"an input that is not aligned", func(c *call) { c.xs[1] = unaligned(2, 4, 1) }, tensor.ErrLayout},
	{"an output that is not aligned", func(c *call) { c.out = unaligned(2, 4, 3) }, tensor.ErrLayout},
	{"an output that must not be touched", func(c *call) { c.out = lent(&testkit.Lender{Refuse: errGone}, 2, 4, 3) }, errGone},
	{"an output whose memory is gone", func(c *call) { c.out = gone(tensor.Float32, 2, 4, 3) }, errGone},
	{"an output that is an input", func(c *call) { c.xs[1] = tensor.Must(c.out.Narrow(2, 1, 1)) }, tensor.ErrOverlap},
	{"an output that begins in an input", func(c *call) {
		b := f32(100)
		c.out, c.xs[0] = half(b, 11, 2, 4, 3), half(b, 0, 2, 3, 2)
	}, tensor.ErrOverlap},
	{"an output that ends in an input", func(c *call) {
		b := f32(100)
		c.out, c.xs[1] = half(b, 0, 2, 4, 3), half(b, 23, 2, 4, 1)
	}, tensor.ErrOverlap},
}

func readOnly(shape ...int) *tensor.Tensor { return lent(&testkit.Lender{Locked: true}, shape...) }

// lent returns zeros that l lends.
func lent(l *testkit.Lender, shape ...int) *tensor.Tensor {
	l.Bytes = make([]byte, 400)
	return tensor.Must(tensor.FromLender(tensor.Float32, l, 0, shape...))
}

func unaligned(shape ...int) *tensor.Tensor {
	n := 4 * shape[0] * shape[1] * shape[2]
	b := make([]byte, n+8)
	x := tensor.Must(tensor.FromBytes(tensor.Float32, b[1:n+1], shape...))
	if tensor.Write(x, func([]float32) {}) == nil { // the slice itself was odd
		return tensor.Must(tensor.FromBytes(tensor.Float32, b[2:n+2], shape...))
	}
	return x
}

// gradientFaults are about g and dxs.
var gradientFaults = []fault{
	{"a nil gradient", func(c *call) { c.g = nil }, tensor.ErrKind},
	{"a gradient of two dims", func(c *call) { c.g = f32(8, 3) }, shapeops.ErrDim},
	{"a gradient of fewer rows", func(c *call) { c.g = f32(2, 3, 3) }, shapeops.ErrShape},
	{"a gradient of fewer channels", func(c *call) { c.g = f32(2, 4, 2) }, shapeops.ErrShape},
	{"a gradient of another batch", func(c *call) { c.g = f32(1, 4, 3) }, shapeops.ErrShape},
	{"a gradient of another dtype", func(c *call) { c.g = tensor.Must(tensor.Zeros[float64](2, 4, 3)) }, tensor.ErrDType},
	{"a gradient on device meta", func(c *call) { c.g = tensor.Must(c.g.ToMeta()) }, tensor.ErrMeta},
	{"a gradient whose memory is gone", func(c *call) { c.g = gone(tensor.Float32, 2, 4, 3) }, errGone},
	{"too few destinations", func(c *call) { c.dxs = c.dxs[:1] }, shapeops.ErrShape},
	{"too many destinations", func(c *call) { c.dxs = append(c.dxs, nil) }, shapeops.ErrShape},
	{"a destination of fewer rows", func(c *call) { c.dxs[0] = f32(2, 2, 2) }, shapeops.ErrShape},
	{"a destination of another dtype", func(c *call) { c.dxs[1] = tensor.Must(tensor.Zeros[float64](2, 4, 1)) }, tensor.ErrDType},
	{"an expanded destination", func(c *call) { c.dxs[1] = tensor.Must(f32(1, 4, 1).Expand(2, 4, 1)) }, tensor.ErrLayout},
	{"a read-only destination", func(c *call) { c.dxs[1] = readOnly(2, 4, 1) }, tensor.ErrReadOnly},
	{"a destination on device meta", func(c *call) { c.dxs[1] = tensor.Must(c.dxs[1].ToMeta()) }, tensor.ErrMeta},
	{"a destination that is not aligned", func(c *call) { c.dxs[1] = unaligned(2, 4, 1) }, tensor.ErrLayout},
	{"a destination that must not be touched", func(c *call) { c.dxs[1] = lent(&testkit.Lender{Refuse: errGone}, 2, 4, 1) }, errGone},
	{"a destination whose memory is gone", func(c *call) { c.dxs[1] = gone(tensor.Float32, 2, 4, 1) }, errGone},
	{"a destination that is its input", func(c *call) { c.dxs[0] = c.xs[0] }, tensor.ErrOverlap},
	{"a destination that is another input", func(c *call) {
		c.dxs[0] = f32(100)
		b := c.dxs[0]
		c.dxs[0], c.xs[1] = half(b, 0, 2, 3, 2), half(b, 11, 2, 4, 1)
	}, tensor.ErrOverlap},
	{"a destination within the gradient", func(c *call) { c.dxs[1] = tensor.Must(c.g.Narrow(2, 0, 1)) }, tensor.ErrOverlap},
	{"destinations that overlap", func(c *call) {
		b := f32(100)
		c.dxs = list(half(b, 0, 2, 3, 2), half(b, 11, 2, 4, 1))
	}, tensor.ErrOverlap},
}

// TestCallRefusals: what a plan cannot do changes nothing.
func TestCallRefusals(t *testing.T) {
	for _, op := range []struct {
		name   string
		run    func(c *call) error
		faults [][]fault
	}{
		{"forward", forward, [][]fault{inputFaults, outFaults}},
		{"gradient", gradientOf, [][]fault{inputFaults, gradientFaults}},
		{"add", add, [][]fault{inputFaults, gradientFaults}},
	} {
		for _, faults := range op.faults {
			for _, f := range faults {
				t.Run(op.name+"/"+f.name, func(t *testing.T) {
					c := newCall()
					f.make(c)
					testkit.Unchanged(t, c, func(t testing.TB, c *call) string { return c.state(t) }, func() { testkit.Fails(t, f.want, op.run(c)) })
				})
			}
		}
	}
}

// TestCallWithoutDestinationRefusals: the same inputs and gradients are refused where new tensors
// are returned.
func TestCallWithoutDestinationRefusals(t *testing.T) {
	for _, f := range inputFaults {
		t.Run("forward/"+f.name, func(t *testing.T) {
			c := newCall()
			f.make(c)
			out, err := c.plan.Forward(c.xs...)
			require.ErrorIs(t, err, f.want)
			require.Nil(t, out)
		})
	}
	for _, f := range append(inputFaults, gradientFaults[:8]...) {
		t.Run("gradient/"+f.name, func(t *testing.T) {
			c := newCall()
			f.make(c)
			dxs, err := c.plan.Gradient(c.g, c.xs...)
			require.ErrorIs(t, err, f.want)
			require.Nil(t, dxs)
		})
	}
}

// TestApart: parts of one buffer that share no element are no overlap.
func TestApart(t *testing.T) {
	c := newCall()
	b := f32(200)
	c.out, c.xs[0], c.xs[1] = half(b, 12, 2, 4, 3), half(b, 0, 2, 3, 2), half(b, 36, 2, 4, 1)
	c.dxs, c.g = list(half(b, 50, 2, 3, 2), half(b, 62, 2, 4, 1)), half(b, 70, 2, 4, 3)
	require.NoError(t, forward(c))
	require.NoError(t, gradientOf(c))
	require.NoError(t, add(c))
	wide := f32(2, 4, 7) // columns of one tensor
	c.out, c.xs[1] = tensor.Must(wide.Narrow(2, 0, 3)), tensor.Must(wide.Narrow(2, 3, 1))
	require.NoError(t, forward(c))
	c.xs[0], c.dxs[0], c.dxs[1] = f32(2, 3, 2), f32(2, 3, 2), tensor.Must(wide.Narrow(2, 4, 1))
	require.NoError(t, gradientOf(c))
	// What is only read may overlap.
	c.xs[1], c.g = tensor.Must(wide.Narrow(2, 0, 1)), tensor.Must(wide.Narrow(2, 0, 3))
	require.NoError(t, gradientOf(c))
}

// TestOverlapThatIsNotWanted: an input whose gradient is not wanted may be anything else's.
func TestOverlapThatIsNotWanted(t *testing.T) {
	c := newCall()
	c.dxs[0] = nil
	require.NoError(t, gradientOf(c))
	c.dxs[1] = nil
	require.NoError(t, add(c))
}

// TestGradientOnMeta: where only shapes of inputs matter they may be on device meta.
func TestGradientOnMeta(t *testing.T) {
	for seed := range uint64(30) {
		d := newDrawer(seed + 4000)
		p := d.problem(one(d, list(ways()[0], ways()[3], ways()[4])), tensor.Float32)
		p.opt.MinValue = nil
		metas := p.inputs()
		for n, x := range metas {
			metas[n] = tensor.Must(x.ToMeta())
		}
		plan := p.plan(t, tensor.Int64)
		dxs, err := plan.Gradient(dense(p.dtype, p.out(), p.g), metas...)
		require.NoError(t, err)
		p.sameGradient(t, dxs, nil)
		if p.batch*p.rows*p.width() > 0 { // where nothing is read, nothing is missing
			require.ErrorIs(t, testkit.Err(plan.Forward(metas...)), tensor.ErrMeta)
		}
	}
}
