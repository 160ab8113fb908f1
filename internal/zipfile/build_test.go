package zipfile_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

var le = binary.LittleEndian

// The signatures of records.
const (
	localMark   = "PK\x03\x04"
	recordMark  = "PK\x01\x02"
	endMark     = "PK\x05\x06"
	end64Mark   = "PK\x06\x06"
	locatorMark = "PK\x06\x07"
)

// small returns an archive of two entries that nothing is wrong with.
func small(t testing.TB) []byte {
	t.Helper()
	return write(t, zipfile.Header{Name: "a", Perm: 0o600}, "seven ü",
		zipfile.Header{Name: "dir/é.memmap", Perm: 0o644, Aligned: true}, "elements",
		zipfile.Header{Name: "z", Deflate: true}, strings.Repeat("long", 100))
}

// write returns the archive of headers, each followed by its content.
func write(t testing.TB, entries ...any) []byte {
	t.Helper()
	var file memory
	w := zipfile.NewWriter(&file)
	for i := 0; i < len(entries); i += 2 {
		require.NoError(t, w.Add(entries[i].(zipfile.Header), text(entries[i+1].(string))))
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

// text returns a function that writes a text.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { return testkit.Err(io.WriteString(w, s)) }
}

// foreign returns an archive that archive/zip writes, of entries as they are given.
func foreign(t testing.TB, entries ...*zip.FileHeader) []byte {
	t.Helper()
	return foreignAt(t, 0, entries...)
}

// foreignAt is foreign, in a file that begins with other bytes.
func foreignAt(t testing.TB, at int64, entries ...*zip.FileHeader) []byte {
	t.Helper()
	file := bytes.NewBuffer(make([]byte, at))
	z := zip.NewWriter(file)
	z.SetOffset(at)
	for _, h := range entries {
		payload := h.Comment
		h.Comment = ""
		w, err := z.CreateRaw(h)
		require.NoError(t, err)
		_, err = w.Write([]byte(payload))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return file.Bytes()
}

// stored returns an entry of a name and a payload, for foreign, which finds the payload in Comment.
func stored(name, payload string) *zip.FileHeader {
	n := uint64(len(payload))
	return &zip.FileHeader{Name: name, Comment: payload, CompressedSize64: n, UncompressedSize64: n,
		CRC32: crc32.ChecksumIEEE([]byte(payload))}
}

// with returns an entry of a payload "x" after a change.
func with(change func(h *zip.FileHeader)) *zip.FileHeader {
	h := stored("x", "x")
	change(h)
	return h
}

// deflated returns an entry whose payload inflates to text.
func deflated(name, text string, change func(h *zip.FileHeader)) *zip.FileHeader {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, 9)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	h := stored(name, packed.String())
	h.Method, h.UncompressedSize64, h.CRC32 = zip.Deflate, uint64(len(text)), crc32.ChecksumIEEE([]byte(text))
	change(h)
	return h
}

// An edit changes an archive.
type edit func(file []byte) []byte

// put writes a number of size bytes at an offset from the n-th record that has a signature.
func put(mark string, n, offset, size int, value uint64) edit {
	return func(file []byte) []byte {
		b := le.AppendUint64(nil, value)[:size]
		copy(file[find(file, mark, n)+offset:], b)
		return file
	}
}

// find returns where the n-th record of a signature begins.
func find(file []byte, mark string, n int) int {
	at := bytes.Index(file, []byte(mark))
	for range n {
		at += 4 + bytes.Index(file[at+4:], []byte(mark))
	}
	return at
}

// all makes several edits.
func all(edits ...edit) edit {
	return func(file []byte) []byte {
		for _, e := range edits {
			file = e(file)
		}
		return file
	}
}

// insert inserts text at the n-th record of a signature. Before the directory it moves that.
func insert(mark string, n, offset int, text string) edit {
	return func(file []byte) []byte {
		file = slices.Insert(file, find(file, mark, n)+offset, []byte(text)...)
		if mark == recordMark {
			offset := file[find(file, endMark, 0)+16:]
			le.PutUint32(offset, le.Uint32(offset)+uint32(len(text)))
		}
		return file
	}
}

// wide gives the archive zip64 end records, which say what the end record does.
func wide(file []byte) []byte {
	at := find(file, endMark, 0)
	end := file[at:]
	b := le.AppendUint64([]byte(end64Mark), 44)
	b = append(b, 45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, n := range []uint64{uint64(le.Uint16(end[8:])), uint64(le.Uint16(end[10:])),
		uint64(le.Uint32(end[12:])), uint64(le.Uint32(end[16:]))} {
		b = le.AppendUint64(b, n)
	}
	b = append(b, locatorMark+"\x00\x00\x00\x00"...)
	b = le.AppendUint32(le.AppendUint64(b, uint64(at)), 1)
	return slices.Insert(file, at, b...)
}
