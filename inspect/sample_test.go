package inspect_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// poison is the value of what a sample leaves out.
const poison = 1 << 30

// blocksOf returns where 64 blocks, evenly spaced over n positions, begin.
func blocksOf(n, block int) (starts []int) {
	for i := range 64 {
		starts = append(starts, i*(n-block)/63)
	}
	return starts
}

// poisoned returns n numbers, of which those in the blocks of a sample are from 0 to 999.
func poisoned(n, block int) []int32 {
	all := slices.Repeat([]int32{poison}, n)
	for _, start := range blocksOf(n, block) {
		for i := start; i < start+block; i++ {
			all[i] = int32(i % 1000)
		}
	}
	return all
}

// TestSamples has leaves with another value wherever a sample does not read.
func TestSamples(t *testing.T) {
	const n = 1_700_017
	const block = 1 << 14 // 64 KiB
	numbers := tensor.Vector(poisoned(n, block)...)
	rows := poisoned(n/16, block/16)
	wide := make([]int32, 0, len(rows)*16)
	for _, v := range rows {
		wide = append(wide, slices.Repeat([]int32{v}, 16)...)
	}
	table := tensor.Must(tensor.From(wide, len(rows), 16))
	mask := make([]bool, n)
	for i := range mask {
		mask[i] = i%2 == 0
	}
	tests := []struct {
		name        string
		x, mask     *tensor.Tensor
		byColumn    bool
		read, total int
		missing     int
	}{
		{"a vector", numbers, nil, false, 64 * block, n, 0},
		{"a transposed table", tensor.Must(tensor.Must(numbers.Reshape(n, 1)).Transpose(0, 1)), nil, false, 64 * block, n, 0},
		{"a mask", numbers, tensor.Vector(mask...), false, 64 * block, n, 32 * block},
		{"columns: blocks of rows", table, nil, true, 64 * block / 16, len(rows), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := tdict.New(tt.x.Shape()[:1]...)
			require.NoError(t, td.Set("x", tt.x))
			if tt.mask != nil {
				require.NoError(t, td.Set("x_mask", tt.mask))
			}
			opt := inspect.ProfileOptions{Keys: []nestedkey.Key{"x"}, ByColumn: tt.byColumn, MaxBytes: 6 << 20, Workers: 1}
			for _, p := range profiles(t, td, opt) {
				require.Equal(t, []int{tt.read, tt.total, tt.missing}, []int{p.Read, p.Total, p.Missing})
				require.Equal(t, tt.read, sumOf(p.Values))
				require.Less(t, p.Max, int64(1000))
			}
			first := values(profiles(t, td, opt))
			opt.Workers = 3
			require.Equal(t, first, values(profiles(t, td, opt)))
			opt.MaxBytes = int64(tt.x.ByteSize())
			p := profiles(t, td, opt)[0]
			require.Equal(t, tt.total, p.Read, "not more than MaxBytes")
			require.Equal(t, int64(poison), p.Max)
		})
	}
}

// sampledRows returns which rows a sample reads, given their lengths and the bytes of a value: runs
// of 64 KiB of values and offsets, evenly spaced by bytes.
func sampledRows(lengths []int, value int) []bool {
	total := 0
	for _, n := range lengths {
		total += 8 + n*value
	}
	read := make([]bool, len(lengths))
	row, at := 0, 0 // a row and the byte with which it begins
	for _, start := range blocksOf(total, 1<<16) {
		for row < len(lengths) && at+8+lengths[row]*value <= start {
			at += 8 + lengths[row]*value
			row++
		}
		for begin := at; row < len(lengths) && at-begin < 1<<16; row++ {
			read[row] = true
			at += 8 + lengths[row]*value
		}
	}
	return read
}

func TestSamplesOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	const n = 120_000
	lengths, values, texts := make([]int, n), make([][]float32, n), make([]string, n)
	for i := range lengths {
		lengths[i] = r.IntN(90) * r.IntN(2)
	}
	counted := func(value int) (rows, bytes int) {
		for i, read := range sampledRows(lengths, value) {
			v := float32(poison)
			if texts[i] = strings.Repeat("!", lengths[i]); read {
				v, texts[i] = 1, strings.Repeat("a", lengths[i])
				rows, bytes = rows+1, bytes+lengths[i]
			}
			values[i] = slices.Repeat([]float32{v}, lengths[i])
		}
		return rows, bytes
	}
	opt := inspect.ProfileOptions{MaxBytes: 1 << 20}

	rows, size := counted(4)
	numbers := tensor.Must(ragged.From[float32](values))
	p := profilesOfRows(t, numbers, nil, opt)
	require.Equal(t, []int{size, size, numbers.NumValues()}, []int{p.Count, p.Read, p.Total})
	require.Equal(t, []int{rows, rows}, []int{p.Rows.Count, sumOf(p.Lengths)})
	require.Equal(t, 1., p.Max)
	require.Less(t, rows, n)

	bits := make([]bool, n)
	for i := range bits {
		bits[i] = i%2 == 0
	}
	masked := profilesOfRows(t, numbers, tensor.Vector(bits...), opt)
	require.Equal(t, size, sumOf(masked.Values))
	require.Equal(t, rows, sumOf(masked.Lengths))
	require.Equal(t, masked.Lengths.Missing, masked.Missing)
	require.InDelta(t, rows/2, masked.Missing, 64)

	for name, td := range map[string]*tdict.TensorDict{
		"one batch dim":  tensor.Must(tdict.FromMap([]int{n}, tdict.Entries{"x": numbers, "x_mask": tensor.Vector(bits...)})),
		"two batch dims": tensor.Must(tensor.Must(tdict.FromMap([]int{n}, tdict.Entries{"x": numbers, "x_mask": tensor.Vector(bits...)})).Reshape(3, n/3)),
	} {
		got := profiles(t, td, inspect.ProfileOptions{Keys: []nestedkey.Key{"x"}, MaxBytes: opt.MaxBytes})[0]
		require.Equal(t, *masked.Values, *got.Values, name)
		require.Equal(t, *masked.Lengths, *got.Lengths, name)
	}

	rows, _ = counted(1)
	p = profilesOfRows(t, tensor.Must(ragged.FromStrings(texts)), nil, opt)
	require.Equal(t, []int{rows, rows, n}, []int{p.Count, p.Read, p.Total})
	for _, text := range p.Texts {
		require.NotContains(t, text.Text, "!")
	}
}

// profilesOfRows returns the profile of a ragged leaf and its mask, which may be nil.
func profilesOfRows(t testing.TB, x *ragged.Tensor, mask *tensor.Tensor, opt inspect.ProfileOptions) inspect.Profile {
	t.Helper()
	td := tdict.New()
	require.NoError(t, td.Set("x", x))
	if mask != nil {
		require.NoError(t, td.Set("x_mask", mask))
	}
	opt.Keys = []nestedkey.Key{"x"}
	return profiles(t, td, opt)[0]
}

// TestSamplesOfLongRows has rows that are longer than a run: a sample reads the begin of their
// values, and no text above 1 MiB.
func TestSamplesOfLongRows(t *testing.T) {
	lengths := []int64{3, 4 << 20, 5, 4 << 20}
	values := tensor.Must(tensor.New(tensor.Uint8, 8<<20+8, 1))
	p := profilesOfRows(t, tensor.Must(ragged.FromLengths(values, lengths)), nil, inspect.ProfileOptions{MaxBytes: 1 << 20})
	require.Equal(t, []int{4, 4}, []int{p.Rows.Count, sumOf(p.Lengths)})
	require.LessOrEqual(t, p.Read, 4<<17)
	require.Equal(t, p.Read, sumOf(p.Values))
	require.Equal(t, 8<<20+8, p.Total)

	text := tensor.Must(values.Reshape(8<<20 + 8))
	testkit.MaxBytes(t, 1<<20, func() {
		p = profilesOfRows(t, tensor.Must(ragged.FromLengths(text, lengths)), nil, inspect.ProfileOptions{MaxBytes: 1 << 20})
	})
	require.True(t, p.TooMany)
	require.Equal(t, 4, sumOf(p.Lengths))
	empty := tensor.Must(ragged.FromLengths(tensor.Must(tensor.New(tensor.Int8, 0)), make([]int64, 1<<20)))
	p = profilesOfRows(t, empty, nil, inspect.ProfileOptions{MaxBytes: 1 << 20})
	require.Less(t, p.Rows.Count, 1<<20, "lengths count as bytes too")
	require.Equal(t, inspect.NoValue, p.Values.Form)
}

// TestMemoryOfProfiles has a leaf of 64 MiB, read in full and as a sample.
func TestMemoryOfProfiles(t *testing.T) {
	td := tdict.New(1 << 20)
	require.NoError(t, td.Set("x", tensor.Must(tensor.New(tensor.Float32, 1<<20, 16))))
	testkit.MaxBytes(t, 48<<20, func() { profiles(t, td, inspect.ProfileOptions{Workers: 2}) })
	testkit.MaxBytes(t, 24<<20, func() { profiles(t, td, inspect.ProfileOptions{Workers: 2, MaxBytes: 1 << 20}) })
}
