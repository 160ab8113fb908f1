package tdict_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestDiffs finds every difference, says its kind, and begins with that of Diff.
func TestDiffs(t *testing.T) {
	long := make([]int64, 20)
	gone := tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: errors.New("closed")}, 0, 2))
	unbatched := func(v ...int8) tdict.Value { return tensor.Must(tdict.NewUnbatched(tensor.Vector(v...))) }
	rows := func(lists [][]int64) tdict.Value { return tensor.Must(ragged.From[int64](lists)) }
	a := dict([]int{2},
		entry{"same", count(2)}, entry{"gone", count(2)}, entry{"dtype", count(2)}, entry{"shape", count(2, 3)}, entry{"kind", count(2)},
		entry{"d/x", count(2, 2)}, entry{"d/batch", tdict.New(2, 1)}, entry{"many", tensor.Must(tensor.From(long, 2, 10))},
		entry{"data", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2))}, entry{"u", unbatched(1, 2)}, entry{"ubatch", unbatched(1, 2)},
		entry{"rows", rows([][]int64{{1}, {2, 3}})}, entry{"lengths", rows([][]int64{{1}, {2, 3}})}, entry{"cut", count(2)},
	)
	ones := tensor.Must(tensor.Full[int64](1, 2, 10))
	b := dict([]int{2},
		entry{"cut", gone}, entry{"same", count(2)}, entry{"dtype", tensor.Vector[float32](0, 1)}, entry{"shape", count(2, 4)}, entry{"kind", tdict.New(2)},
		entry{"d/x", tensor.Must(tensor.From([]int64{0, 5, 2, 6}, 2, 2))}, entry{"d/batch", tdict.New(2, 2)}, entry{"many", ones},
		entry{"data", tensor.Must(tdict.DataFrom([]string{"a", "c"}, 2))}, entry{"u", unbatched(1, 3)}, entry{"ubatch", unbatched(1, 2, 3)},
		entry{"rows", rows([][]int64{{1}, {2, 4}})}, entry{"lengths", rows([][]int64{{1, 2}, {3}})}, entry{"d/new", count(2)},
	)
	var got []string
	for d := range a.Diffs(b) {
		got = append(got, fmt.Sprintf("%s %s (%s, %s) %d %v: %s", d.Kind, d.Key, d.A, d.B, d.Count, d.Elements[:min(2, len(d.Elements))], d))
		require.LessOrEqual(t, len(d.Elements), 8)
		require.Equal(t, d.Kind == tdict.DiffError, d.Err != nil)
	}
	require.Equal(t, []string{
		`missing gone (int64 [2], ) 0 []: "gone" is missing in other`,
		`dtype dtype (int64 [2], float32 [2]) 0 []: "dtype": int64 [2], other float32 [2]`,
		`shape shape (int64 [2 3], int64 [2 4]) 0 []: "shape": int64 [2 3], other int64 [2 4]`,
		`kind kind (int64 [2], dictionary [2]) 0 []: "kind": int64 [2], other dictionary [2]`,
		`elements d/x (int64 [2 2], int64 [2 2]) 2 [{[0 1] 1 5} {[1 1] 3 6}]: "d/x": element [0 1] is 1, other 5`,
		`shape d/batch (dictionary [2 1], dictionary [2 2]) 0 []: "d/batch": batch [2 1], other [2 2]`,
		`extra d/new (, int64 [2]) 0 []: "d/new" is only in other`,
		`elements many (int64 [2 10], int64 [2 10]) 20 [{[0 0] 0 1} {[0 1] 0 1}]: "many": element [0 0] is 0, other 1`,
		`elements data (data [2], data [2]) 1 [{[1] "b" "c"}]: "data": row 1 is "b", other "c"`,
		`elements u (unbatched int8 [2], unbatched int8 [2]) 1 [{[1] 2 3}]: "u": element [1] is 2, other 3`,
		`shape ubatch (unbatched int8 [2], unbatched int8 [3]) 0 []: "ubatch": int8 [2], other int8 [3]`,
		`elements rows (ragged int64 [2 *], ragged int64 [2 *]) 1 [{[1 1] 3 4}]: "rows": element [1 1] is 3, other 4`,
		`shape lengths (ragged int64 [2 *], ragged int64 [2 *]) 0 []: "lengths": level 1, row 0 has length 1, other 2`,
		`error cut (int64 [2], int64 [2]) 0 []: diff "cut": closed`,
	}, got)
	for d := range a.Diffs(b) {
		text, err := a.Diff(b)
		require.NoError(t, err)
		require.Equal(t, text, d.Text, "Diff is the first")
		break
	}
	require.Empty(t, slices.Collect(a.Diffs(a)))
	require.Len(t, slices.Collect(tdict.New(2).Diffs(tdict.New(3))), 1)
}

