package zipfile_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// TestCut cuts archives at every byte: what is left has no end.
func TestCut(t *testing.T) {
	for _, file := range specimens(t) {
		for n := range file {
			_, err := zipfile.Open(bytes.NewReader(file[:n]), int64(n), zipfile.MaxEntries)
			require.ErrorIs(t, err, zipfile.ErrCorrupt, "%d of %d bytes", n, len(file))
		}
	}
}

// TestFlip changes every byte of archives: that is found, at the latest when the content is read,
// or changes nothing of it.
func TestFlip(t *testing.T) {
	masks := []byte{1, 128, 255, 2, 4, 8, 16, 32, 64}[:longtests.Times(3, 9)]
	for _, file := range specimens(t) {
		want := contents(t, file)
		for i := range file {
			for _, mask := range masks {
				damaged := slices.Clone(file)
				damaged[i] ^= mask
				if got, err := read(damaged); err == nil {
					require.Equal(t, want, got, "byte %d ^ %d", i, mask)
				} else {
					requireClass(t, err)
				}
			}
		}
	}
}

// specimens returns archives that have all kinds of records.
func specimens(t testing.TB) [][]byte {
	return [][]byte{
		small(t), wide(small(t)),
		foreign(t, stored("a", "some text"), deflated("b", "some text", func(*zip.FileHeader) {})),
	}
}

// read returns names and contents of an archive.
func read(file []byte) (all []string, err error) {
	a, err := zipfile.Open(bytes.NewReader(file), int64(len(file)), zipfile.MaxEntries)
	if err != nil {
		return nil, err
	}
	for _, e := range a.Entries {
		text, err := io.ReadAll(e.Reader(bytes.NewReader(file)))
		if err != nil {
			return nil, err
		}
		all = append(all, e.Name, string(text))
	}
	return all, nil
}

// requireClass checks that an error can be matched.
func requireClass(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, zipfile.ErrCorrupt) && !errors.Is(err, zipfile.ErrUnsupported) {
		t.Fatalf("unclassified error %v", err)
	}
}
