package tensor_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/naive"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMap2IsNaive compares Map2 and Map3 with loops over elements, on operands of any layout and
// memory and of shapes that broadcast. The calls are in row-major order.
func TestMap2IsNaive(t *testing.T) {
	shapes := append(slices.Clone(testkit.Shapes), []int{3, 1, 2}, []int{300, 70}, []int{1, 17000})
	for _, shape := range shapes {
		for _, l := range testkit.Layouts {
			for i, m := range testkit.Memories {
				if i%2 == 1 && naive.Size(shape) > 1000 {
					continue
				}
				a := testkit.Make(t, tensor.Uint8, shape, l, m, 1)
				for _, of := range broadcasting(shape) {
					b := testkit.Make(t, tensor.Int64, of, testkit.Layouts[(i+1)%4], testkit.Memories[(i+2)%4], 2)
					c := testkit.Make(t, tensor.Bool, of, l, m, 3)
					checkMap2(t, a, b, c)
				}
			}
		}
	}
}

// broadcasting returns shapes that broadcast to a shape.
func broadcasting(shape []int) [][]int {
	all := [][]int{shape, {}}
	for dim := range shape {
		one := slices.Clone(shape)
		one[dim] = 1
		all = append(all, one, shape[dim:])
	}
	return all
}

func checkMap2(t *testing.T, a, b, c testkit.Specimen) {
	t.Helper()
	about := fmt.Sprint(a, b, c)
	xs := testkit.Elements[uint8](t, a.Tensor)
	ys := testkit.Elements[int64](t, tensor.Must(b.Expand(a.Shape()...)))
	zs := testkit.Elements[bool](t, tensor.Must(c.Expand(a.Shape()...)))
	calls := 0
	two, err := tensor.Map2(a.Tensor, b.Tensor, func(x uint8, y int64) int64 {
		if xs[calls] != x || ys[calls] != y {
			t.Fatalf("%s: call %d: got %v and %v", about, calls, x, y)
		}
		calls++
		return int64(x) - y
	})
	require.NoError(t, err, about)
	require.Equal(t, len(xs), calls, about)
	three, err := tensor.Map3(a.Tensor, b.Tensor, c.Tensor, func(x uint8, y int64, z bool) float64 {
		if z {
			return float64(x)
		}
		return -float64(y)
	})
	require.NoError(t, err, about)
	require.Equal(t, a.Shape(), two.Shape(), about)
	require.Equal(t, a.Shape(), three.Shape(), about)
	got2, got3 := testkit.Elements[int64](t, two), testkit.Elements[float64](t, three)
	for i := range xs {
		want := -float64(ys[i])
		if zs[i] {
			want = float64(xs[i])
		}
		if got2[i] != int64(xs[i])-ys[i] || got3[i] != want {
			t.Fatalf("%s: element %d: got %v and %v", about, i, got2[i], got3[i])
		}
	}
	for _, s := range []testkit.Specimen{a, b, c} {
		if lent, ok := s.Lender().(*testkit.Lender); ok {
			require.Zero(t, lent.Borrowed(), about)
		}
	}
}

// TestMapInto maps into memory that is there: of any layout, the tensor's own, and a part of that.
func TestMapInto(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		if s.DType() != tensor.Int64 || s.Expanded || s.ReadOnly {
			return
		}
		x := tensor.Must(tensor.Arange[int64](0, int64(s.Size()), 1))
		x = tensor.Must(x.Reshape(s.Shape()...))
		twice := tensor.Must(tensor.Map(x, func(v int64) int64 { return 2 * v }))
		after := s.Written(s.Array, testkit.Content(t, twice))
		require.NoError(t, tensor.MapInto(s.Tensor, x, func(v int64) int64 { return 2 * v }))
		require.Equal(t, after, s.Mem)
		back := tensor.Must(tensor.Map(twice, func(v int64) int64 { return -v }))
		after = s.Written(s.Array, testkit.Content(t, back))
		require.NoError(t, tensor.MapInto(s.Tensor, s.Tensor, func(v int64) int64 { return -v }), "itself")
		require.Equal(t, after, s.Mem)
	})
	x := tensor.Vector[uint8](1, 2, 3, 4)
	shifted := tensor.Must(x.Narrow(0, 1, 3))
	require.NoError(t, tensor.MapInto(shifted, tensor.Must(x.Narrow(0, 0, 3)), func(v uint8) uint8 { return 10 * v }))
	require.Equal(t, []uint8{1, 10, 20, 30}, testkit.Elements[uint8](t, x))
	dst := tensor.Must(tensor.Zeros[bool](4))
	require.NoError(t, tensor.MapInto(dst, x, func(v uint8) bool { return v > 15 }))
	require.Equal(t, "bool [4]\n[false false  true  true]", dst.String())
}

