package zipfile_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// requireOracle checks that archive/zip finds in a file what a says: the same entries and places,
// and either the same contents or an error where a has one.
func requireOracle(t testing.TB, file []byte, a *zipfile.Archive) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	at := 0
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		require.Less(t, at, len(a.Entries))
		requireEntry(t, f, a.Entries[at], file)
		at++
	}
	require.Len(t, a.Entries, at)
}

// requireEntry checks that a file of archive/zip is the entry e.
func requireEntry(t testing.TB, f *zip.File, e zipfile.Entry, file []byte) {
	t.Helper()
	require.Equal(t, f.Name, e.Name)
	require.Equal(t, f.Method, e.Method)
	require.EqualValues(t, f.UncompressedSize64, e.Size)
	require.EqualValues(t, f.CompressedSize64, e.Packed)
	require.Equal(t, f.CRC32, e.CRC)
	offset, err := f.DataOffset()
	require.NoError(t, err)
	require.Equal(t, offset, e.Offset)
	if e.Size > 1<<20 {
		return // a lie, or slow
	}
	text, err := io.ReadAll(e.Reader(bytes.NewReader(file)))
	r, oracleErr := f.Open()
	require.NoError(t, oracleErr)
	want, oracleErr := io.ReadAll(io.LimitReader(r, e.Size+1))
	if err == nil && f.Flags&8 == 0 { // archive/zip also checks descriptors
		require.NoError(t, oracleErr)
	}
	if oracleErr == nil {
		require.NoError(t, err)
		require.Equal(t, want, text)
	}
}
