package vfs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// reservers are the ways to reserve: as the system does it, and by writing zeros.
var reservers = map[string]func(f *os.File, size int64) error{
	"system": func(f *os.File, size int64) error { return osFile{f}.Reserve(size) },
	"zeros":  writeZeros,
}

func TestReserve(t *testing.T) {
	tests := []struct {
		name string
		size int64
	}{
		{"nothing", 0},
		{"a byte", 1},
		{"less than is written at once", 1<<20 - 1},
		{"as much as is written at once", 1 << 20},
		{"a bit more than is written at once", 1<<20 + 3},
	}
	for _, tt := range tests {
		for how, reserve := range reservers {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "f")
				f, err := os.Create(path)
				require.NoError(t, err)
				require.NoError(t, reserve(f, tt.size))
				info, err := os.Stat(path)
				require.NoError(t, err)
				require.Equal(t, tt.size, info.Size())

				_, err = f.Write([]byte("end"))
				require.NoError(t, err)
				require.NoError(t, f.Close())
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				want := append(make([]byte, tt.size), "end"...)
				require.True(t, bytes.Equal(want, data), "want zeros, and after them what was written")
			})
		}
	}
}

func TestReserveAfterClose(t *testing.T) {
	for how, reserve := range reservers {
		t.Run(how, func(t *testing.T) {
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.ErrorContains(t, reserve(f, 1), f.Name())
		})
	}
}
