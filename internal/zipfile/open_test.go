package zipfile_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

func TestOpen(t *testing.T) {
	file := small(t)
	a := open(t, file)
	require.Equal(t, []string{"a", "seven ü", "dir/é.memmap", "elements", "z", strings.Repeat("long", 100)}, contents(t, file))
	require.Equal(t, zipfile.Entry{Name: "dir/é.memmap", Offset: 128, Size: 8, Packed: 8, CRC: a.Entries[1].CRC}, a.Entries[1])
	e, ok := a.Find("z")
	require.True(t, ok)
	require.Equal(t, a.Entries[2], e)
	for _, name := range []string{"dir", "dir/", "A", ""} {
		_, ok = a.Find(name)
		require.False(t, ok, name)
	}
}

// TestOpenForeign reads what other programs write.
func TestOpenForeign(t *testing.T) {
	descriptor := func() []byte {
		var file bytes.Buffer
		z := zip.NewWriter(&file)
		for _, name := range []string{"a", "dir/", "dir/b"} {
			w, err := z.Create(name)
			require.NoError(t, err)
			_, err = w.Write([]byte(strings.TrimSuffix(strings.Repeat(name, 9), strings.Repeat("dir/", 9))))
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		return file.Bytes()
	}
	tests := []struct {
		name string
		file []byte
		want []string
	}{
		{"no entries", foreign(t), nil},
		{"no zip64 sizes", foreign(t, stored("a", "x"), stored("b", "y")), []string{"a", "x", "b", "y"}},
		{"no bytes", foreign(t, stored("a", "")), []string{"a", ""}},
		{"descriptors after payloads, and a directory", descriptor(),
			[]string{"a", strings.Repeat("a", 9), "dir/b", strings.Repeat("dir/b", 9)}},
		{"a directory packed to something", all(put(localMark, 0, 31, 1, '/'), put(recordMark, 0, 47, 1, '/'))(
			foreign(t, deflated("d!", "", func(*zip.FileHeader) {}), stored("d/a", "x"))), []string{"d/a", "x"}},
		{"a comment", all(insert(endMark, 0, 22, "hello"), put(endMark, 0, 20, 2, 5))(foreign(t, stored("a", "x"))), []string{"a", "x"}},
		{"zip64 records that say the same", wide(foreign(t, stored("a", "x"))), []string{"a", "x"}},
		{"zip64 records that say all of it", all(wide, put(endMark, 0, 4, 8, math.MaxUint64), put(endMark, 0, 12, 8, math.MaxUint64))(
			foreign(t, stored("a", "x"))), []string{"a", "x"}},
		{"extra fields, with padding after them", foreign(t, with(func(h *zip.FileHeader) {
			h.Extra = []byte("UT\x05\x00\x03\x01\x02\x03\x04\x00\x00")
		})), []string{"x", "x"}},
		{"more extra fields than are read at once", foreign(t, with(func(h *zip.FileHeader) {
			h.Extra = []byte("td\xe8\x03" + strings.Repeat("\x00", 1000))
		})), []string{"x", "x"}},
		{"a name in UTF-8 that is not said to be", foreign(t, with(func(h *zip.FileHeader) {
			h.Name, h.NonUTF8 = "é", true
		})), []string{"é", "x"}},
		{"an order other than that of payloads", swapped(foreign(t, stored("a", "x"), stored("b", "y"))), []string{"b", "y", "a", "x"}},
		{"bytes between entries", insert(recordMark, 0, 0, "unused")(foreign(t, stored("a", "x"))), []string{"a", "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, contents(t, tt.file))
		})
	}
}

// swapped swaps the two records of a directory, which have one length.
func swapped(file []byte) []byte {
	first, second, end := find(file, recordMark, 0), find(file, recordMark, 1), find(file, endMark, 0)
	return bytes.Join([][]byte{file[:first], file[second:end], file[first:second], file[end:]}, nil)
}

func TestOpenRefuses(t *testing.T) {
	none := func(file []byte) []byte { return file }
	cut := func(n int) edit { return func(file []byte) []byte { return file[:len(file)-n] } }
	prefix := func(file []byte) []byte { return append([]byte("#!"), file...) }
	is, not := zipfile.ErrCorrupt, zipfile.ErrUnsupported
	one := func() []byte { return foreign(t, stored("x", "x")) }
	two := func() []byte { return foreign(t, stored("a", "x"), stored("b", "y")) }
	of := func(entries ...*zip.FileHeader) []byte { return foreign(t, entries...) }
	named := func(name string) []byte { return of(stored(name, "x")) }
	zip64 := func(numbers ...uint64) *zip.FileHeader { // as extra field
		return with(func(h *zip.FileHeader) {
			h.Extra = append(h.Extra, 1, 0, byte(8*len(numbers)), 0)
			for _, n := range numbers {
				h.Extra = le.AppendUint64(h.Extra, n)
			}
		})
	}
	const most = math.MaxUint32
	tests := []struct {
		name string
		file []byte
		edit edit
		err  error
	}{
		{"nothing", nil, none, is},
		{"less than an end record", one(), func([]byte) []byte { return []byte("PK\x05\x06") }, is},
		{"no end record", make([]byte, 100), none, is},
		{"a byte is missing at the end", one(), cut(1), is},
		{"a comment that is longer than the file", one(), put(endMark, 0, 20, 2, 1), is},
		{"an end record within a comment", one(), all(insert(endMark, 0, 22, endMark+strings.Repeat("\x00", 30)), put(endMark, 0, 20, 2, 34)), is},
		{"bytes after the end", one(), insert(endMark, 0, 22, strings.Repeat("x", 101)), is},
		{"fewer entries than the directory has", two(), put(endMark, 0, 8, 4, 1<<16|1), is},
		{"no entries, and a directory", one(), put(endMark, 0, 8, 4, 0), is},
		{"more entries than limits allow", of(stored("a", ""), stored("b", ""), stored("c", ""), stored("d", "")), none, not},
		{"a directory larger than limits allow", of(stored(strings.Repeat("a", 60_000), ""), stored(strings.Repeat("b", 60_000), "")), none, not},
		{"a directory after the end", one(), put(endMark, 0, 16, 4, most), is},
		{"a directory that overlaps the end record", one(), func(file []byte) []byte {
			return put(endMark, 0, 12, 4, uint64(le.Uint32(file[find(file, endMark, 0)+12:]))+1)(file)
		}, is},
		{"a prefix", one(), prefix, not},
		{"a prefix that offsets know of", foreignAt(t, 5, stored("x", "x")), none, not},

		{"zip64: 2^60 entries", one(), all(wide, put(end64Mark, 0, 24, 8, 1<<60), put(end64Mark, 0, 32, 8, 1<<60), put(endMark, 0, 8, 4, most)), not},
		{"zip64: a directory of 2^64 bytes", one(), all(wide, put(end64Mark, 0, 40, 8, math.MaxUint64), put(endMark, 0, 12, 4, most)), is},
		{"zip64: an offset that overflows", one(), all(wide, put(end64Mark, 0, 48, 8, math.MaxUint64), put(endMark, 0, 16, 4, most)), is},

		{"a record without its signature", one(), put(recordMark, 0, 0, 1, 'Q'), is},
		{"bzip2", of(with(func(h *zip.FileHeader) { h.Method = 12 })), none, not},
		{"encryption", of(with(func(h *zip.FileHeader) { h.Flags = 1 })), none, not},
		{"encryption that only the directory knows of", one(), put(recordMark, 0, 8, 2, 1<<6), not},
		{"stored, with two sizes", of(with(func(h *zip.FileHeader) { h.UncompressedSize64 = 2 })), none, is},
		{"more than deflate can give", of(deflated("x", "x", func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 60 })), none, is},
		{"a checksum of nothing", of(with(func(h *zip.FileHeader) { h.UncompressedSize64, h.CompressedSize64 = 0, 0 })), none, is},
		{"too few zip64 sizes", of(zip64(1)), put(recordMark, 0, 20, 8, math.MaxUint64), is},
		{"a size below 0", of(zip64(1<<63, 1<<63)), put(recordMark, 0, 20, 8, math.MaxUint64), is},
		{"an offset below 0", of(zip64(1 << 63)), put(recordMark, 0, 42, 4, most), is},
		{"an offset after the directory", of(stored("a", "x"), zip64(1<<50)), put(recordMark, 1, 42, 4, most), is},

		{"a name of nothing", named(""), none, is},
		{"a name that leads out", named("../x"), none, is},
		{"a name that leads out later", named("a/../../x"), none, is},
		{"an absolute name", named("/x"), none, is},
		{"a name with a backslash", named(`..\x`), none, is},
		{"a name with a zero byte", named("x\x00.npy"), none, is},
		{"a name with an empty part", named("a//x"), none, is},
		{"a name with a dot", named("./x"), none, is},
		{"the name of the root", of(stored("./", "")), none, is},
		{"a name that is not UTF-8", named("x\xff"), none, is},
		{"one name for two", of(stored("x", "x"), stored("x", "y")), none, is},

		{"a local header without its signature", one(), put(localMark, 0, 0, 1, 'Q'), is},
		{"a local header of another name", one(), put(localMark, 0, 30, 1, 'y'), is},
		{"a local header of a longer name", one(), put(localMark, 0, 26, 2, 2), is},
		{"a local header that goes on into the directory", one(), put(localMark, 0, 28, 2, 0xffff), is},
		{"an entry that goes on into the directory", one(), all(put(recordMark, 0, 20, 8, 2<<32|2), put(localMark, 0, 18, 8, 2<<32|2)), is},
		{"two entries of one local header", two(), put(recordMark, 1, 42, 4, 0), is},
		{"an entry within the payload of another", of(stored("a", string(named("b"))), stored("b", "x")),
			put(recordMark, 2, 42, 4, 31), is}, // record 1 is in the payload
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.edit(tt.file)
			a, err := zipfile.Open(bytes.NewReader(file), int64(len(file)), 3)
			testkit.Fails(t, tt.err, err)
			require.Nil(t, a)
		})
	}
}

