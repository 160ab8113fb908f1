package zipfile_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// A counter counts what is read.
type counter struct {
	io.ReaderAt
	reads int
	bytes int64
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.reads++
	c.bytes += int64(n)
	return n, err
}

// TestManyEntries opens archives of more and more entries: bytes read, reads and memory grow with
// their number.
func TestManyEntries(t *testing.T) {
	for _, n := range []int{1000, longtests.Times(10_000, 100_000)} {
		file := many(t, n)
		c := &counter{ReaderAt: bytes.NewReader(file)}
		testkit.MaxBytes(t, uint64(1000*n), func() {
			c.reads, c.bytes = 0, 0
			a, err := zipfile.Open(c, int64(len(file)), zipfile.MaxEntries)
			require.NoError(t, err)
			require.Len(t, a.Entries, n)
		})
		require.Less(t, c.reads, 3*n)
		require.Less(t, c.bytes, int64(3*len(file)))
	}
}

// many returns an archive of n entries.
func many(t testing.TB, n int) []byte {
	t.Helper()
	var file memory
	w := zipfile.NewWriter(&file)
	for i := range n {
		require.NoError(t, w.Add(zipfile.Header{Name: fmt.Sprintf("group%d/leaf%d.memmap", i/100, i), Aligned: true}, text("elements")))
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

// TestClaimsCostNothing opens archives whose headers announce more than they hold.
func TestClaimsCostNothing(t *testing.T) {
	long := strings.Repeat("\x00", 60_000)
	one := foreign(t, with(func(h *zip.FileHeader) { h.Extra = []byte("td" + "\x60\xea" + long) }))
	record := one[find(one, recordMark, 0):find(one, endMark, 0)]
	again := func(n int) []byte { // n records of one local header
		file := append([]byte{}, one[:find(one, endMark, 0)]...)
		for range n {
			file = append(file, record...)
		}
		end := append([]byte{}, one[find(one, endMark, 0):]...)
		file = append(file, end...)
		return all(put(endMark, 0, 8, 4, uint64(n+1)<<16|uint64(n+1)), put(endMark, 0, 12, 4, uint64((n+1)*len(record))))(file)
	}
	size := longtests.Times(8<<20, 64<<20)
	zeros := append(make([]byte, size), one[find(one, endMark, 0):]...)
	zeros = all(put(endMark, 0, 8, 4, 60_000<<16|60_000), put(endMark, 0, 12, 4, uint64(size)), put(endMark, 0, 16, 4, 0))(zeros)
	tests := []struct {
		name   string
		file   []byte
		bytes  int64  // read at most
		memory uint64 // allocated at most
	}{
		{"one local header for many records", again(100), 100*int64(len(record)) + 500_000, 200*uint64(len(record)) + 500_000},
		{"a directory of zeros", zeros, 500_000, 2 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &counter{ReaderAt: bytes.NewReader(tt.file)}
			var err error
			testkit.MaxBytes(t, tt.memory, func() {
				c.bytes = 0
				_, err = zipfile.Open(c, int64(len(tt.file)), zipfile.MaxEntries)
			})
			testkit.Fails(t, zipfile.ErrCorrupt, err)
			require.Less(t, c.bytes, tt.bytes)
		})
	}
}

// TestClaimsOfHugeFile opens a file of 1 TiB, a hole, whose end claims many entries.
func TestClaimsOfHugeFile(t *testing.T) {
	const size = 1 << 40
	for claim, want := range map[uint64]error{zipfile.MaxEntries: zipfile.ErrCorrupt, 1 << 32: zipfile.ErrUnsupported, 1 << 62: zipfile.ErrUnsupported} {
		end := wide(foreign(t))
		end = all(put(end64Mark, 0, 24, 8, claim), put(end64Mark, 0, 32, 8, claim), put(endMark, 0, 8, 4, math.MaxUint32),
			put(locatorMark, 0, 8, 8, uint64(size-len(end))))(end)
		h := hole(t)
		h.size = size
		_, err := h.WriteAt(end, size-int64(len(end)))
		require.NoError(t, err)
		testkit.MaxBytes(t, 9<<20, func() { _, err = zipfile.Open(h, size, zipfile.MaxEntries) })
		require.ErrorIs(t, err, want)
	}
}
