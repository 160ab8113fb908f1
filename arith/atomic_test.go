package arith_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// many elements are more than an operation works on at once.
const many = 5000

// badAtLast returns bools the last of which is the byte 7.
func badAtLast() tens {
	raw := make([]byte, many)
	raw[many-1] = 7
	for i := range raw[:many-1] {
		raw[i] = byte(i % 2)
	}
	return tensor.Must(tensor.Must(tensor.From(raw, many)).Reinterpret(tensor.Bool))
}

// goodBools returns bools, the first of them false.
func goodBools() tens {
	return tensor.Must(arith.NotEqual(tensor.Must(arith.Mod(numbers(0, many), 2)), 0))
}

// filled returns a tensor of one value.
func filled[T tensor.Elem](v T, shape ...int) tens { return tensor.Must(tensor.Full(v, shape...)) }

// lastIs returns numbers from 1 to 9, but for the last, which is v.
func lastIs[T int8 | int64](v T) tens {
	s := make([]T, many)
	for i := range s {
		s[i] = T(1 + i%9)
	}
	s[many-1] = v
	return tensor.Must(tensor.From(s, many))
}

// pair returns a dictionary of two leaves, the second of which is mostly what is wrong.
func pair(batch []int, a, b tens) *tdict.TensorDict { return dict(batch, entry{"a", a}, entry{"b", b}) }

// tensorsOf returns the leaves of dictionaries.
func tensorsOf(tds ...*tdict.TensorDict) (all []tens) {
	for _, td := range tds {
		for _, x := range td.Tensors() {
			all = append(all, x)
		}
	}
	return all
}

// A deed is an operation on memory that is there, and the tensors that must be as they were if it
// fails.
type deed struct {
	all []tens
	do  func() error
}

// bools returns a deed from a good leaf and a bad one into two of true.
func bools(into func(dst, x *tdict.TensorDict) error) func() deed {
	return func() deed {
		x := pair([]int{many}, goodBools(), badAtLast())
		dst := pair([]int{many}, filled(true, many), filled(true, many))
		return deed{tensorsOf(dst, x), func() error { return into(dst, x) }}
	}
}

// alone returns a deed of one tensor in place.
func alone(make func() tens, in func(x tens) error) func() deed {
	return func() deed {
		x := make()
		return deed{[]tens{x}, func() error { return in(x) }}
	}
}

// onto returns a deed of tensors into another.
func onto(make func() (dst tens, xs []tens), into func(dst tens, xs []tens) error) func() deed {
	return func() deed {
		dst, xs := make()
		return deed{append([]tens{dst}, xs...), func() error { return into(dst, xs) }}
	}
}

