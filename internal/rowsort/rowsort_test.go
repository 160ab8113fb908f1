package rowsort_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/rowsort"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// numbersOf returns the numbers of the rows in order.
func numbersOf(t *testing.T, s *rowsort.Sorter) (numbers []int) {
	t.Helper()
	for row, err := range s.All() {
		require.NoError(t, err)
		numbers = append(numbers, int(row.Number))
	}
	return numbers
}

// A value is a float, a text and a bool of a row, and whether each is there.
type value struct {
	number float64
	text   string
	bit    bool
	there  [3]bool
}

// compareFloats is the order of numbers: NaN last.
func compareFloats(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	case math.IsNaN(b):
		return -1
	}
	return cmp.Compare(a, b)
}

// naive compares two rows by their definition.
func naive(a, b value, descending bool) int {
	sign := 1
	if descending {
		sign = -1
	}
	ordered := []int{compareFloats(a.number, b.number), cmp.Compare(a.text, b.text), cmp.Compare(fmt.Sprint(a.bit), fmt.Sprint(b.bit))}
	for i, order := range ordered {
		switch {
		case a.there[i] && b.there[i]:
			if order != 0 {
				return sign * order
			}
		case a.there[i]:
			return -1
		case b.there[i]:
			return 1
		}
	}
	return 0
}

// TestRowsIsNaive compares with a stable sort by the definition: masks, NaN, zeros of both signs,
// texts with zeros in them, both directions, in memory and in many files.
func TestRowsIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-320, -3.5}
	texts := []string{"", "\x00", "a", "a\x00", "a\x00b", "ab", "\xff", "\xff\xff"}
	says := tdict.Schema{
		{Key: "x", DType: tensor.Float64, Mask: "has_x"}, {Key: "t", Kind: tdict.KindText, Mask: "has_t"}, {Key: "b", DType: tensor.Bool, Mask: "has_b"},
	}
	for trial := range 60 {
		rows := make([]value, r.IntN(200))
		var x []float64
		var s []string
		bits := [4][]bool{}
		for i := range rows {
			v := value{number: numbers[r.IntN(len(numbers))], text: texts[r.IntN(len(texts))], bit: r.IntN(2) == 0}
			for j := range v.there {
				v.there[j] = r.IntN(5) > 0
				bits[j] = append(bits[j], v.there[j])
			}
			rows[i], x, s, bits[3] = v, append(x, v.number), append(s, v.text), append(bits[3], v.bit)
		}
		td := tensor.Must(tdict.FromMap(shapeops.Shape{len(rows)}, tdict.Entries{
			"x": tensor.Vector(x...), "t": tensor.Must(ragged.FromStrings(s)), "b": tensor.Vector(bits[3]...),
			"has_x": tensor.Vector(bits[0]...), "has_t": tensor.Vector(bits[1]...), "has_b": tensor.Vector(bits[2]...),
		}))
		descending, dir := trial%2 == 1, t.TempDir()
		memory := []int{0, 2000, 400}[trial%3]
		sorted, err := rowsort.Rows(t.Context(), td, says, []nestedkey.Key{"x", "t", "b"}, rowsort.Options{Descending: descending, Beside: filepath.Join(dir, "rows"), Memory: memory})
		require.NoError(t, err)
		want := make([]int, len(rows))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(i, j int) int { return naive(rows[i], rows[j], descending) })
		for range 2 { // All may be called again
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(numbersOf(t, sorted)), "trial %d", trial)
		}
		for row, err := range sorted.All() {
			require.NoError(t, err)
			require.Equal(t, int64(want[0]), row.Number)
			break
		}
		require.NoError(t, sorted.Close())
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// Equal values have equal keys, and different values have different ones, also in two dictionaries.
func TestKeysOfTwo(t *testing.T) {
	keys := func(x tdict.Value) (all []string) {
		td := tensor.Must(tdict.FromMap(x.Shape(), tdict.Entries{"x": x}))
		sorted, err := rowsort.Rows(t.Context(), td, nil, []nestedkey.Key{"x"}, rowsort.Options{})
		require.NoError(t, err)
		for row := range sorted.All() {
			all = append(all, string(row.Key))
		}
		return all
	}
	require.Equal(t, keys(tensor.Vector[int8](-3, 0, 7)), keys(tensor.Vector[int64](-3, 0, 7)))
	require.Equal(t, keys(tensor.Vector[float32](-3, 0, 7)), keys(tensor.Vector(-3., math.Copysign(0, -1), 7)))
	big := keys(tensor.Vector[int64](math.MaxInt64-1, math.MaxInt64))
	require.NotEqual(t, big[0], big[1])
}

