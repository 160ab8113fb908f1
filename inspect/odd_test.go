package inspect_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestDescribeOddLeaves has leaves without rows, masks of fewer dims than their leaves, and rows
// that are empty, nil or repeated.
func TestDescribeOddLeaves(t *testing.T) {
	must := func(err error) { t.Helper(); require.NoError(t, err) }
	inner := tdict.New(0, 3)
	must(inner.Set("x", tensor.Must(tensor.New(tensor.Float32, 0, 3, 2))))
	empty := tdict.New(0)
	must(empty.Set("in", inner))
	must(empty.Set("r", tensor.Must(ragged.From[int32]([][]int32{}))))
	must(empty.Set("t", tensor.Must(ragged.FromStrings(nil))))
	must(empty.Set("d", tensor.Must(tdict.DataFrom([]any{}, 0))))
	must(empty.Set("m", tensor.Must(tensor.New(tensor.Bool, 0))))

	deep := tdict.New(2, 3)
	must(deep.Set("x", tensor.Must(tensor.From([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2, 3, 2))))
	must(deep.Set("x_mask", tensor.Must(tensor.From([]bool{true, false, true, true, true, false}, 2, 3))))
	top := tdict.New(2)
	must(top.Set("in", deep))
	must(top.Set("m", tensor.Vector(false, true)))
	must(top.Set("wide", tensor.Must(tensor.Must(tensor.From([]uint64{1, math.MaxUint64}, 2, 1)).Expand(2, 5))))
	must(top.Set("t", tensor.Must(ragged.FromStrings([]string{"\xff\xfe", ""}))))
	must(top.Set("d", tensor.Must(tdict.DataFrom([]any{nil, nil}, 2))))
	must(top.Set("rr", tensor.Must(ragged.From[uint16]([][][]uint16{{{1}, {}}, {{3, 4}}}))))
	must(top.Set("none", tensor.Must(ragged.From[float32]([][]float32{{}, {}}))))

	scalar := tdict.New()
	must(scalar.Set("x", tensor.Must(tensor.Scalar(float32(1.5)).Cast(tensor.Float16))))
	must(scalar.Set("d", tensor.Must(tdict.NewData(nil))))
	must(scalar.Set("in/y", tensor.Scalar(complex64(complex(math.Inf(1), math.NaN())))))

	tests := []struct {
		name string
		td   *tdict.TensorDict
		opt  inspect.DescribeOptions
		want []string // key, column, Count, Missing, NaN, Zeros, Min, Max, Mean, lengths of rows
	}{
		{"no rows", empty, inspect.DescribeOptions{ByColumn: true, Mask: "m"}, []string{
			"in/x [0] 0 0 0 0 <nil> <nil> NaN", "in/x [1] 0 0 0 0 <nil> <nil> NaN",
			"r [] 0 0 0 0 <nil> <nil> NaN {0 0 0 NaN}", "t [] 0 0 0 0 <nil> <nil> NaN {0 0 0 NaN}",
			"d [] 0 0 0 0 <nil> <nil> NaN", "m [] 0 0 0 0 <nil> <nil> NaN",
		}},
		{"a mask of the batch of a nested dictionary", top, inspect.DescribeOptions{Keys: []nestedkey.Key{"in/x"}, Mask: "in/x_mask", ByColumn: true}, []string{
			"in/x [0] 4 2 0 0 1 9 5.5", "in/x [1] 4 2 0 0 2 10 6.5",
		}},
		{"a mask of the outer batch, keys of dictionaries", top, inspect.DescribeOptions{Mask: "m", Keys: []nestedkey.Key{"in", "wide", "d", "t", "rr", "none"}}, []string{
			"in/x [] 6 6 0 0 7 12 9.5", "in/x_mask [] 3 3 0 1 0 1 0.6666666666666666",
			"wide [] 5 5 0 0 18446744073709551615 18446744073709551615 1.8446744073709552e+19",
			"t [] 1 1 0 0 <nil> <nil> NaN {1 0 0 0}", "d [] 0 2 0 0 <nil> <nil> NaN",
			"rr [] 2 1 0 0 3 4 3.5 {1 2 2 2}", "none [] 0 1 0 0 <nil> <nil> NaN {1 0 0 0}",
		}},
		{"batch shape []", scalar, inspect.DescribeOptions{ByColumn: true}, []string{
			"x [] 1 0 0 0 1.5 1.5 1.5", "d [] 0 1 0 0 <nil> <nil> NaN", "in/y [] 1 0 1 0 <nil> <nil> NaN",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range describe(t, tt.td, tt.opt) {
				line := fmt.Sprint(s.Key, " ", s.Column, s.Count, s.Missing, s.NaN, s.Zeros, " ", s.Min, " ", s.Max, " ", s.Mean)
				if s.Rows != nil {
					line += fmt.Sprintf(" %v", *s.Rows)
				}
				got = append(got, line)
			}
			require.Equal(t, tt.want, got)
		})
	}
	_, err := inspect.Describe(context.Background(), top, inspect.DescribeOptions{Mask: "in"})
	require.ErrorIs(t, err, tensor.ErrDType, "a mask that is a dictionary")
	for _, td := range []*tdict.TensorDict{empty, top, scalar} {
		require.Empty(t, differences(t, td, tensor.Must(td.Clone()), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}))
	}
}

