package zipfile_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/internal/zipfile"
	"github.com/go-tensordict/tensordict/tensor"
)

// zeros are written to a holey as a hole.
var zeros = make([]byte, 1<<20)

// A holey is a file of which runs of zeros are not kept.
type holey struct {
	*os.File
	size int64
}

// hole returns an empty file.
func hole(t *testing.T) *holey {
	t.Helper()
	f := tensor.Must(os.Create(filepath.Join(t.TempDir(), "x.zip")))
	t.Cleanup(func() { _ = f.Close() })
	return &holey{File: f}
}

// Write implements io.Writer.
func (h *holey) Write(p []byte) (n int, err error) {
	if n = len(p); n < len(zeros) || !bytes.Equal(p, zeros) {
		n, err = h.WriteAt(p, h.size)
	}
	h.size += int64(n)
	return n, err
}

// TestZip64 writes archives around the sizes and offsets from which on 64 bits are used.
func TestZip64(t *testing.T) {
	const mib = 1 << 20
	tests := []struct {
		name  string
		sizes []int64 // in bytes; what is not a multiple of 1 MiB is small
		wide  []bool  // whether the record of an entry has a zip64 field
		end   bool    // whether there are zip64 end records
	}{
		{"a size of 4 GiB, and an offset", []int64{4096 * mib, 5}, []bool{true, true}, true},
		{"less than 4 GiB", []int64{4095 * mib, 5}, []bool{false, false}, false},
		{"offsets of more than 4 GiB", []int64{2048 * mib, 2048 * mib, 1}, []bool{false, false, true}, true},
	}
	for _, tt := range tests[:longtests.Times(1, 3)] {
		t.Run(tt.name, func(t *testing.T) {
			h := hole(t)
			writeSizes(t, h, tt.sizes)
			requireSizes(t, h, tt.sizes)
			for i, want := range tt.wide {
				require.Equal(t, want, bytes.Contains(extraOf(t, h, i), []byte{1, 0, 24, 0}), "entry %d", i)
			}
			require.Equal(t, tt.end, bytes.Contains(tail(t, h), []byte(end64Mark)))
		})
	}
}

// writeSizes writes an archive of entries of these sizes, zeros if they are many.
func writeSizes(t *testing.T, h *holey, sizes []int64) {
	t.Helper()
	w := zipfile.NewWriter(h)
	for i, size := range sizes {
		require.NoError(t, w.Add(zipfile.Header{Name: fmt.Sprintf("entry%d", i), Perm: 0o644, Aligned: true}, func(payload io.Writer) error {
			for ; size >= int64(len(zeros)); size -= int64(len(zeros)) {
				if _, err := payload.Write(zeros); err != nil {
					return err
				}
			}
			return testkit.Err(payload.Write(bytes.Repeat([]byte("x"), int(size))))
		}))
	}
	require.NoError(t, w.Close())
}

// requireSizes reads what writeSizes wrote, payloads of many bytes left out.
func requireSizes(t *testing.T, h *holey, sizes []int64) {
	t.Helper()
	a, err := zipfile.Open(h, h.size, zipfile.MaxEntries)
	require.NoError(t, err)
	require.Len(t, a.Entries, len(sizes))
	for i, e := range a.Entries {
		require.Equal(t, sizes[i], e.Size)
		require.Zero(t, e.Offset%64)
		if e.Size < int64(len(zeros)) {
			text, err := io.ReadAll(e.Reader(h))
			require.NoError(t, err)
			require.Equal(t, bytes.Repeat([]byte("x"), int(e.Size)), text)
		}
	}
}

// tail returns the end of an archive.
func tail(t *testing.T, h *holey) []byte {
	t.Helper()
	b := make([]byte, 1000)
	_, err := h.ReadAt(b, h.size-int64(len(b)))
	require.NoError(t, err)
	return b
}

// extraOf returns the extra fields of the i-th record of the directory.
func extraOf(t *testing.T, h *holey, i int) []byte {
	t.Helper()
	b := tail(t, h)
	b = b[find(b, recordMark, i):]
	return b[46+int(le.Uint16(b[28:])):][:le.Uint16(b[30:])]
}

// TestManyEntriesAreZip64 writes more entries than 16 bits count.
func TestManyEntriesAreZip64(t *testing.T) {
	file := many(t, 65_536)
	require.Contains(t, string(file), end64Mark)
	require.Len(t, open(t, file).Entries, 65_536)
}

// TestLargeFile has Python read 4 GiB and more, mostly a hole.
func TestLargeFile(t *testing.T) {
	if !longtests.On() {
		t.Skip("needs seconds")
	}
	h := hole(t)
	writeSizes(t, h, []int64{9, 4100 << 20, 11})
	out := processkit.Python(t, `
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
print(z.testzip(), [i.file_size for i in z.infolist()])`, h.Name())
	require.Equal(t, "None [9, 4299161600, 11]\n", out)
}