func TestRowsRefuses(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	rows := func(entries tdict.Entries, key nestedkey.Key) (*tdict.TensorDict, nestedkey.Key) {
		return tensor.Must(tdict.FromMap(shapeops.Shape{2}, entries)), key
	}
	tests := []struct {
		name string
		td   *tdict.TensorDict
		key  nestedkey.Key
		want error
	}{}
	add := func(name string, want error) func(*tdict.TensorDict, nestedkey.Key) {
		return func(td *tdict.TensorDict, key nestedkey.Key) {
			tests = append(tests, struct {
				name string
				td   *tdict.TensorDict
				key  nestedkey.Key
				want error
			}{name, td, key, want})
		}
	}
	add("no such entry", tdict.ErrMissing)(rows(nil, "x"))
	add("two values in a row", shapeops.ErrShape)(rows(tdict.Entries{"x": tensor.Must(tensor.New(tensor.Int8, 2, 2))}, "x"))
	add("complex numbers", tensor.ErrDType)(rows(tdict.Entries{"x": tensor.Must(tensor.New(tensor.Complex64, 2))}, "x"))
	add("lists", tensor.ErrDType)(rows(tdict.Entries{"x": tensor.Must(ragged.From[int64]([][]int64{{1}, {}}))}, "x"))
	add("a dictionary", tdict.ErrKind)(rows(tdict.Entries{"x": tdict.New(2)}, "x"))
	add("no rows", shapeops.ErrDim)(tdict.New(), "x")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.want, testkit.Err(rowsort.Rows(t.Context(), tt.td, nil, []nestedkey.Key{tt.key}, rowsort.Options{})))
		})
	}
	td, _ := rows(tdict.Entries{"x": tensor.Vector(1., 2)}, "x")
	testkit.Fails(t, context.Canceled, testkit.Err(rowsort.Rows(ended, td, nil, []nestedkey.Key{"x"}, rowsort.Options{})))
}