// TestOpenFindsLostEntries damages a record, so that archive/zip finds 65,536 fewer: it compares 16
// bits of their number.
func TestOpenFindsLostEntries(t *testing.T) {
	file := put(recordMark, 2, 0, 1, 'Q')(many(t, 65_538))
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.Len(t, z.File, 2)
	_, err = zipfile.Open(bytes.NewReader(file), int64(len(file)), zipfile.MaxEntries)
	testkit.Fails(t, zipfile.ErrCorrupt, err)
}

// TestDriveLetters opens a name that is a path on a drive for Windows, for those who do not
// extract.
func TestDriveLetters(t *testing.T) {
	file := foreign(t, stored("c:x", "x"))
	a, err := zipfile.Open(bytes.NewReader(file), int64(len(file)), zipfile.MaxEntries)
	require.NoError(t, err)
	require.Equal(t, "c:x", a.Entries[0].Name)
}

// TestOpenReturnsErrorsOfTheReader fails each read in turn.
func TestOpenReturnsErrorsOfTheReader(t *testing.T) {
	file := wide(small(t))
	for n := 0; ; n++ {
		r := &failing{bytes.NewReader(file), n}
		_, err := zipfile.Open(r, int64(len(file)), zipfile.MaxEntries)
		if err == nil {
			require.Greater(t, n, 5)
			return
		}
		require.ErrorIs(t, err, errDisk)
		require.NotErrorIs(t, err, zipfile.ErrCorrupt)
	}
}

var errDisk = errors.New("the disk fails")

// failing fails after so many reads.
type failing struct {
	io.ReaderAt
	left int
}

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, at)
}
