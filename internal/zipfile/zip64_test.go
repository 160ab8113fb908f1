package zipfile_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/longtests"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// zeros are written to a holey as a hole.
var zeros = make([]byte, 1<<20)

// A holey is a file of which runs of zeros are not kept, in memory or on a disk.
type holey struct {
	f interface {
		io.ReaderAt
		io.WriterAt
	}
	size int64
}

func (h *holey) Write(p []byte) (int, error) {
	if len(p) < len(zeros) || !bytes.Equal(p, zeros) {
		if _, err := h.f.WriteAt(p, h.size); err != nil {
			return 0, err
		}
	}
	h.size += int64(len(p))
	return len(p), nil
}

func (h *holey) WriteAt(p []byte, at int64) (int, error) { return h.f.WriteAt(p, at) }
func (h *holey) ReadAt(p []byte, at int64) (int, error)  { return h.f.ReadAt(p, at) }

// sparse keeps pages in memory.
type sparse map[int64]*[1 << 12]byte

func (s sparse) each(p []byte, at int64, do func(page *[1 << 12]byte, offset int, p []byte)) int {
	for done := 0; done < len(p); {
		i, offset := (at+int64(done))>>12, int(at+int64(done))&(1<<12-1)
		n := min(len(p)-done, 1<<12-offset)
		if s[i] == nil {
			s[i] = new([1 << 12]byte)
		}
		do(s[i], offset, p[done:][:n])
		done += n
	}
	return len(p)
}

func (s sparse) WriteAt(p []byte, at int64) (int, error) {
	return s.each(p, at, func(page *[1 << 12]byte, offset int, p []byte) { copy(page[offset:], p) }), nil
}

func (s sparse) ReadAt(p []byte, at int64) (int, error) {
	return s.each(p, at, func(page *[1 << 12]byte, offset int, p []byte) { copy(p, page[offset:]) }), nil
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
		{"2 GiB: a size, an offset and that of the directory", []int64{2048 * mib, 5}, []bool{true, true}, true},
		{"offsets of more than 4 GiB", []int64{2047 * mib, 2047 * mib, 2047 * mib, 1}, []bool{false, false, true, true}, true},
		{"less than 2 GiB", []int64{2047 * mib, 5}, []bool{false, false}, false},
		{"more than 4 GiB", []int64{5, 4097 * mib, 7}, []bool{false, true, true}, true},
	}
	for _, tt := range tests[:longtests.Times(2, 4)] {
		t.Run(tt.name, func(t *testing.T) {
			h := &holey{f: make(sparse)}
			writeSizes(t, h, tt.sizes)
			requireSizes(t, h, tt.sizes)
			for i, want := range tt.wide {
				require.Equal(t, want, bytes.Contains(recordOf(t, h, i), []byte{1, 0}), "entry %d", i)
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
		payload, err := w.Create(zipfile.Header{Name: fmt.Sprintf("entry%d", i), Perm: 0o644, Aligned: true})
		require.NoError(t, err)
		for ; size >= int64(len(zeros)); size -= int64(len(zeros)) {
			_, err = payload.Write(zeros)
			require.NoError(t, err)
		}
		_, err = payload.Write(bytes.Repeat([]byte("x"), int(size)))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
}

// requireSizes reads what writeSizes wrote, payloads of many bytes left out.
func requireSizes(t *testing.T, h *holey, sizes []int64) {
	t.Helper()
	a, err := zipfile.Open(h, h.size, zipfile.Limits{})
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

// recordOf returns the zip64 field with which the extra fields of the i-th record of the directory
// begin, nil if they begin with another.
func recordOf(t *testing.T, h *holey, i int) []byte {
	t.Helper()
	b := tail(t, h)
	b = b[find(b, recordMark, i):]
	return b[46+int(le.Uint16(b[28:])):][:2]
}

// TestManyEntriesAreZip64 writes more entries than 16 bits count.
func TestManyEntriesAreZip64(t *testing.T) {
	for n := 65_536; n >= longtests.Times(65_536, 65_535); n-- {
		file := many(t, n)
		require.Equal(t, n == 65_536, bytes.Contains(file, []byte(end64Mark)), "%d entries", n)
		require.Len(t, open(t, file).Entries, n)
	}
}

// TestLargeFile writes 4 GiB and more to a real file, mostly a hole. Python reads it, and writes
// the same bytes.
func TestLargeFile(t *testing.T) {
	if !longtests.On() {
		t.Skip("needs seconds")
	}
	path := filepath.Join(t.TempDir(), "large.zip")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	h := &holey{f: f}
	sizes := []int64{9, 4100 << 20, 11}
	writeSizes(t, h, sizes)
	requireSizes(t, h, sizes)
	out := python(t, `
import io, sys, zipfile
from tensordict._archive import _write_entry
z = zipfile.ZipFile(sys.argv[1])
sizes = [i.file_size for i in z.infolist()]
print(z.testzip(), sizes)

zeros = bytes(1 << 20)
class Holey(io.FileIO):
    def write(self, b):
        if bytes(b) != zeros: return super().write(b)
        self.seek(len(b), 1)
        return len(b)
zipfile.time.localtime = lambda *a: (1980, 1, 1, 0, 0, 0, 0, 0, 0)
with Holey(sys.argv[2], 'w+') as f, zipfile.ZipFile(f, 'w') as same:
    for i, size in enumerate(sizes):
        n = size // len(zeros)
        _write_entry(same, f'entry{i}', [zeros] * n + [b'x' * (size - n * len(zeros))], size,
            compress_type=zipfile.ZIP_STORED, compresslevel=None, align=True)
a, b = open(sys.argv[1], 'rb'), open(sys.argv[2], 'rb')
for f in a, b: f.seek(-1000, 2)
print(a.tell() == b.tell(), a.read() == b.read())
for i in z.infolist():
    for f in a, b: f.seek(i.header_offset)
    print(a.read(200) == b.read(200))
`, path, path+".python")
	require.Equal(t, "None [9, 4299161600, 11]\nTrue True\nTrue\nTrue\nTrue\n", out)
}
