package arith_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
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

// scalars returns a deed from two leaves into two scalars, of the dtype and with the value of old.
func scalars[T tensor.Elem](old T, a, b tens, into func(dst, x *tdict.TensorDict) error) func() deed {
	return func() deed {
		x, dst := pair(nil, a, b), pair(nil, filled(old), filled(old))
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
	over := func(o arith.Over, into func(dst, x *tdict.TensorDict, o arith.Over) error) func(_, _ *tdict.TensorDict) error {
		return func(dst, x *tdict.TensorDict) error { return into(dst, x, o) }
	}
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

		{"a sum beyond int64", scalars[int64](99, numbers(0, many), tensor.Vector[int64](math.MaxInt64, 1, 0),
			over(arith.Whole, arith.SumInto[*tdict.TensorDict])), tensor.ErrDType},
		{"a sum beyond int64 of the last elements", scalars[int64](99, numbers(0, many), most(),
			over(arith.Whole, arith.SumInto[*tdict.TensorDict])), tensor.ErrDType},
		{"a group whose sum is beyond int64", onto(func() (tens, []tens) {
			return tensor.Vector[int64](99, 99), []tens{tensor.Vector[int64](1, 2, math.MaxInt64, 1)}
		}, func(dst tens, xs []tens) error { return arith.SumInto(dst, xs[0], bySplits(0, 2, 4)) }), tensor.ErrDType},
		{"a sum by a mask with a bad byte", onto(func() (tens, []tens) {
			return filled[int64](99), []tens{numbers(0, many), badAtLast()}
		}, func(dst tens, xs []tens) error {
			return arith.SumInto(dst, xs[0], arith.Whole.Where(xs[1]))
		}), tensor.ErrDType},
		{"a sum of floats by a mask with a bad byte", onto(func() (tens, []tens) {
			return filled[float32](99), []tens{filled[float32](1, many), badAtLast()}
		}, func(dst tens, xs []tens) error {
			return arith.SumInto(dst, xs[0], arith.Whole.Where(xs[1]))
		}), tensor.ErrDType},
		{"sums of rows by a mask with a bad byte", onto(func() (tens, []tens) {
			return filled[float32](99, many), []tens{filled[float32](1, many, 3), badAtLast()}
		}, func(dst tens, xs []tens) error {
			return arith.SumInto(dst, xs[0], arith.Dims(1).Where(xs[1]))
		}), tensor.ErrDType},
		{"sums by masks of which the second has a bad byte", func() deed {
			x, dst := pair([]int{many}, filled[float32](1, many), filled[float32](1, many)), pair(nil, filled[float32](99), filled[float32](99))
			masks := pair([]int{many}, goodBools(), badAtLast())
			return deed{tensorsOf(dst, x, masks), func() error { return arith.SumInto(dst, x, arith.Whole.Where(masks)) }}
		}, tensor.ErrDType},
		{"all of a bad byte", scalars(true, goodBools(), badAtLast(), over(arith.Whole, arith.AllInto[*tdict.TensorDict])), tensor.ErrDType},
		{"sums of rows with gaps by a mask with a bad byte", onto(func() (tens, []tens) {
			gaps := tensor.Must(filled[float32](1, many, 6).Index(ix.All, ix.All.Step(2)))
			return filled[float32](99, many), []tens{gaps, badAtLast()}
		}, func(dst tens, xs []tens) error {
			return arith.SumInto(dst, xs[0], arith.Dims(1).Where(xs[1]))
		}), tensor.ErrDType},
		{"all of rows, the last with a bad byte", onto(func() (tens, []tens) {
			return filled(true, many/10), []tens{tensor.Must(badAtLast().Reshape(many/10, 10))}
		}, func(dst tens, xs []tens) error { return arith.AllInto(dst, xs[0], arith.Dims(1)) }), tensor.ErrDType},
		{"the least of no integer", scalars[int64](99, numbers(0, many), numbers(0, 0), over(arith.Whole, arith.MinInto[*tdict.TensorDict])), arith.ErrEmpty},
		{"the least of a group of no integer", onto(func() (tens, []tens) {
			return tensor.Vector[int64](99, 99, 99), []tens{numbers(3, many)}
		}, func(dst tens, xs []tens) error { return arith.MinInto(dst, xs[0], bySplits(0, many, many, many)) }), arith.ErrEmpty},

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
		{"groups that do not ascend", onto(func() (tens, []tens) { return filled[int64](99, 2), []tens{numbers(0, 3)} },
			func(dst tens, xs []tens) error { return arith.SumInto(dst, xs[0], bySplits(0, 4, 3)) }), shapeops.ErrShape},
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
