package mapping_test

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// create returns a new file that holds data, open for reading and writing until the test ends.
func create(t testing.TB, data []byte) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "leaf"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	_, err = f.Write(data)
	require.NoError(t, err)
	return f
}

// mapped returns a mapping of a new file that holds data. The test has to close it.
func mapped(t testing.TB, data []byte, mode mapping.Mode) *mapping.Mapping {
	t.Helper()
	m, err := mapping.Map(create(t, data), len(data), mode)
	require.NoError(t, err)
	return m
}

func TestMapRefuses(t *testing.T) {
	tests := []struct {
		name string
		open func(t *testing.T) *os.File
		size int
		err  error
		text string
	}{
		{"no bytes", file, 0, mapping.ErrSize, "size cannot be mapped: got 0 bytes, want at least 1"},
		{"a negative size", file, -1, mapping.ErrSize, "size cannot be mapped: got -1 bytes, want at least 1"},
		{"more than the file holds", file, 4, mapping.ErrSize, "size cannot be mapped: got a file of 3 bytes, want 4"},
		{"the largest size", file, math.MaxInt, mapping.ErrSize, ""},
		{"an empty file", empty, 1, mapping.ErrSize, "size cannot be mapped: got a file of 0 bytes, want 1"},
		{"a directory", directory, 1, mapping.ErrNotRegular, ""},
		{"a device", device, 1, mapping.ErrNotRegular, ""},
		{"a closed file", closed, 1, os.ErrClosed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := mapping.Live()
			f := tt.open(t)
			_, err := mapping.Map(f, tt.size, mapping.ReadOnly)
			requireRefused(t, err, tt.err, f.Name())
			if tt.text != "" {
				require.EqualError(t, err, "map "+f.Name()+": "+tt.text)
			}
			require.Equal(t, before, mapping.Live())
		})
	}
}

func requireRefused(t *testing.T, err, want error, path string) {
	t.Helper()
	require.ErrorIs(t, err, want)
	var pathErr *fs.PathError
	require.ErrorAs(t, err, &pathErr)
	require.Equal(t, path, pathErr.Path)
}

func file(t *testing.T) *os.File  { return create(t, []byte("abc")) }
func empty(t *testing.T) *os.File { return create(t, nil) }

func directory(t *testing.T) *os.File { return reopen(t, t.TempDir()) }
func device(t *testing.T) *os.File    { return reopen(t, os.DevNull) }

func closed(t *testing.T) *os.File {
	f := file(t)
	require.NoError(t, f.Close())
	return f
}

func reopen(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestMapOutlivesTheFile(t *testing.T) {
	f := create(t, []byte("abcdef"))
	m, err := mapping.Map(f, 4, mapping.ReadOnly)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	data, err := m.Acquire()
	require.NoError(t, err)
	require.Equal(t, "abcd", string(data), "the first size bytes, no more")
	m.Release()
	require.NoError(t, m.Close())
}

func TestMapReadWriteNeedsAWritableFile(t *testing.T) {
	f := create(t, []byte("abc"))
	_, err := mapping.Map(reopen(t, f.Name()), 3, mapping.ReadWrite)
	require.ErrorIs(t, err, fs.ErrPermission)
}

func TestStoresReachTheFile(t *testing.T) {
	f := create(t, []byte("abc"))
	m, err := mapping.Map(f, 3, mapping.ReadWrite)
	require.NoError(t, err)
	data, err := m.Acquire()
	require.NoError(t, err)
	data[1] = 'X'
	m.Release()
	require.NoError(t, m.Flush())
	require.NoError(t, m.Close())

	got, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Equal(t, "aXc", string(got))
}
