package memmap_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

// int64s returns numbers as a file has them.
func int64s(numbers ...int64) string {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return string(b)
}

// writeNested writes a dictionary of batch shape [2] whose only entry is a nested tensor of
// Python's: int64, with components of 1 and 2 elements.
func writeNested(t *testing.T, dir, name string) {
	write(t, dir, "meta.json", `{"`+name+`":{"device":"cpu","shape":[2,1],"dtype":"torch.int64","is_nested":true},"shape":[2],`+dictTail)
	write(t, dir, name+".memmap", int64s(1, 2, 3))
	write(t, dir, name+".shape.memmap", int64s(1, 2))
}

// TestNestedOpened opens nested tensors of bytes with any shapes of their components.
func TestNestedOpened(t *testing.T) {
	tests := []struct {
		name   string
		shape  string // of the shapes
		sizes  []int64
		bytes  int // of the file with the elements
		want   string
		levels [][]int64
		err    error
		text   string
	}{
		{"one dim", "[3,1]", []int64{2, 0, 3}, 5, "ragged uint8 [3 *]", [][]int64{{0, 2, 2, 5}}, nil, ""},
		{"last dims that are the same", "[2,3]", []int64{2, 3, 1, 4, 3, 1}, 18, "ragged uint8 [2 * 3 1]", [][]int64{{0, 2, 6}}, nil, ""},
		{"first dims that are the same", "[2,2]", []int64{2, 3, 2, 3}, 12, "ragged uint8 [2 * 3]", [][]int64{{0, 2, 4}}, nil, ""},
		{"two dims that differ", "[2,2]", []int64{2, 3, 4, 5}, 26, "ragged uint8 [2 * *]", [][]int64{{0, 2, 6}, {0, 3, 6, 11, 16, 21, 26}}, nil, ""},
		{"only the last dim differs", "[2,2]", []int64{2, 1, 2, 3}, 8, "ragged uint8 [2 * *]", [][]int64{{0, 2, 4}, {0, 1, 2, 5, 8}}, nil, ""},
		{"no elements", "[2,2]", []int64{3, 0, 1, 0}, 0, "ragged uint8 [2 * 0]", [][]int64{{0, 3, 4}}, nil, ""},
		{"no components", "[0,2]", nil, 0, "ragged uint8 [0 * *]", [][]int64{{0}, {0}}, nil, ""},
		{"a file that is longer", "[2,1]", []int64{1, 2, 99}, 9, "ragged uint8 [2 *]", [][]int64{{0, 1, 3}}, nil, ""},
		{"elements that are missing", "[2,1]", []int64{1, 2}, 2, "", nil, memmap.ErrCorrupt, "x.memmap: corrupt: got 2 bytes, want 3"},
		{"shapes that are missing", "[2,1]", []int64{1}, 2, "", nil, memmap.ErrCorrupt, "x.shape.memmap: corrupt: got 8 bytes, want 16"},
		{"a negative size", "[2,2]", []int64{1, 2, 3, -1}, 9, "", nil, memmap.ErrCorrupt, "x.shape.memmap: corrupt: shape mismatch: component 1: got [3 -1], want no negative size"},
		{"elements that cannot be counted", "[2,2]", []int64{1 << 40, 1 << 40, 1, 1}, 9, "", nil, memmap.ErrCorrupt, "component 0: got [1099511627776 1099511627776], want a number of elements that an int holds"},
		{"elements whose sum cannot be counted", "[2,1]", []int64{1<<63 - 1, 1}, 9, "", nil, memmap.ErrCorrupt, "component 1: got [1], want a number of elements that an int holds"},
		{"more elements than the file has", "[2,1]", []int64{1 << 50, 1}, 9, "", nil, memmap.ErrCorrupt, "x.memmap: corrupt: got 9 bytes"},
		{"rows that no file has", "[2,2]", []int64{1 << 40, 0, 1, 1}, 1, "", nil, memmap.ErrUnsupported, "x.shape.memmap: unsupported: a nested tensor of 1 bytes has 1099511627777 rows, want at most "},
		{"shapes that are no matrix", "[2]", []int64{1, 1}, 2, "", nil, memmap.ErrCorrupt, "x.memmap: corrupt: shape mismatch: got [2] as the shape of the list of component shapes"},
		{"components without dims", "[2,0]", nil, 2, "", nil, memmap.ErrCorrupt, "got [2 0] as the shape of the list of component shapes"},
		{"more components than the file has", "[4611686018427387904,1]", []int64{1, 1}, 2, "", nil, memmap.ErrCorrupt, "want a size in bytes that an int holds"},
		{"another batch", "[1,1]", []int64{1, 1}, 2, "", nil, memmap.ErrCorrupt, "want a shape that begins with [2]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, batch := t.TempDir(), tt.shape[:2]+"]"
			if tt.name == "another batch" || len(tt.shape) > 6 {
				batch = "[2]"
			}
			write(t, dir, "meta.json", `{"x":{"device":"cpu","shape":`+tt.shape+`,"dtype":"torch.uint8","is_nested":true},"shape":`+batch+`,`+dictTail)
			write(t, dir, "x.memmap", string(make([]byte, tt.bytes)))
			write(t, dir, "x.shape.memmap", int64s(tt.sizes...))
			var ds *memmap.Dataset
			var err error
			testkit.MaxBytes(t, 1<<20, func() { ds, err = memmap.Open(dir) })
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				require.ErrorContains(t, err, tt.text)
				return
			}
			require.NoError(t, err)
			defer ds.Close()
			x := rowsAt(t, ds.TensorDict, "x")
			require.Equal(t, tt.want, x.Text())
			for i, want := range tt.levels {
				require.Equal(t, want, tensor.Must(x.Layout().Offsets(i+1)))
			}
			requireSoundRows(t, x)
			require.NoError(t, testkit.Err(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})))
		})
	}
}

// TestNestedInABatchOfTwoDims: Python cannot have one there that has even rows.
func TestNestedInABatchOfTwoDims(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "meta.json", `{"x":{"device":"cpu","shape":[2,2],"dtype":"torch.uint8","is_nested":true},"shape":[2,2],`+dictTail)
	require.ErrorIs(t, testkit.Err(memmap.Open(dir)), memmap.ErrUnsupported)
}