// TestVerbsAreAtomic: an operation that fails late has changed nothing of memory that is there,
// neither the elements before nor the leaves before.
func TestVerbsAreAtomic(t *testing.T) {
	addCMul := func() (tens, []tens) {
		return filled[int8](9, many), []tens{filled[int8](1, many), filled[int8](2, many), lastIs[int8](64)}
	}
	most := func() tens { return lastIs[int64](math.MaxInt64) }
	twoColumns := func() tens { return columns[int64](1, math.MaxInt64, 2, 1, 3, -1) }
	tests := []struct {
		name string
		deed func() deed
		want error
	}{
		{"a product beyond int8", onto(addCMul, func(dst tens, xs []tens) error {
			return arith.AddCMulInto(dst, xs[0], xs[1], xs[2])
		}), tensor.ErrDType},
		{"a product beyond int8, in place", onto(addCMul, func(_ tens, xs []tens) error {
			return arith.AddCMulInto(xs[0], xs[0], xs[1], xs[2])
		}), tensor.ErrDType},
		{"a product beyond int8, into a factor", onto(addCMul, func(_ tens, xs []tens) error {
			return arith.AddCMulInto(xs[2], xs[0], xs[1], xs[2])
		}), tensor.ErrDType},
		{"a sum beyond int8 of a product within", onto(addCMul, func(dst tens, xs []tens) error {
			return arith.AddCMulInto(dst, xs[2], xs[0], tensor.Scalar[int8](64))
		}), tensor.ErrDType},
		{"a product beyond int8, in a dictionary", func() deed {
			x := pair([]int{many}, filled[int8](1, many), lastIs[int8](64))
			dst := pair([]int{many}, filled[int8](9, many), filled[int8](9, many))
			return deed{tensorsOf(dst, x), func() error { return arith.AddCMulInto(dst, x, x, 2) }}
		}, tensor.ErrDType},
		{"an integer by zero, in place", alone(func() tens { return lastIs[int64](0) }, func(x tens) error {
			return arith.FloorDivInto(x, x, lastIs[int64](0))
		}), arith.ErrDivide},

		{"not of a bad byte", bools(arith.NotInto[*tdict.TensorDict]), tensor.ErrDType},
		{"not of a bad byte, in place", bools(func(_, x *tdict.TensorDict) error { return arith.NotInto(x, x) }), tensor.ErrDType},
		{"xor with a bad byte", bools(func(dst, x *tdict.TensorDict) error { return arith.XorInto(dst, x, true) }), tensor.ErrDType},
		{"a bad byte compared", bools(func(dst, x *tdict.TensorDict) error { return arith.NotEqualInto(dst, x, x) }), tensor.ErrDType},

		{"running sums beyond int64", onto(func() (tens, []tens) { return filled[int64](99, 3, 2), []tens{twoColumns()} },
			func(dst tens, xs []tens) error { return arith.CumSumInto(dst, xs[0], arith.Dims(0)) }), tensor.ErrDType},
		{"running sums beyond int64, in place", alone(twoColumns, func(x tens) error {
			return arith.CumSumInto(x, x, arith.Dims(0))
		}), tensor.ErrDType},
		{"running sums beyond int64, at the end", alone(most, func(x tens) error {
			return arith.CumSumInto(x, x, arith.Dims(0))
		}), tensor.ErrDType},
		{"running sums beyond int64, in a dictionary", func() deed {
			td := pair([]int{3}, numbers(1, 3), twoColumns())
			return deed{tensorsOf(td), func() error { return arith.CumSumInto(td, td, arith.Dims(0)) }}
		}, tensor.ErrDType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tt.deed()
			before := contents(t, d.all)
			require.ErrorIs(t, d.do(), tt.want)
			for i, was := range contents(t, d.all) {
				require.Equal(t, before[i], was, "tensor %d", i)
			}
		})
	}
}

// contents returns the bytes of tensors, bools or not.
func contents(t *testing.T, all []tens) (out [][]byte) {
	t.Helper()
	for _, x := range all {
		if x.DType() == tensor.Bool {
			x = tensor.Must(x.Reinterpret(tensor.Uint8))
		}
		out = append(out, testkit.Content(t, x))
	}
	return out
}

// TestClassifyingLooksAtNoBool: what a byte is says nothing about whether it is NaN or finite.
func TestClassifyingLooksAtNoBool(t *testing.T) {
	for _, tt := range []struct {
		name string
		into func(dst, x *tdict.TensorDict) error
		is   byte
	}{
		{"is nan", arith.IsNaNInto[*tdict.TensorDict], 0},
		{"is finite", arith.IsFiniteInto[*tdict.TensorDict], 1},
	} {
		x := pair([]int{many}, goodBools(), badAtLast())
		dst := pair([]int{many}, goodBools(), goodBools())
		before := contents(t, tensorsOf(x))
		require.NoError(t, tt.into(dst, x), tt.name)
		require.Equal(t, before, contents(t, tensorsOf(x)), tt.name)
		for _, got := range contents(t, tensorsOf(dst)) {
			require.Len(t, got, many)
			for i, v := range got {
				require.Equal(t, tt.is, v, "%s: element %d", tt.name, i)
			}
		}
	}
}