// A panicking is a call of Map or one of its kin with a function that panics with v when it is
// given the element 1.
type panicking struct {
	name string
	run  func(x *tensor.Tensor, v any) error
}

var panickings = []panicking{
	{"map", func(x *tensor.Tensor, v any) error {
		return testkit.Err(tensor.Map(x, func(e uint8) uint8 { return panicAt1(e, v) }))
	}},
	{"map2", func(x *tensor.Tensor, v any) error {
		return testkit.Err(tensor.Map2(x, tensor.Scalar(1.5), func(e uint8, _ float64) uint8 { return panicAt1(e, v) }))
	}},
	{"map2 of alike", func(x *tensor.Tensor, v any) error {
		return testkit.Err(tensor.Map2(x, x, func(e, _ uint8) uint8 { return panicAt1(e, v) }))
	}},
	{"map3", func(x *tensor.Tensor, v any) error {
		return testkit.Err(tensor.Map3(x, x, tensor.Scalar(true), func(e, _ uint8, _ bool) uint8 { return panicAt1(e, v) }))
	}},
	{"map into", func(x *tensor.Tensor, v any) error {
		return tensor.MapInto(x, x, func(e uint8) uint8 { return panicAt1(e, v) })
	}},
}

func panicAt1(e uint8, v any) uint8 {
	if e == 1 {
		panic(v)
	}
	return e + 1
}

// TestMapPanics: a panic is an error that says where, what and by whom, and nothing has changed.
func TestMapPanics(t *testing.T) {
	mine := errors.New("mine")
	for _, p := range panickings {
		for name, x := range map[string]*tensor.Tensor{
			"element [3 1]":                tensor.Must(tensor.Zeros[uint8](5, 2)),
			"element []":                   tensor.Scalar[uint8](0),
			"element [1 3]":                tensor.Must(tensor.Must(tensor.Zeros[uint8](5, 2)).Transpose(0, 1)),
			"element [250 3 77]":           tensor.Must(tensor.Zeros[uint8](300, 4, 100)),
			"element [77 250 2]":           tensor.Must(tensor.Must(tensor.Zeros[uint8](3, 300, 100)).Permute(2, 1, 0)),
			"element [2 0 4999]":           tensor.Must(tensor.Must(tensor.Zeros[uint8](3, 2, 2*20000)).Index(ix.All, ix.All, ix.Range(1, ix.End).Step(2))),
			"element [6]":                  lentZeros(7),
			"element [1 0 0 0 0 0 0 0 19]": tensor.Must(tensor.Zeros[uint8](2, 1, 1, 1, 1, 1, 1, 1, 20)),
		} {
			t.Run(p.name+"/"+name, func(t *testing.T) {
				var at []ix.Index
				for _, i := range positionIn(t, name, len(x.Shape())) {
					at = append(at, ix.At(i))
				}
				require.NoError(t, x.SetIndex(tensor.Scalar[uint8](1), at...))
				before := testkit.Content(t, x)
				err := p.run(x, mine)
				require.EqualError(t, err, name+": panic: mine")
				require.ErrorIs(t, err, mine)
				caught, ok := errors.AsType[*workers.PanicError](err)
				require.True(t, ok)
				require.Contains(t, string(caught.Stack), "panicAt1", "the stack leads to the panic")
				require.EqualError(t, p.run(x, 42), name+": panic: 42")
				require.True(t, slices.Equal(before, testkit.Content(t, x)), "nothing has changed")
				if lent, ok := x.Lender().(*testkit.Lender); ok {
					require.Zero(t, lent.Borrowed())
				}
			})
		}
	}
}

