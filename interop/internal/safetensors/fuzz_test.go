package safetensors_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
)

// FuzzHeader reads text as a whole file, and as the header of a file with so many bytes of data.
// Whatever is read lies in the data side by side, can be written, and is then read as it was.
func FuzzHeader(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"), int64(0))
	f.Add([]byte(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"I64","shape":[],"data_offsets":[8,16]}}`), int64(16))
	f.Add([]byte(`{"__metadata__":{"x":"\n\u0001"},"\"é":{"dtype":"BOOL","shape":[0,3],"data_offsets":[0,0]}}   `), int64(0))
	f.Add([]byte(entry(`"F64"`, `[1152921504606846975]`, `[0,9223372036854775800]`)), int64(9223372036854775800))
	f.Fuzz(func(t *testing.T, text []byte, data int64) {
		checkRead(t, len(text), int64(len(text)), func() (*safetensors.Header, error) {
			return safetensors.Read(bytes.NewReader(text), int64(len(text)))
		})
		if size := 8 + int64(len(text)) + data; data >= 0 && size >= 0 {
			checkRead(t, len(text), size, func() (*safetensors.Header, error) { return read(string(text), data) })
		}
	})
}

// checkRead checks what comes of reading a header out of n bytes of text, in a file of size bytes.
func checkRead(t *testing.T, n int, size int64, read func() (*safetensors.Header, error)) {
	var h *safetensors.Header
	var err error
	testkit.MaxBytes(t, mostMemory(n), func() { h, err = read() })
	if err != nil {
		if !errors.Is(err, safetensors.ErrCorrupt) && !errors.Is(err, safetensors.ErrUnsupported) {
			t.Fatalf("unclassified error %v", err)
		}
		return
	}
	checkTiles(t, h, size-h.DataStart)

	planned, head, err := safetensors.Plan(h.Entries, h.Metadata)
	if errors.Is(err, safetensors.ErrUnsupported) && size > 1<<62 { // no room for a longer header
		return
	}
	require.NoError(t, err)
	require.Equal(t, sizes(h.Entries), sizes(planned.Entries))
	again, err := safetensors.Read(bytes.NewReader(head), planned.DataStart+size-h.DataStart)
	require.NoError(t, err)
	require.ElementsMatch(t, planned.Entries, again.Entries)
	require.Equal(t, h.Metadata, again.Metadata)
	require.Equal(t, planned.DataStart, again.DataStart)
}

// checkTiles checks that each byte of the data is of one tensor, and that there are as many as
// elements want.
func checkTiles(t *testing.T, h *safetensors.Header, data int64) {
	end := int64(0)
	for _, e := range h.Entries {
		width, ok := safetensors.Size(e.DType)
		require.True(t, ok)
		require.Equal(t, end, e.Begin)
		want := int64(width)
		if slices.Contains(e.Shape, 0) {
			want = 0
		}
		for _, d := range e.Shape {
			want *= int64(d)
		}
		require.Equal(t, want, e.End-e.Begin)
		end = e.End
	}
	require.Equal(t, data, end)
}

// sizes returns entries without the places of their bytes, by name.
func sizes(entries []safetensors.Entry) []safetensors.Entry {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Begin, out[i].End = 0, out[i].End-out[i].Begin
	}
	slices.SortFunc(out, func(a, b safetensors.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out
}
