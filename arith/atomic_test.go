package arith_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
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

// TestVerbsAreAtomic: an operation that fails late has changed nothing of memory that is there,
// neither the elements before nor the leaves before.
func TestVerbsAreAtomic(t *testing.T) {
	bytes, ones, twos, odd := filled[int8](9, many), filled[int8](1, many), filled[int8](2, many), lastIs[int8](64)
	good, late := pair([]int{many}, ones, odd), pair([]int{many}, bytes, filled[int8](9, many))
	bits, marks := pair([]int{many}, goodBools(), badAtLast()), pair([]int{many}, filled(true, many), filled(true, many))
	zero, most, sums := lastIs[int64](0), lastIs[int64](math.MaxInt64), filled[int64](99, 3, 2)
	two := columns[int64](1, math.MaxInt64, 2, 1, 3, -1)
	nested := pair([]int{3}, numbers(1, 3), two)
	all := append(tensorsOf(good, late, bits, marks, nested), twos, zero, most, sums)
	before := contents(t, all)
	for _, tt := range []struct {
		name string
		err  error
		want error
	}{
		{"a product beyond int8", arith.AddCMulInto(bytes, ones, twos, odd), tensor.ErrDType},
		{"a product beyond int8, in place", arith.AddCMulInto(ones, ones, twos, odd), tensor.ErrDType},
		{"a product beyond int8, into a factor", arith.AddCMulInto(odd, ones, twos, odd), tensor.ErrDType},
		{"a sum beyond int8 of a product within", arith.AddCMulInto(bytes, odd, ones, tensor.Scalar[int8](64)), tensor.ErrDType},
		{"a product beyond int8, in a dictionary", arith.AddCMulInto(late, good, good, 2), tensor.ErrDType},
		{"an integer by zero, in place", arith.FloorDivInto(zero, zero, lastIs[int64](0)), arith.ErrDivide},
		{"not of a bad byte", arith.NotInto(marks, bits), tensor.ErrDType},
		{"not of a bad byte, in place", arith.NotInto(bits, bits), tensor.ErrDType},
		{"xor with a bad byte", arith.XorInto(marks, bits, true), tensor.ErrDType},
		{"a bad byte compared", arith.NotEqualInto(marks, bits, bits), tensor.ErrDType},
		{"running sums beyond int64", arith.CumSumInto(sums, two, arith.Dims(0)), tensor.ErrDType},
		{"running sums beyond int64, in place", arith.CumSumInto(two, two, arith.Dims(0)), tensor.ErrDType},
		{"running sums beyond int64, at the end", arith.CumSumInto(most, most, arith.Dims(0)), tensor.ErrDType},
		{"running sums beyond int64, in a dictionary", arith.CumSumInto(nested, nested, arith.Dims(0)), tensor.ErrDType},
	} {
		require.ErrorIs(t, tt.err, tt.want, tt.name)
	}
	require.Equal(t, before, contents(t, all))
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