// TestDifferencesOfOddNumbers has infinite tolerances, and numbers without a distance.
func TestDifferencesOfOddNumbers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		name string
		a, b tdict.Value
		opt  inspect.DifferencesOptions
		want string // "" for none
	}{
		{"any distance", tensor.Vector(1, inf, -inf, nan, inf), tensor.Vector(2, inf, inf, 1, nan), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{Absolute: inf, EqualNaN: true}}, "3 elements differ: [2] is -Inf, other +Inf; [3] is NaN, other 1; [4] is +Inf, other NaN"},
		{"any distance from 0", tensor.Vector(1., 0), tensor.Vector(0., 1), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{Relative: inf, EqualNaN: true}}, "1 element differs: [0] is 1, other 0"},
		{"invalid UTF-8", tensor.Must(ragged.FromStrings([]string{"\xff", "a"})), tensor.Must(ragged.FromStrings([]string{"\xfe", "a"})), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}, `1 element differs: [0] is "\xff", other "\xfe"`},
		{"nil", tensor.Must(tdict.DataFrom([]any{nil, "a"}, 2)), tensor.Must(tdict.DataFrom([]any{nil, nil}, 2)), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}, `1 element differs: [1] is "a", other null`},
		{"NaN and infinity", tensor.Vector(complex(1, nan), complex(inf, nan)), tensor.Vector(complex(nan, 1), complex(inf, 0)), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}, "1 element differs: [1] is (+Inf+NaNi), other (+Inf+0i)"},
		{"float16", tensor.Must(tensor.Vector(1., 2).Cast(tensor.Float16)), tensor.Must(tensor.Vector(1., 2.5).Cast(tensor.Float16)), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{Absolute: 0.4, EqualNaN: true}}, "1 element differs: [1] is 2, other 2.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := differences(t, of(t, tt.a), of(t, tt.b), tt.opt)
			if tt.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Equal(t, `"x": `+tt.want, got[0].Text)
		})
	}
}

// TestOddStates has leaves of every kind that nothing can be read from any more, or that nobody
// waits for.
func TestOddStates(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.Save(path, kinds(t)))
	d, err := memmap.Open(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for key := range d.Leaves() {
		keys, ended := []nestedkey.Key{key}, 0
		_, err := inspect.Describe(ctx, d.TensorDict, inspect.DescribeOptions{Keys: keys})
		require.ErrorIs(t, err, context.Canceled, key)
		for _, err := range inspect.Differences(ctx, d.TensorDict, d.TensorDict, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}, Keys: keys}) {
			require.ErrorIs(t, err, context.Canceled, key)
			ended++
		}
		require.Equal(t, 1, ended, key)
	}
	td := d.TensorDict
	require.NoError(t, d.Close())
	_, err = inspect.Describe(context.Background(), td, inspect.DescribeOptions{})
	require.ErrorIs(t, err, memmap.ErrClosed)
	for _, err := range inspect.Differences(context.Background(), td, td, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}) {
		require.ErrorIs(t, err, memmap.ErrClosed)
	}
}