// TestDiffsOfNil: a nil dictionary is an error, as in Diff, and not equal to any.
func TestDiffsOfNil(t *testing.T) {
	var none *tdict.TensorDict
	some := tdict.New(2)
	got := slices.Collect(some.Diffs(none))
	require.Len(t, got, 1)
	require.Equal(t, []any{tdict.DiffError, "dictionary [2]", "no value"}, []any{got[0].Kind, got[0].A, got[0].B})
	testkit.Fails(t, tdict.ErrKind, got[0].Err)
	require.Equal(t, got[0].Err.Error(), got[0].String())
	require.Equal(t, got, slices.Collect(some.DiffsWithin(none, tensor.Tolerance{Absolute: 1})))
	require.ErrorIs(t, testkit.Err(some.Diff(none)), tdict.ErrKind)
}

// TestDiffsWithin passes over what a tolerance allows, and tells of the first that it does not.
func TestDiffsWithin(t *testing.T) {
	a := dict(nil, entry{"x", tensor.Vector(1.0, 2, 3)}, entry{"y", tensor.Vector(1.0)})
	b := dict(nil, entry{"x", tensor.Vector(1.001, 2, 4)}, entry{"y", tensor.Vector(1.001)})
	got := slices.Collect(a.DiffsWithin(b, tensor.Tolerance{Absolute: 0.01}))
	require.Len(t, got, 1)
	require.Equal(t, `"x": element [2] is 3, other 4`, got[0].Text)
	require.Equal(t, 1, got[0].Count)
	require.Len(t, slices.Collect(a.Diffs(b)), 2)
}

// TestDiffsOfDataForManyRows takes no time for each row.
func TestDiffsOfDataForManyRows(t *testing.T) {
	a, b := dict([]int{1 << 40}, entry{"x", data("a")}), dict([]int{1 << 40}, entry{"x", data("b")})
	got := slices.Collect(a.Diffs(b))
	require.Equal(t, 1<<40, got[0].Count)
	require.Len(t, got[0].Elements, 8)
}

// TestDiffsOfWhatCannotBeRead are errors, whatever their sentinel, with the text that Diff returns.
func TestDiffsOfWhatCannotBeRead(t *testing.T) {
	bad := func(b ...byte) *tensor.Tensor { return tensor.Must(tensor.FromBytes(tensor.Bool, b, len(b))) }
	unbatched := func(x *tensor.Tensor) tdict.Value { return tensor.Must(tdict.NewUnbatched(x)) }
	rows := func(x *tensor.Tensor) tdict.Value {
		return tensor.Must(ragged.New(x, tensor.Must(ragged.NewLayout([]int{1}, []int64{0, int64(x.Size())}))))
	}
	good := tensor.Vector(false, true)
	tests := []struct {
		name string
		a, b tdict.Value
		kind tdict.DifferenceKind
	}{
		{"the first that differs", bad(0, 7), good, tdict.DiffError},
		{"one after the first that differs", bad(1, 7), good, tdict.DiffError},
		{"of an unbatched tensor", unbatched(bad(0, 7)), unbatched(good), tdict.DiffError},
		{"of ragged rows", rows(bad(0, 7)), rows(good), tdict.DiffError},
		{"of another dtype", bad(0, 7), count(2), tdict.DiffDType},
		{"of an unbatched tensor of another dtype", unbatched(bad(0, 7)), unbatched(count(2)), tdict.DiffDType},
		{"of ragged rows of another dtype", rows(bad(0, 7)), rows(count(2)), tdict.DiffDType},
		{"of another shape", bad(0, 7), bad(0), tdict.DiffShape},
		{"of other lengths", rows(bad(0, 7)), rows(bad(0)), tdict.DiffShape},
		{"of another kind", bad(0, 7), unbatched(good), tdict.DiffKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := slices.Collect(dict(nil, entry{"m", tt.a}).Diffs(dict(nil, entry{"m", tt.b})))
			require.Len(t, all, 1)
			d := all[0]
			require.Equal(t, tt.kind, d.Kind)
			require.Equal(t, tt.kind == tdict.DiffError, d.Err != nil)
			if d.Err != nil {
				require.ErrorIs(t, d.Err, tensor.ErrDType)
				require.Equal(t, `diff "m": dtype mismatch: got byte 7`, d.String()[:len(`diff "m": dtype mismatch: got byte 7`)])
			}
		})
	}
	text, err := dict([]int{2}, entry{"m", bad(0, 7)}).Diff(dict([]int{2}, entry{"m", good}))
	require.Empty(t, text)
	require.ErrorIs(t, err, tensor.ErrDType)
}
