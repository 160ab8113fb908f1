package zipfile_test

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/zipfile"
	"github.com/go-tensordict/tensordict/tensor"
)

// golden returns the archives that the originals wrote.
func golden(t testing.TB) (files []string) {
	t.Helper()
	dirs := []string{filepath.Join("..", "..", "testdata", "golden")}
	if dir := os.Getenv("GOLDEN_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		for _, pattern := range []string{"npz*/data.npz", "tdz*/data.tdz"} {
			found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
			require.NoError(t, err)
			require.True(t, len(found) > 0 || dir != dirs[0], dir)
			files = append(files, found...)
		}
	}
	return files
}

// TestGolden reads archives that Python wrote, and writes them again with equal bytes, or with
// equal content if members are deflated.
func TestGolden(t *testing.T) {
	for _, name := range golden(t) {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			file, err := os.ReadFile(name)
			require.NoError(t, err)
			a := open(t, file)

			var again memory
			w := zipfile.NewWriter(&again)
			deflated, z := false, tensor.Must(zip.NewReader(bytes.NewReader(file), int64(len(file))))
			for i, e := range a.Entries {
				h := header(filepath.Ext(name), e)
				h.Modified = z.File[i].Modified
				require.NoError(t, w.Add(h, func(payload io.Writer) error { return testkit.Err(io.Copy(payload, e.Reader(bytes.NewReader(file)))) }))
				deflated = deflated || e.Method == zipfile.Deflate
			}
			require.NoError(t, w.Close())
			if !deflated {
				require.Equal(t, file, again.Bytes())
				return
			}
			require.Equal(t, contents(t, file), contents(t, again.Bytes()))
		})
	}
}

// header returns how an original writes an entry.
func header(ext string, e zipfile.Entry) zipfile.Header {
	h := zipfile.Header{Name: e.Name, Perm: 0o600, Deflate: e.Method == zipfile.Deflate}
	if ext == ".tdz" {
		h.Perm, h.Aligned = 0o644, strings.HasSuffix(e.Name, ".memmap")
	}
	return h
}

// memory is a file in memory.
type memory struct{ bytes.Buffer }

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	if at < 0 || at+int64(len(p)) > int64(m.Len()) {
		return 0, fs.ErrInvalid
	}
	return copy(m.Bytes()[at:], p), nil
}

// open opens an archive in memory.
func open(t testing.TB, file []byte) *zipfile.Archive {
	t.Helper()
	a, err := zipfile.Open(bytes.NewReader(file), int64(len(file)), zipfile.MaxEntries)
	require.NoError(t, err)
	return a
}

// contents returns names and contents of an archive, in its order.
func contents(t testing.TB, file []byte) (all []string) {
	t.Helper()
	for _, e := range open(t, file).Entries {
		text, err := io.ReadAll(e.Reader(bytes.NewReader(file)))
		require.NoError(t, err)
		require.Len(t, text, int(e.Size))
		all = append(all, e.Name, string(text))
	}
	return all
}
