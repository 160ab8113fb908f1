package zipfile_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

func TestReaderRefuses(t *testing.T) {
	text := strings.Repeat("content", 1000)
	packed := func(change func(h *zip.FileHeader)) []byte { return foreign(t, deflated("x", text, change)) }
	same := func(*zip.FileHeader) {}
	tests := []struct {
		name string
		file []byte
		edit edit
	}{
		{"stored, of another checksum", foreign(t, with(func(h *zip.FileHeader) { h.CRC32++ })), nil},
		{"deflated, of another checksum", packed(func(h *zip.FileHeader) { h.CRC32++ }), nil},
		{"shorter than it should be", packed(func(h *zip.FileHeader) { h.UncompressedSize64++ }), nil},
		{"longer than it should be", packed(func(h *zip.FileHeader) { h.UncompressedSize64 = 7 }), nil},
		{"a bomb", foreign(t, deflated("x", strings.Repeat("\x00", 1<<24), func(h *zip.FileHeader) { h.UncompressedSize64 = 1 })), nil},
		{"a payload that is cut", packed(func(h *zip.FileHeader) {
			h.Comment = h.Comment[:len(h.Comment)-3]
			h.CompressedSize64 -= 3
		}), nil},
		{"a payload that is not deflated", packed(same), put(localMark, 0, 31, 1, 0xff)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.edit != nil {
				tt.file = tt.edit(tt.file)
			}
			a := open(t, tt.file)
			e := a.Entries[0]
			file := bytes.NewReader(tt.file)
			r, p := e.Reader(file), make([]byte, e.Size)
			var err error
			testkit.MaxBytes(t, 300<<10, func() { _, err = io.ReadFull(r, p) })
			testkit.Fails(t, zipfile.ErrCorrupt, err)
			n, again := r.Read(p)
			require.Zero(t, n)
			require.Equal(t, err, again, "the error stays")
			_, all := io.ReadAll(e.Reader(file))
			require.EqualError(t, all, err.Error())
		})
	}
}

// TestReaderOfCutFile cuts a file that is open.
func TestReaderOfCutFile(t *testing.T) {
	file := foreign(t, stored("x", "content"))
	r := &cutFile{bytes.NewReader(file), int64(len(file))}
	a, err := zipfile.Open(r, int64(len(file)), zipfile.MaxEntries)
	require.NoError(t, err)
	r.size = a.Entries[0].Offset + 3
	_, err = io.ReadAll(a.Entries[0].Reader(r))
	testkit.Fails(t, zipfile.ErrCorrupt, err)
}

type cutFile struct {
	io.ReaderAt
	size int64
}

func (f *cutFile) ReadAt(p []byte, at int64) (int, error) {
	return io.NewSectionReader(f.ReaderAt, 0, f.size).ReadAt(p, at)
}

// TestReaderReturnsErrorsOfTheReader fails when payloads are read.
func TestReaderReturnsErrorsOfTheReader(t *testing.T) {
	file := small(t)
	r := &failing{bytes.NewReader(file), 100}
	a, err := zipfile.Open(r, int64(len(file)), zipfile.MaxEntries)
	require.NoError(t, err)
	for _, e := range a.Entries {
		r.left = 0
		_, err := io.ReadAll(e.Reader(r))
		require.Equal(t, errDisk, err)
	}
}

// TestReader reads in pieces of any size, as package iotest demands.
func TestReader(t *testing.T) {
	text := strings.Repeat("some text, ", 5000)
	file := write(t, zipfile.Header{Name: "stored"}, text, zipfile.Header{Name: "packed", Deflate: true}, text,
		zipfile.Header{Name: "no bytes"}, "", zipfile.Header{Name: "no bytes, packed", Deflate: true}, "")
	a := open(t, file)
	for _, e := range a.Entries {
		want := text[:e.Size]
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"all": func(r io.Reader) io.Reader { return r }, "one byte": iotest.OneByteReader, "half": iotest.HalfReader,
		} {
			got, err := io.ReadAll(wrap(e.Reader(bytes.NewReader(file))))
			require.NoError(t, err, "%s %s", e.Name, name)
			require.Equal(t, want, string(got), "%s %s", e.Name, name)
		}
		r := e.Reader(bytes.NewReader(file))
		_, err := io.ReadFull(r, make([]byte, e.Size))
		require.NoError(t, err)
		n, err := r.Read(make([]byte, 1))
		require.Zero(t, n)
		require.Equal(t, io.EOF, err)
	}
}