// Codes with Categories have the keys of their texts, whatever the lists are; what cannot be
// compared is refused.
func TestAlike(t *testing.T) {
	says := func(categories ...string) tdict.Schema {
		return tdict.Schema{{Key: "x", DType: tensor.Int32, Categories: categories, Mask: "m"}}
	}
	keys := func(x tdict.Value, says tdict.Schema) (all []string) {
		td := tensor.Must(tdict.FromMap(x.Shape(), tdict.Entries{"x": x}))
		sorted, err := rowsort.Rows(t.Context(), td, says, []nestedkey.Key{"x"}, rowsort.Options{Texts: true})
		require.NoError(t, err)
		for row := range sorted.All() {
			all = append(all, string(row.Key))
		}
		return all
	}
	texts := keys(tensor.Must(ragged.FromStrings([]string{"a", "b"})), nil)
	require.Equal(t, texts, keys(tensor.Vector[int32](1, 0), says("b", "a")))
	require.Equal(t, texts, keys(tensor.Vector[int32](0, 2), says("a", "", "b")))
	codes := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"x": tensor.Vector[int32](0, 7), "m": tensor.Vector(true, false)}))
	for code, s := range map[string]tdict.Schema{"a hidden code": says("a"), "a code of no text": says("a")[:1:1]} {
		td := codes
		if code == "a code of no text" {
			td = codes.Exclude("m")
		}
		_, err := rowsort.Rows(t.Context(), td, s, []nestedkey.Key{"x"}, rowsort.Options{Texts: true})
		require.Equal(t, code == "a hidden code", err == nil, code)
		if err != nil {
			require.ErrorIs(t, err, shapeops.ErrIndex)
		}
	}
	days := tdict.Schema{{Key: "x", DType: tensor.Int64, Time: "2006-01-02", Unit: "d"}}
	seconds := tdict.Schema{{Key: "x", DType: tensor.Int64, Time: "2006-01-02T15:04:05Z", Unit: "s"}}
	other := tdict.Schema{{Key: "x", DType: tensor.Int64, Time: "02.01.2006", Unit: "d"}}
	numbers, text := tdict.Value(tensor.Vector[int64](1)), tdict.Value(tensor.Must(ragged.FromStrings([]string{"a"})))
	for _, tt := range []struct {
		name         string
		a, b         tdict.Value
		saysA, saysB tdict.Schema
		alike        bool
	}{
		{"days and seconds", numbers, numbers, days, seconds, false},
		{"days of two layouts", numbers, numbers, days, other, true},
		{"days and integers", numbers, numbers, days, nil, false},
		{"codes and texts", tensor.Vector[int32](0), text, says("a"), nil, true},
		{"codes and codes", tensor.Vector[int32](0), tensor.Vector[int32](0), says("a"), says("b"), true},
		{"codes and integers", tensor.Vector[int32](0), tensor.Vector[int32](0), says("a"), nil, false},
		{"text and integers", text, numbers, nil, nil, false},
		{"integers and floats", numbers, tensor.Vector(1.), nil, nil, false},
		{"signed and not", numbers, tensor.Vector[uint64](1), nil, nil, false},
		{"integers of two widths", numbers, tensor.Vector[uint8](1), nil, nil, true},
		{"floats of two widths", tensor.Vector[float32](1), tensor.Vector(1.), nil, nil, true},
		{"bools and integers", tensor.Vector(true), numbers, nil, nil, false},
	} {
		a, b := tensor.Must(tdict.FromMap(shapeops.Shape{1}, tdict.Entries{"x": tt.a})), tensor.Must(tdict.FromMap(shapeops.Shape{1}, tdict.Entries{"x": tt.b}))
		err := rowsort.Alike(a, b, tt.saysA, tt.saysB, []nestedkey.Key{"x"})
		require.Equal(t, tt.alike, err == nil, tt.name)
		if err != nil {
			require.ErrorIs(t, err, tdict.ErrSchema)
		}
	}
}

// TestTextsOfEachDType sorts codes of each dtype of integers by their texts.
func TestTextsOfEachDType(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64} {
		t.Run(d.String(), func(t *testing.T) {
			codes, err := tensor.Vector[int64](1, 0, 2).Cast(d)
			require.NoError(t, err)
			td, err := tdict.FromMap([]int{3}, tdict.Entries{"k": codes})
			require.NoError(t, err)
			says := tdict.Schema{{Key: "k", DType: d, Categories: []string{"c", "b", "a"}}}
			s, err := rowsort.Rows(t.Context(), td, says, []nestedkey.Key{"k"}, rowsort.Options{Texts: true})
			require.NoError(t, err)
			defer s.Close()
			require.Equal(t, []int{2, 0, 1}, numbersOf(t, s))
		})
	}
}

// TestCutRuns cuts a temporary file: only a cut between two rows can go unnoticed.
func TestCutRuns(t *testing.T) {
	beside := filepath.Join(t.TempDir(), "out")
	s := rowsort.NewSorter(beside, 1)
	defer func() { require.NoError(t, s.Close()) }()
	for i := range 4 {
		require.NoError(t, s.Add(rowsort.Key{byte(i), 1, 2}, int64(i)))
	}
	runs, err := filepath.Glob(filepath.Join(filepath.Dir(beside), "*", "*", "1"))
	require.NoError(t, err)
	require.Len(t, runs, 1)
	file, err := os.ReadFile(runs[0])
	require.NoError(t, err)
	for n := range file {
		require.NoError(t, os.WriteFile(runs[0], file[:n], 0o600))
		var last error
		for _, err := range s.All() {
			last = err
		}
		if n > 0 {
			require.ErrorIs(t, last, io.ErrUnexpectedEOF, n)
		}
	}
}
