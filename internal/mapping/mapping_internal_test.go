package mapping

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// failing returns a mapping that cannot give back what it holds.
func failing(t *testing.T, failure error) *Mapping {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leaf")
	require.NoError(t, os.WriteFile(path, []byte("abc"), 0o666))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	m, err := Map(f, 3, ReadOnly)
	require.NoError(t, err)
	done := m.res.done
	m.res.done = func() error { return errors.Join(done(), failure) }
	return m
}

func TestUnmapErrorIsReported(t *testing.T) {
	failure := errors.New("no way back")
	tests := []struct {
		name string
		used bool
		err  error // of Close
	}{
		{"by Close, which unmaps", false, failure},
		{"not by Close, if the last Release unmaps", true, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := failing(t, failure)
			if tt.used {
				_, err := m.Acquire()
				require.NoError(t, err)
			}
			require.ErrorIs(t, m.Close(), tt.err)
			if tt.used {
				m.Release()
			}
			for range 2 {
				require.ErrorIs(t, m.CloseWait(t.Context()), failure, "by each CloseWait")
			}
		})
	}
}

func TestRangesAreRoundedOutwards(t *testing.T) {
	page := os.Getpagesize()
	path := filepath.Join(t.TempDir(), "leaf")
	size := 2*page + 10
	require.NoError(t, os.WriteFile(path, make([]byte, size), 0o666))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	m, err := Map(f, size, ReadOnly)
	require.NoError(t, err)
	tests := []struct {
		name         string
		offset, size int
		start, end   int
	}{
		{"all", 0, size, 0, size},
		{"a byte", 1, 1, 0, page},
		{"the last byte of a page", page - 1, 1, 0, page},
		{"the first byte of a page", page, 1, page, 2 * page},
		{"a page", page, page, page, 2 * page},
		{"a page and a byte", page, page + 1, page, size},
		{"two bytes in two pages", page - 1, 2, 0, 2 * page},
		{"the last byte", size - 1, 1, 2 * page, size},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			require.NoError(t, m.inPages(tt.offset, tt.size, func(pages []byte) error {
				calls++
				require.Same(t, &m.res.data[tt.start], &pages[0])
				require.Len(t, pages, tt.end-tt.start)
				return nil
			}))
			require.Equal(t, 1, calls)
		})
	}
	require.NoError(t, m.inPages(page+1, 0, func([]byte) error { return errors.New("called") }), "nothing has no page")
	require.NoError(t, m.Close())
}
