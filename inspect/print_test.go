package inspect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// printed returns the lines of Print.
func printed(t testing.TB, td *tdict.TensorDict, opt inspect.PrintOptions) []string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, inspect.Print(&b, td, opt))
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// wide returns a dictionary with so many leaves side by side, in dictionaries of an equal number.
func wide(t testing.TB, dicts, leaves int) *tdict.TensorDict {
	t.Helper()
	td := tdict.New()
	x := tensor.Scalar(float32(1))
	for i := range dicts {
		in := tdict.New()
		for j := range leaves {
			require.NoError(t, in.Set(nestedkey.Key(fmt.Sprintf("leaf%d", j)), x))
		}
		require.NoError(t, td.Set(nestedkey.Key(fmt.Sprintf("dict%d", i)), in))
	}
	return td
}

// A class is printed, quoted where it would command a terminal.
func TestPrintClass(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("in/x", tensor.Vector[int8](1, 2)))
	require.NoError(t, tensor.Must(td.Dict("in")).SetClass("my.Frame"))
	var b strings.Builder
	require.NoError(t, inspect.Print(&b, td, inspect.PrintOptions{Depth: 1}))
	require.Equal(t, "dictionary [2], 1 leaf, 2 B\n  in: dictionary [2], 1 leaf, 2 B, class my.Frame\n", b.String())

	other := td.Copy()
	require.NoError(t, tensor.Must(other.Dict("in")).SetClass(""))
	for d, err := range inspect.Differences(t.Context(), td, other, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}) {
		require.NoError(t, err)
		require.Equal(t, `"in": class "my.Frame", other class ""`, d.String())
	}
}

func TestPrint(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("b", tensor.Must(tensor.New(tensor.Float64, 2, 700))))
	require.NoError(t, td.Set("a/deep/x", tensor.Must(tensor.NewMeta(tensor.Int8, 2, 3))))
	require.NoError(t, td.Set(nestedkey.Of("red\x1b[31m\nnext"), tensor.Must(tdict.NewData("no", 2))))
	require.NoError(t, td.Set("u", tensor.Must(tdict.NewUnbatched(tensor.Vector[int64](1, 2)))))
	require.NoError(t, td.SetNames("time"))
	tests := []struct {
		name string
		opt  inspect.PrintOptions
		want string
	}{
		{"all", inspect.PrintOptions{}, `dictionary [2], 4 leaves, 11.2 kB, dims ["time"]
  b: float64 [2 700], 11.2 kB, in memory
  a: dictionary [2], 1 leaf, 6 B, dims ["time"]
    deep: dictionary [2], 1 leaf, 6 B, dims ["time"]
      x: int8 [2 3], 6 B, nowhere
  "red\x1b[31m\nnext": data [2]
  u: unbatched int64 [2], 16 B, in memory`},
		{"sorted, bytes", inspect.PrintOptions{Sort: true, Bytes: true}, `dictionary [2], 4 leaves, 11206 B, dims ["time"]
  a: dictionary [2], 1 leaf, 6 B, dims ["time"]
    deep: dictionary [2], 1 leaf, 6 B, dims ["time"]
      x: int8 [2 3], 6 B, nowhere
  b: float64 [2 700], 11200 B, in memory
  "red\x1b[31m\nnext": data [2]
  u: unbatched int64 [2], 16 B, in memory`},
		{"depth", inspect.PrintOptions{Depth: 1}, `dictionary [2], 4 leaves, 11.2 kB, dims ["time"]
  b: float64 [2 700], 11.2 kB, in memory
  a: dictionary [2], 1 leaf, 6 B, dims ["time"]
  "red\x1b[31m\nnext": data [2]
  u: unbatched int64 [2], 16 B, in memory`},
		{"few rows", inspect.PrintOptions{Rows: 3}, `dictionary [2], 4 leaves, 11.2 kB, dims ["time"]
  b: float64 [2 700], 11.2 kB, in memory
  a: dictionary [2], 1 leaf, 6 B, dims ["time"]
  ... 2 more`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, strings.Join(printed(t, td, tt.opt), "\n"))
		})
	}
}

// TestPrintFitsAScreen has more leaves than lines, in every arrangement.
func TestPrintFitsAScreen(t *testing.T) {
	for _, shape := range [][2]int{{1, 10_000}, {100, 100}, {10_000, 1}, {3, 12}, {0, 0}} {
		td := wide(t, shape[0], shape[1])
		for _, rows := range []int{0, 1, 2, 7, 40} {
			got := printed(t, td, inspect.PrintOptions{Rows: rows})
			limit := rows
			if rows == 0 {
				limit = 40
			}
			require.LessOrEqual(t, len(got), limit+1)
			require.GreaterOrEqual(t, len(got), min(limit, shape[0]*(shape[1]+1))+1, "room is used")
		}
		require.Len(t, printed(t, td, inspect.PrintOptions{Rows: -1}), 1+shape[0]*(1+shape[1]))
	}
	got := printed(t, wide(t, 1, 10_000), inspect.PrintOptions{})
	require.Equal(t, "    ... 9,962 more", got[len(got)-1])
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("the pipe is closed")

func TestPrintErrors(t *testing.T) {
	require.ErrorIs(t, inspect.Print(full{}, tdict.New(), inspect.PrintOptions{}), errFull)
	testkit.Fails(t, tdict.ErrKind, inspect.Print(full{}, nil, inspect.PrintOptions{}))
}
