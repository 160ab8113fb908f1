package ix_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops/ix"
)

func TestTextForm(t *testing.T) {
	tests := []struct {
		name, text string
		want       []ix.Index
	}{
		{"the empty expression", "", nil},
		{"all, rest, new", ":, ..., new", []ix.Index{ix.All, ix.Rest, ix.New}},
		{"a number drops the dim", "-1, 0", []ix.Index{ix.At(-1), ix.At(0)}},
		{"a range", "1:3", []ix.Index{ix.Range(1, 3)}},
		{"a range to the end", "-4:", []ix.Index{ix.Range(-4, ix.End)}},
		{"a range with a step", "0:9:2", []ix.Index{ix.Range(0, 9).Step(2)}},
		{"a take", "[0, 2, -5]", []ix.Index{ix.Take(0, 2, -5)}},
		{"an empty take", "[]", []ix.Index{ix.Take([]int{}...)}},
		{"an arranged take", "[0, 1, 2, 3]@2x2", []ix.Index{ix.TakeND([]int{0, 1, 2, 3}, 2, 2)}},
		{"a mask", "mask[TFT]", []ix.Index{ix.Mask([]bool{true, false, true})}},
		{"a mask of no bits", "mask[]", []ix.Index{ix.Mask(nil)}},
		{"a mask over two dims", "mask[TFFT]@2x2", []ix.Index{ix.Mask([]bool{true, false, false, true}, 2, 2)}},
		{"a mask over none", "mask[T]@, mask[F]@", []ix.Index{ix.Bool(true), ix.Bool(false)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.text, ix.Format(tt.want...))
			got, err := ix.Parse(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestParseOtherSpellings(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"NumPy's names of a new dim", "None,newaxis", "new, new"},
		{"an open range with a step", "::2", "0::2"},
		{"spaces", "  1 : 3 ,-1 ", "1:3, -1"},
		{"spaces within a list", "[1 2,3]", "[1, 2, 3]"},
		{"a take without dims is a number", "[3]@", "3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ix.Parse(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.want, ix.Format(got...))
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a word", "1, x", `index syntax: part 1, " x": want a number, START:STOP, [0, 2], mask[TF], ":", "..." or "new"`},
		{"nothing between commas", "1,,2", `index syntax: part 1, "": want a number, START:STOP, [0, 2], mask[TF], ":", "..." or "new"`},
		{"words in a range", "a:b", `index syntax: part 0, "a:b": want numbers, as in START:STOP or START:STOP:STEP`},
		{"a word in a list", "[0, b]", `index syntax: part 0, "[0, b]": want numbers, as in [0, 2]`},
		{"a word in a shape", "[0]@b", `index syntax: part 0, "[0]@b": want numbers after the @, as in @2x3`},
		{"three colons", "1:2:3:4", `index syntax: part 0, "1:2:3:4": a range has at most two colons`},
		{"a step of zero", "::0", `index syntax: part 0, "::0": a step must be greater than zero`},
		{"a step backwards", "::-1", `index syntax: part 0, "::-1": a step must be greater than zero: use Flip or Take to go backwards`},
		{"an open bracket", "[1, 2", `index syntax: part 0, "[1, 2": got no closing bracket`},
		{"a shape that does not fit", "[1, 2]@3", `index syntax: part 0, "[1, 2]@3": the positions of a take do not fill its shape`},
		{"a shape that overflows", "[]@9223372036854775807x3", `index syntax: part 0, "[]@9223372036854775807x3": the positions of a take do not fill its shape`},
		{"a letter in a mask", "mask[TX]", `index syntax: part 0, "mask[TX]": got 'X' in a mask, want T or F`},
		{"a mask that does not fit", "mask[TT]@", `index syntax: part 0, "mask[TT]@": the bits of a mask do not fill its shape`},
		{"words after a bracket", "[1]x", `index syntax: part 0, "[1]x": got "x" after the bracket, want a shape such as @2x3`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ix.Parse(tt.text)
			require.ErrorIs(t, err, ix.ErrSyntax)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestCheck(t *testing.T) {
	for _, good := range []ix.Index{ix.All, ix.At(1), ix.All.Step(2), ix.Take(), ix.TakeND(nil, 0, 3), ix.Bool(false)} {
		require.NoError(t, good.Check(), good.String())
	}
	tests := []struct {
		name string
		x    ix.Index
		want string
	}{
		{"a step on a number", ix.At(1).Step(2), "only a range has a step"},
		{"a step of zero", ix.Range(0, 3).Step(0), "a step must be greater than zero"},
		{"a take that does not fill its shape", ix.TakeND([]int{1}, 2), "the positions of a take do not fill its shape"},
		{"a take without a position", ix.TakeND(nil), "the positions of a take do not fill its shape"},
		{"a mask that does not fill its shape", ix.Mask([]bool{true}, 2), "the bits of a mask do not fill its shape"},
		{"a negative shape", ix.Mask(nil, -1), "the bits of a mask do not fill its shape"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.EqualError(t, tt.x.Check(), tt.want)
			require.Equal(t, "bad index: "+tt.want, tt.x.String())
		})
	}
}

func TestAccessors(t *testing.T) {
	require.Equal(t, ix.KindAll, ix.Index{}.Kind(), "the zero Index is All")
	require.Equal(t, -2, ix.At(-2).Position())
	start, stop, step := ix.Range(1, 7).Step(3).Bounds()
	require.Equal(t, []int{1, 7, 3}, []int{start, stop, step})
	require.Equal(t, []int{0, 3}, ix.Mask([]bool{true, false, false, true}, 2, 2).List(), "row-major positions")
	require.Equal(t, []int{3}, ix.Take(1, 2, 3).Shape())
	require.Equal(t, ix.KindAt, ix.TakeND([]int{4}).Kind())
}

// FuzzParse checks that what parses prints as a text that parses to the same expression.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1:3, -1", "..., new", "[1, 2]@2x1, mask[TF]", "mask[]@0x3", "::2", "[]@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		expr, err := ix.Parse(text)
		if err != nil {
			require.ErrorIs(t, err, ix.ErrSyntax)
			return
		}
		again, err := ix.Parse(ix.Format(expr...))
		require.NoError(t, err)
		require.Equal(t, expr, again)
	})
}

// An index keeps none of the caller's shapes, nor the bits of a mask.
func TestIndexKeepsNoShape(t *testing.T) {
	shape, other, bits := []int{2, 2}, []int{2, 1}, []bool{true, false}
	take, mask := ix.TakeND([]int{0, 1, 2, 3}, shape...), ix.Mask(bits, other...)
	shape[0], other[0], bits[1] = 7, 9, true
	require.Equal(t, []int{2, 2}, take.Shape())
	require.Equal(t, []int{2, 1}, mask.Shape())
	require.Equal(t, []int{2, 2, 1}, []int{take.Rank(), mask.Rank(), ix.Take(1).Rank()})
	require.Equal(t, ix.TakeND([]int{0, 1, 2, 3}, 2, 2), take)
	require.Equal(t, ix.Mask([]bool{true, false}, 2, 1), mask)
}
