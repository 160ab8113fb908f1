package arith_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestReduceOnMeta: on device meta the operations make the dtypes and shapes that they make of
// elements.
func TestReduceOnMeta(t *testing.T) {
	overs := []arith.Over{arith.Whole, arith.Dims(0), arith.Features.Keep(), bySplits(0, 1, 3), arith.Dims(0).Where(mask3)}
	for _, d := range []tensor.DType{tensor.Bool, tensor.Uint8, tensor.BFloat16, tensor.Complex64} {
		x := tensor.Must(tensor.New(d, 3, 2))
		for _, v := range reducers {
			for _, over := range overs {
				want, err := v.of(x, over)
				got, failed := v.of(tensor.Must(x.ToMeta()), over)
				require.Equal(t, err == nil, failed == nil, v.name)
				if err == nil {
					require.Equal(t, tensor.Meta, got.Device())
					require.Equal(t, fmt.Sprint(want.DType(), want.Shape()), fmt.Sprint(got.DType(), got.Shape()), v.name)
				}
			}
		}
	}
	big := tensor.Must(tensor.NewMeta(tensor.Float32, 1<<40))
	testkit.MaxBytes(t, 1<<16, func() {
		require.Equal(t, tensor.Meta, tensor.Must(arith.Sum(big, arith.Whole)).Device())
		require.Equal(t, tensor.Meta, tensor.Must(arith.CumSum(big, arith.Dims(0))).Device())
	})
}

// TestReduceAllocates little: nothing for each element, line or group.
func TestReduceAllocates(t *testing.T) {
	small, large := numbers(0, 10, 4), numbers(0, 1000, 400)
	floats := tensor.Must(large.Cast(tensor.Float32))
	splits := make([]int64, 1001)
	for i := range splits {
		splits[i] = int64(i)
	}
	for name, test := range map[string]struct {
		most float64
		op   func() error
	}{
		"small":  {60, func() error { return testkit.Err(arith.Sum(small, arith.Whole)) }},
		"lines":  {120, func() error { return testkit.Err(arith.Sum(floats, arith.Dims(1))) }},
		"rows":   {160, func() error { return testkit.Err(arith.Mean(large, arith.Dims(0))) }},
		"groups": {160, func() error { return testkit.Err(arith.Max(large, bySplits(splits...))) }},
	} {
		got := testing.AllocsPerRun(20, func() {
			if err := test.op(); err != nil {
				t.Fatal(err)
			}
		})
		require.LessOrEqual(t, got, test.most, name)
	}
	few := tensor.Must(tensor.New(tensor.Float32, 4, 8)) // lists of its rows are as short as they may be
	testkit.MaxBytes(t, 4<<10, func() { _ = tensor.Must(arith.Sum(few, arith.Dims(0))) })
	lentFloats := lent(tensor.Float32, &testkit.Lender{Bytes: make([]byte, 4<<20)}, 1024, 1024)
	for _, over := range []arith.Over{arith.Whole, arith.Dims(0), arith.Dims(1), arith.Dims(0).Where(tensor.Must(tensor.Full(true, 1024)))} {
		testkit.MaxBytes(t, 1<<19, func() { _ = tensor.Must(arith.Sum(lentFloats, over)) })
	}
	stepped := tensor.Must(tensor.Must(tensor.New(tensor.Float32, 8<<20)).Index(ix.Range(0, ix.End).Step(2)))
	testkit.MaxBytes(t, 20<<20, func() { _ = tensor.Must(arith.Sum(stepped, arith.Whole)) })
}

// FuzzReduce checks operations on arbitrary bytes: each result equals the result for a contiguous
// copy in Go memory without the elements that do not count, or in sums of floating-point numbers
// with 0 in their place, and errors are classified.
func FuzzReduce(f *testing.F) {
	f.Add([]byte("some bytes to add up"), []byte{1, 0, 1}, uint8(12), uint8(3), uint8(2), uint8(0), uint8(2), false)
	f.Add([]byte{0xff, 0x7f, 0, 0x80}, []byte{1, 1}, uint8(3), uint8(2), uint8(1), uint8(8), uint8(0), true)
	f.Fuzz(func(t *testing.T, data, bits []byte, kind, rows, wide, verb, split uint8, turned bool) {
		dtypes := tensor.DTypes()
		d, n, w := dtypes[int(kind)%len(dtypes)], int(rows%100), int(wide%40)
		v := reducers[int(verb)%len(reducers)]
		mem := make([]byte, n*w*d.Size()+1)
		copy(mem, data)
		for i := range mem {
			if d == tensor.Bool {
				mem[i] &= 1
			}
		}
		x := tensor.Must(tensor.FromBytes(d, mem[1:], n, w))
		if turned {
			x = tensor.Must(tensor.Must(tensor.FromBytes(d, mem[1:], w, n)).Permute(1, 0))
		}
		flags, chosen := make([]bool, n), []int{}
		for i := range flags {
			if flags[i] = i >= len(bits) || bits[i]%2 == 1; flags[i] {
				chosen = append(chosen, i)
			}
		}
		over := arith.Dims(0)
		got, err := v.of(x, over.Where(tensor.Vector(flags...)))
		compact, failed := x.Index(ix.Take(chosen...))
		require.NoError(t, failed)
		want, failed := v.of(tensor.Must(compact.Clone()), over)
		classified(t, err)
		classified(t, failed)
		require.Equal(t, failed == nil, err == nil, "%v, %v", failed, err)
		oneBlock := n <= 64 || !slices.Contains([]string{"sum", "mean", "norm", "var", "std"}, v.name)
		if err == nil && oneBlock && v.name != "arg min" && v.name != "arg max" {
			requireBits(t, want.Shape(), anysOf(t, want), got, v.name)
		}
		if err == nil && v.name == "sum" && d != tensor.Bool {
			want := tensor.Must(arith.Sum(tensor.Must(arith.Where(tensor.Vector(flags...), x, 0)), over))
			requireBits(t, want.Shape(), anysOf(t, want), got, v.name)
		}
		at := int64(int(split) % (n + 1))
		groups, err := v.of(x, bySplits(0, at, int64(n)))
		if classified(t, err); err != nil {
			return
		}
		first, err := v.of(tensor.Must(x.Index(ix.Range(0, int(at)))), over)
		require.NoError(t, err)
		requireBits(t, first.Shape(), anysOf(t, first), tensor.Must(groups.Index(ix.At(0))), v.name)
	})
}

func classified(t *testing.T, err error) {
	t.Helper()
	for _, known := range []error{nil, tensor.ErrDType, arith.ErrEmpty, shapeops.ErrShape} {
		if errors.Is(err, known) {
			return
		}
	}
	t.Fatal(err)
}
