package safetensors_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
)

// TestGolden reads the headers that the original wrote, and writes them again.
func TestGolden(t *testing.T) {
	dirs := []string{filepath.Join("..", "..", "..", "testdata", "golden")}
	if dir := os.Getenv("GOLDEN_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		for _, pattern := range []string{"nrt*/data.nrt", "st*/data.safetensors"} {
			files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
			require.NoError(t, err)
			require.True(t, len(files) > 0 || dir != dirs[0], dir)
			for _, file := range files {
				t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) { checkGolden(t, file) })
			}
		}
	}
}

// expected is what the original loads.
type expected struct {
	Root struct {
		Metadata map[string]string
		Tensors  map[string]struct {
			Shape []int
			Hex   string
		}
	}
}

func checkGolden(t *testing.T, name string) {
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(name), "expected.json"))
	require.NoError(t, err)
	var want expected
	require.NoError(t, json.Unmarshal(bytes.ReplaceAll(text, []byte("NaN"), []byte("null")), &want))

	h, err := safetensors.Read(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.Len(t, h.Entries, len(want.Root.Tensors))
	for _, e := range h.Entries {
		require.Equal(t, want.Root.Tensors[e.Name].Shape, e.Shape, e.Name)
		got := hex.EncodeToString(file[h.DataStart:][e.Begin:e.End])
		require.Equal(t, want.Root.Tensors[e.Name].Hex, got, e.Name)
	}
	require.Equal(t, want.Root.Metadata, h.Metadata)

	again, head, err := safetensors.Plan(unplaced(h.Entries), h.Metadata)
	require.NoError(t, err)
	for _, entries := range [][]safetensors.Entry{h.Entries, again.Entries} { // those without bytes begin at one place
		slices.SortStableFunc(entries, func(a, b safetensors.Entry) int {
			return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End), strings.Compare(a.Name, b.Name))
		})
	}
	require.Equal(t, h, again)
	require.Equal(t, unordered(t, file[:h.DataStart]), unordered(t, head))
}

// unordered returns the text of a file with the pairs of its __metadata__ sorted: the original
// writes them in any order.
func unordered(t *testing.T, file []byte) string {
	t.Helper()
	var header map[string]json.RawMessage
	n := 8 + binary.LittleEndian.Uint64(file)
	require.NoError(t, json.Unmarshal(file[8:n], &header))
	raw, ok := header["__metadata__"]
	if !ok {
		return string(file)
	}
	var pairs map[string]string
	require.NoError(t, json.Unmarshal(raw, &pairs))
	sorted, err := json.Marshal(pairs)
	require.NoError(t, err)
	return strings.Replace(string(file), string(raw), string(sorted), 1)
}

// unplaced returns the entries sorted in no useful way, and without offsets.
func unplaced(entries []safetensors.Entry) []safetensors.Entry {
	out := slices.Clone(entries)
	slices.Reverse(out)
	for i := range out {
		out[i].Begin, out[i].End = -1, -1
	}
	return out
}

// TestSpecimens makes the two files that the description of the format of ragged tensors has byte
// by byte.
func TestSpecimens(t *testing.T) {
	tests := []struct {
		name    string
		entries []safetensors.Entry
		head    string
		data    string
		size    int
	}{
		{
			"ints of three depths",
			[]safetensors.Entry{
				{Name: "dim0/s", DType: "U8", Shape: []int{3}},
				{Name: "dim1/bounds", DType: "I64", Shape: []int{3}},
				{Name: "dim1/ts", DType: "U8", Shape: []int{6}},
				{Name: "dim2/bounds", DType: "I64", Shape: []int{6}},
				{Name: "dim2/v", DType: "U8", Shape: []int{6}},
			},
			`{"dim1/bounds":{"dtype":"I64","shape":[3],"data_offsets":[0,24]},` +
				`"dim2/bounds":{"dtype":"I64","shape":[6],"data_offsets":[24,72]},` +
				`"dim0/s":{"dtype":"U8","shape":[3],"data_offsets":[72,75]},` +
				`"dim1/ts":{"dtype":"U8","shape":[6],"data_offsets":[75,81]},` +
				`"dim2/v":{"dtype":"U8","shape":[6],"data_offsets":[81,87]}}    `,
			"0200000000000000030000000000000006000000000000000000000000000000020000000000000005000000" +
				"00000000050000000000000005000000000000000600000000000000070809010203040506030004030502",
			407,
		},
		{
			"dtypes beside each other",
			[]safetensors.Entry{
				{Name: "dim0/z", DType: "F32", Shape: []int{2}},
				{Name: "dim0/m", DType: "BOOL", Shape: []int{2}},
				{Name: "dim1/bounds", DType: "I64", Shape: []int{2}},
				{Name: "dim1/i", DType: "I8", Shape: []int{3}},
				{Name: "dim1/f", DType: "F32", Shape: []int{3}},
			},
			`{"dim1/bounds":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},` +
				`"dim0/z":{"dtype":"F32","shape":[2],"data_offsets":[16,24]},` +
				`"dim1/f":{"dtype":"F32","shape":[3],"data_offsets":[24,36]},` +
				`"dim1/i":{"dtype":"I8","shape":[3],"data_offsets":[36,39]},` +
				`"dim0/m":{"dtype":"BOOL","shape":[2],"data_offsets":[39,41]}}       `,
			"020000000000000003000000000000000000c03f000020400000803f000000400000404001fe030100",
			361,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, head, err := safetensors.Plan(tt.entries, nil)
			require.NoError(t, err)
			require.Equal(t, "\x38\x01\x00\x00\x00\x00\x00\x00"+tt.head, string(head))
			data, err := hex.DecodeString(tt.data)
			require.NoError(t, err)
			file := append(head, data...)
			require.Len(t, file, tt.size)
			got, err := safetensors.Read(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			require.Equal(t, h, got)
		})
	}
}
