package forms_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/forms"
)

const benchRows = 200_000 // of 1 KiB

// copyTree copies the files of a directory as cp does, and waits for the disk.
func copyTree(b *testing.B, to, from string) {
	require.NoError(b, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inner, err := filepath.Rel(from, path)
		if err != nil || d.IsDir() {
			return os.MkdirAll(filepath.Join(to, inner), 0o777)
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(filepath.Join(to, inner))
		if err != nil {
			return err
		}
		if _, err = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, make([]byte, 1<<20)); err != nil {
			return err
		}
		if err := out.Sync(); err != nil {
			return err
		}
		return out.Close()
	}))
}

// measure runs an operation again and again, each time with an output that is not there.
func measure(b *testing.B, bytes int64, verb func(out string)) {
	dir := b.TempDir()
	b.SetBytes(bytes)
	for b.Loop() {
		verb(filepath.Join(dir, "out"))
		b.StopTimer()
		found, err := os.ReadDir(dir)
		require.NoError(b, err)
		for _, entry := range found {
			require.NoError(b, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
		b.StartTimer()
	}
}

// BenchmarkConvert makes an archive of a directory, beside a copy of its files.
func BenchmarkConvert(b *testing.B) {
	in := wide(b, benchRows)
	b.Run("how=copy", func(b *testing.B) {
		measure(b, benchRows*1032, func(out string) { copyTree(b, out, in) })
	})
	b.Run("how=archive", func(b *testing.B) {
		measure(b, benchRows*1032, func(out string) {
			require.NoError(b, forms.Convert(ctx, out+".tdz", []string{in}, forms.Options{}))
		})
	})
}

// BenchmarkSlice keeps half of the rows, beside a copy of the result.
func BenchmarkSlice(b *testing.B) {
	in, result := wide(b, benchRows), filepath.Join(b.TempDir(), "half")
	require.NoError(b, forms.Slice(ctx, result, in, forms.SliceOptions{Keep: half}))
	b.Run("how=copy", func(b *testing.B) {
		measure(b, benchRows/2*1032, func(out string) { copyTree(b, out, result) })
	})
	b.Run("how=keep", func(b *testing.B) {
		measure(b, benchRows/2*1032, func(out string) {
			require.NoError(b, forms.Slice(ctx, out, in, forms.SliceOptions{Keep: half}))
		})
	})
}
