package safetensors_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
)

// one returns entries with a tensor.
func one(name, dtype string, shape ...int) []safetensors.Entry {
	return []safetensors.Entry{{Name: name, DType: dtype, Shape: shape}}
}

// padded returns text with spaces up to a multiple of 8 bytes.
func padded(text string) string { return text + strings.Repeat(" ", (8-len(text)%8)%8) }

func TestPlan(t *testing.T) {
	tests := []struct {
		name     string
		entries  []safetensors.Entry
		metadata map[string]string
		want     string
	}{
		{"nothing is an object and padding", nil, nil, `{}`},
		{"a scalar has no dims", one("a", "F64"), nil,
			`{"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}`},
		{"a tensor without elements has no bytes", one("a", "I64", 2, 0), nil,
			`{"a":{"dtype":"I64","shape":[2,0],"data_offsets":[0,0]}}`},
		{"metadata comes first, sorted", one("a", "U8", 1), map[string]string{"z": "1", "b\n": `"`},
			`{"__metadata__":{"b\n":"\"","z":"1"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`},
		{"metadata of nothing is there", nil, map[string]string{}, `{"__metadata__":{}}`},
		{"an empty name", one("", "U8", 1), nil, `{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`},
		{"what must be escaped is, and in short where there is a short way",
			one("\"\\/\b\f\n\r\t\x00\x1f\x7f", "U8", 1), nil,
			`{"\"\\/\b\f\n\r\t\u0000\u001f` + "\x7f" + `":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`},
		{"other characters stay", one("é<&>\u2028😀\ufffd", "U8", 1), nil,
			"{\"é<&>\u2028😀\ufffd\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, head, err := safetensors.Plan(tt.entries, tt.metadata)
			require.NoError(t, err)
			require.Equal(t, padded(tt.want), string(head[8:]))
			require.EqualValues(t, len(head), h.DataStart)
			size := h.DataStart
			if n := len(h.Entries); n > 0 {
				size += h.Entries[n-1].End
			}
			got, err := safetensors.Read(strings.NewReader(string(head)), size)
			require.NoError(t, err)
			require.Equal(t, tt.metadata, got.Metadata)
			require.Len(t, got.Entries, len(tt.entries))
		})
	}
}

// TestOrder has the dtypes in the order in which the original puts tensors into a file.
func TestOrder(t *testing.T) {
	want := strings.Fields("U64 I64 F64 C64 F32 U32 I32 BF16 F16 U16 I16 " +
		"F8_E5M2FNUZ F8_E4M3FNUZ F8_E8M0 F8_E4M3 F8_E5M2 I8 U8 BOOL")
	sizes := []int{8, 8, 8, 8, 4, 4, 4, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1}
	var entries []safetensors.Entry
	for i, dtype := range want {
		size, ok := safetensors.Size(dtype)
		require.True(t, ok, dtype)
		require.Equal(t, sizes[i], size, dtype)
		for _, name := range []string{"a", "b", "B"} {
			entries = append(entries, one(dtype+name, dtype, 3)...)
		}
	}
	h, _, err := safetensors.Plan(unplaced(entries), nil)
	require.NoError(t, err)
	for i, e := range h.Entries {
		require.Equal(t, want[i/3]+[]string{"B", "a", "b"}[i%3], e.Name, "bytes decide, not letters")
		require.Zero(t, e.Begin%int64(sizes[i/3]), "elements are aligned")
	}
	_, ok := safetensors.Size("F4")
	require.False(t, ok)
}

func TestPlanLeavesWhatItIsGiven(t *testing.T) {
	entries := append(one("a", "U8", 2), one("b", "I64", 2)...)
	_, _, err := safetensors.Plan(entries, nil)
	require.NoError(t, err)
	require.Equal(t, append(one("a", "U8", 2), one("b", "I64", 2)...), entries)
}

func TestPlanRefuses(t *testing.T) {
	long := strings.Repeat("x", 101_000_000)
	tests := []struct {
		name     string
		entries  []safetensors.Entry
		metadata map[string]string
	}{
		{"a dtype that nobody knows", one("a", "F33", 1), nil},
		{"a dtype of less than a byte", one("a", "F4", 2), nil},
		{"a size below 0", one("a", "U8", -1), nil},
		{"elements that overflow", one("a", "U8", 1<<32, 1<<31), nil},
		{"bytes that overflow", one("a", "F64", 1<<60), nil},
		{"a file that overflows", append(one("a", "U8", math.MaxInt64/2), one("b", "U8", math.MaxInt64/2)...), nil},
		{"too many dims", one("a", "U8", make([]int, 65)...), nil},
		{"one name for two", append(one("a", "U8", 1), one("a", "I8", 1)...), nil},
		{"the name of metadata", one("__metadata__", "U8", 1), nil},
		{"a name that is not UTF-8", one("a\xff", "U8", 1), nil},
		{"a name of metadata that is not UTF-8", nil, map[string]string{"\xff": ""}},
		{"metadata that is not UTF-8", nil, map[string]string{"a": "\xff"}},
		{"a header that nobody reads", one(long, "U8", 1), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := safetensors.Plan(tt.entries, tt.metadata)
			testkit.Fails(t, safetensors.ErrUnsupported, err)
		})
	}
}
