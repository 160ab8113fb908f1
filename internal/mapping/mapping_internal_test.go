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