func lentZeros(n int) *tensor.Tensor {
	return tensor.Must(tensor.FromLender(tensor.Uint8, &testkit.Lender{Bytes: make([]byte, n)}, 0, n))
}

// positionIn reads a position out of a text.
func positionIn(t *testing.T, text string, dims int) []int {
	at := make([]int, dims)
	args := make([]any, dims)
	format := "element ["
	for i := range at {
		args[i] = &at[i]
		format += "%d "
	}
	if dims > 0 {
		format = format[:len(format)-1]
	}
	_, err := fmt.Sscanf(text, format+"]", args...)
	require.NoError(t, err)
	return at
}

// TestMapRuntimePanics: what the language panics with is an error too.
func TestMapRuntimePanics(t *testing.T) {
	x := tensor.Vector[int32](2, 1, 0)
	_, err := tensor.Map(x, func(v int32) int32 { return 10 / v })
	require.EqualError(t, err, "element [2]: panic: runtime error: integer divide by zero")
	var p *int32
	lent := tensor.Must(tensor.FromLender(tensor.Int32, &testkit.Lender{Bytes: make([]byte, 8)}, 0, 2))
	for _, x := range []*tensor.Tensor{x, lent} {
		_, err = tensor.Map2(x, x, func(v, _ int32) int32 { return *p })
		require.EqualError(t, err, "element [0]: panic: runtime error: invalid memory address or nil pointer dereference")
	}
}

func TestMapRefuses(t *testing.T) {
	type X = *tensor.Tensor
	var none X
	fresh := func() X { return tensor.Vector[int32](1, 2, 3) }
	state := func(t testing.TB, x X) string { return fmt.Sprint(testkit.Content(t, x)) }
	never := func(int32) int32 { panic("called") }
	never2 := func(int32, int32) int32 { panic("called") }
	never3 := func(int32, int32, int32) int32 { panic("called") }
	badBool := func(x, y int32, z bool) int32 { return x }
	meta := tensor.Must(tensor.NewMeta(tensor.Int32, 3))
	locked := tensor.Must(tensor.FromLender(tensor.Int32, &testkit.Lender{Bytes: make([]byte, 12), Locked: true}, 0, 3))
	closed := tensor.Must(tensor.FromLender(tensor.Int32, &testkit.Lender{Fail: io.ErrClosedPipe}, 0, 3))
	testkit.Refuse(t, fresh, state, []testkit.Refusal[X]{
		{"map nil", func(x X) error { return testkit.Err(tensor.Map(none, never)) }, tensor.ErrKind},
		{"map by nil", func(x X) error { return testkit.Err(tensor.Map[int32, int32](x, nil)) }, tensor.ErrKind},
		{"map of another dtype", func(x X) error { return testkit.Err(tensor.Map(tensor.Vector(1.5), never)) }, tensor.ErrDType},
		{"map what is on meta", func(x X) error { return testkit.Err(tensor.Map(meta, never)) }, tensor.ErrMeta},
		{"map into nil", func(x X) error { return tensor.MapInto(none, x, never) }, tensor.ErrKind},
		{"map nil into", func(x X) error { return tensor.MapInto(x, none, never) }, tensor.ErrKind},
		{"map by nil into", func(x X) error { return tensor.MapInto[int32, int32](x, x, nil) }, tensor.ErrKind},
		{"map into another dtype", func(x X) error { return tensor.MapInto(tensor.Vector[int64](1, 2, 3), x, never) }, tensor.ErrDType},
		{"map into another shape", func(x X) error { return tensor.MapInto(x, tensor.Vector[int32](1), never) }, shapeops.ErrShape},
		{"map into read-only memory", func(x X) error { return tensor.MapInto(locked, x, never) }, tensor.ErrReadOnly},
		{"map into an expanded tensor", func(x X) error { return tensor.MapInto(tensor.Must(tensor.Vector[int32](1).Expand(3)), x, never) }, tensor.ErrLayout},
		{"map into meta", func(x X) error { return tensor.MapInto(meta, x, never) }, tensor.ErrMeta},
		{"map from what is gone", func(x X) error { return tensor.MapInto(x, closed, never) }, io.ErrClosedPipe},
		{"map2 nil", func(x X) error { return testkit.Err(tensor.Map2(none, x, never2)) }, tensor.ErrKind},
		{"map2 with nil", func(x X) error { return testkit.Err(tensor.Map2(x, none, never2)) }, tensor.ErrKind},
		{"map2 by nil", func(x X) error { return testkit.Err(tensor.Map2[int32, int32, int32](x, x, nil)) }, tensor.ErrKind},
		{"map2 of another dtype", func(x X) error { return testkit.Err(tensor.Map2(tensor.Vector(1.5), x, never2)) }, tensor.ErrDType},
		{"map2 with another dtype", func(x X) error { return testkit.Err(tensor.Map2(x, tensor.Vector(1.5), never2)) }, tensor.ErrDType},
		{"map2 with what does not broadcast", func(x X) error { return testkit.Err(tensor.Map2(x, tensor.Vector[int32](1, 2), never2)) }, shapeops.ErrShape},
		{"map2 with what is larger", func(x X) error {
			return testkit.Err(tensor.Map2(x, tensor.Must(tensor.Zeros[int32](2, 3)), never2))
		}, shapeops.ErrShape},
		{"map2 what is on meta", func(x X) error { return testkit.Err(tensor.Map2(meta, x, never2)) }, tensor.ErrMeta},
		{"map2 with what is on meta", func(x X) error { return testkit.Err(tensor.Map2(x, meta, never2)) }, tensor.ErrMeta},
		{"map2 with what is gone", func(x X) error { return testkit.Err(tensor.Map2(x, closed, never2)) }, io.ErrClosedPipe},
		{"map3 with nil", func(x X) error { return testkit.Err(tensor.Map3(x, x, none, never3)) }, tensor.ErrKind},
		{"map3 by nil", func(x X) error { return testkit.Err(tensor.Map3[int32, int32, int32, int32](x, x, x, nil)) }, tensor.ErrKind},
		{"map3 with what does not broadcast", func(x X) error { return testkit.Err(tensor.Map3(x, x, tensor.Vector[int32](1, 2), never3)) }, shapeops.ErrShape},
		{"map3 with a byte that is no bool", func(x X) error {
			return testkit.Err(tensor.Map3(x, x, tensor.Must(tensor.FromBytes(tensor.Bool, []byte{0, 1, 9}, 3)), badBool))
		}, tensor.ErrDType},
		{"map3 with far bytes that are no bools", func(x X) error {
			b := tensor.Must(tensor.FromBytes(tensor.Bool, append(make([]byte, 40000), 9, 8), 2, 20001))
			y := tensor.Must(tensor.Zeros[int32](20001, 2))
			return testkit.Err(tensor.Map3(y, y, tensor.Must(b.Transpose(0, 1)), badBool))
		}, tensor.ErrDType},
	})
}