// TestDescribeRaggedFeatures hides rows of a ragged leaf whose values have features.
func TestDescribeRaggedFeatures(t *testing.T) {
	layout := tensor.Must(ragged.NewLayout(shapeops.Shape{3}, []int64{0, 1, 1, 3}))
	values := tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, float32(math.NaN())}, 3, 2))
	td := tdict.New(3)
	require.NoError(t, td.Set("r", tensor.Must(ragged.New(values, layout))))
	require.NoError(t, td.Set("r_mask", tensor.Vector(false, true, true)))
	got := describe(t, td, inspect.DescribeOptions{Keys: []nestedkey.Key{"r"}})[0]
	require.Equal(t, []any{4, 1, 1, 3., 5., 4.}, []any{got.Count, got.Missing, got.NaN, got.Min, got.Max, got.Mean})
	require.Equal(t, inspect.Lengths{Count: 2, Min: 0, Max: 2, Mean: 1}, *got.Rows)

	require.NoError(t, td.Set("r_mask", tensor.Must(ragged.New(tensor.Vector(true, false, true), layout))))
	got = describe(t, td, inspect.DescribeOptions{Keys: []nestedkey.Key{"r"}})[0]
	require.Equal(t, []any{4, 2, 1, 1., 5., 8. / 3}, []any{got.Count, got.Missing, got.NaN, got.Min, got.Max, got.Mean})
}

// TestDescribeBytes has masks of bytes: of the numbers, of rows, and of texts in lists.
func TestDescribeBytes(t *testing.T) {
	td := tdict.New(3)
	require.NoError(t, td.Set("bytes", tensor.Must(ragged.From[uint8]([][]uint8{{1, 2}, {}, {9}}))))
	require.NoError(t, td.Set("there", tensor.Must(ragged.From[bool]([][]bool{{true, false}, {}, {true}}))))
	require.NoError(t, td.Set("words", tensor.Must(ragged.From[uint8]([][][]uint8{{{'a'}, {'b', 'c'}}, {}, {{'a'}}}))))
	require.NoError(t, td.Set("rows", tensor.Vector(false, true, true)))
	bytes := tdict.Spec{Key: "bytes", Kind: tdict.KindRagged, DType: tensor.Uint8, Depth: 1}
	words := tdict.Spec{Key: "words", Kind: tdict.KindText, Depth: 1}
	tests := []struct {
		name string
		spec tdict.Spec
		mask nestedkey.Key
		want string // kind, Count, Missing, Min, Max, lengths of rows, Distinct
	}{
		{"without a mask they are text", bytes, "", "text 3 0 <nil> <nil> {3 0 2 1} 3"},
		{"numbers with a bool for each", bytes, "there", "ragged 2 1 1 9 {3 0 2 1} -1"},
		{"text with a bool for each row", bytes, "rows", "text 2 1 <nil> <nil> {2 0 1 0.5} 2"},
		{"texts in lists", words, "", "text 3 0 <nil> <nil> {3 1 2 1.3333333333333333} 2"},
		{"texts in lists with a bool for each", words, "there", "text 2 1 <nil> <nil> {2 1 1 1} 1"},
		{"texts in lists with a bool for each row", words, "rows", "text 1 1 <nil> <nil> {1 1 1 1} 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Mask = tt.mask
			opt := inspect.DescribeOptions{Keys: []nestedkey.Key{tt.spec.Key}, Schema: tdict.Schema{tt.spec}}
			got := describe(t, td, opt)[0]
			require.Equal(t, tt.want, fmt.Sprint(got.Kind, got.Count, got.Missing, got.Min, got.Max, *got.Rows, got.Distinct))
			p := profiles(t, td, inspect.ProfileOptions{Keys: opt.Keys, Schema: opt.Schema})[0]
			require.Equal(t, []int{got.Count, got.Missing}, []int{p.Count, p.Missing})
		})
	}
}