// TestMapKeepsErrors: a panic with an error of this package is told as a panic.
func TestMapKeepsErrors(t *testing.T) {
	x := tensor.Vector(true, false)
	_, err := tensor.Map2(x, x, func(a, b bool) bool { panic(fmt.Errorf("mine: %w", tensor.ErrDType)) })
	require.EqualError(t, err, "element [0]: panic: mine: dtype mismatch")
	require.ErrorIs(t, err, tensor.ErrDType)
}

// TestMapOfLentAsksOnce: each lender is asked once whether its memory was all there.
func TestMapOfLentAsksOnce(t *testing.T) {
	a, b := intactLender(nil), intactLender(nil)
	sum := func(x, y uint8) uint8 { return x + y }
	require.NoError(t, testkit.Err(tensor.Map2(a.x, b.x, sum)))
	require.Equal(t, []int{1, 1}, []int{a.Asked(), b.Asked()})
	b.Cut = errors.New("cut")
	require.ErrorIs(t, testkit.Err(tensor.Map2(a.x, b.x, sum)), b.Cut)
	require.Zero(t, a.Borrowed()+b.Borrowed())
	a.Refuse = errors.New("no")
	require.ErrorIs(t, tensor.MapInto(a.x, tensor.Must(tensor.Zeros[uint8](3, 2)), func(v uint8) uint8 { return v + 7 }), a.Refuse)
	require.Equal(t, uint8(1), a.Bytes[0])
}
