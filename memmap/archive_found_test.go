package memmap_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// These tests are of defects that attacks on archives found.

// TestArchiveOfACutLazyStack: a member without a meta.json does not end the stack.
func TestArchiveOfACutLazyStack(t *testing.T) {
	files := tree(t, filepath.Join("..", "testdata", "golden", "td07_lazystack_dim1", "data"))
	delete(files, "1/meta.json")
	dir, at := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "a.tdz")
	var list []string
	for name, text := range files {
		write(t, dir, name, text)
		list = append(list, name, text)
	}
	require.NoError(t, os.WriteFile(at, packed(t, list...), 0o666))
	require.ErrorIs(t, testkit.Err(memmap.Open(dir)), memmap.ErrCorrupt)
	require.ErrorIs(t, testkit.Err(memmap.Open(at)), memmap.ErrCorrupt)
	require.ErrorIs(t, memmap.Copy(t.Context(), at, dir+"2", memmap.CopyOptions{}), memmap.ErrCorrupt)
}

// TestLongLengthsInAnArchive: the CRC-32 is of all bytes, so Open reads all.
func TestLongLengthsInAnArchive(t *testing.T) {
	td := tdict.New(4)
	require.NoError(t, td.Set("r", visited(t, 4, 1)))
	file := savedArchive(t, td)
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		long := filepath.Join(t.TempDir(), "long.tdz")
		rezip(t, file, long, method, func(name string, b []byte) []byte {
			if strings.HasSuffix(name, "@lengths.memmap") {
				return append(b, make([]byte, 800)...)
			}
			return b
		})
		require.NoError(t, testkit.Err(memmap.Verify(t.Context(), long, memmap.VerifyOptions{})))
		b := tensor.Must(os.ReadFile(long))
		for _, f := range tensor.Must(zip.OpenReader(long)).File {
			if strings.HasSuffix(f.Name, "@lengths.memmap") {
				end := tensor.Must(f.DataOffset()) + int64(f.CompressedSize64)
				b[end-10] ^= 3
			}
		}
		require.NoError(t, os.WriteFile(long, b, 0o666))
		require.ErrorIs(t, testkit.Err(memmap.Open(long)), memmap.ErrCorrupt)
		require.ErrorIs(t, testkit.Err(memmap.Verify(t.Context(), long, memmap.VerifyOptions{})), memmap.ErrCorrupt)
	}
}

// rezip copies a zip file, each entry as edit returns it.
func rezip(t *testing.T, from, to string, method uint16, edit func(name string, b []byte) []byte) {
	t.Helper()
	z := tensor.Must(zip.OpenReader(from))
	defer z.Close()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		entry := tensor.Must(w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: method}))
		_, err := entry.Write(edit(f.Name, tensor.Must(io.ReadAll(tensor.Must(f.Open())))))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(to, out.Bytes(), 0o666))
}

// TestArchiveReplacesNoOtherFile keeps files that no dictionary wrote, whenever they come.
func TestArchiveReplacesNoOtherFile(t *testing.T) {
	at := filepath.Join(t.TempDir(), "a.tdz")
	err := memmap.SaveWith(t.Context(), at, steps(), memmap.SaveOptions{Progress: func(int64, int64) {
		_ = os.WriteFile(at, []byte("a letter"), 0o666)
	}})
	require.ErrorIs(t, err, memmap.ErrForeign)
	require.Equal(t, "a letter", string(tensor.Must(os.ReadFile(at))))
	require.Equal(t, []string{"a.tdz"}, names(t, filepath.Dir(at)))

	at = filepath.Join(t.TempDir(), "album.zip")
	require.NoError(t, os.WriteFile(at, packed(t, "meta.json", `{"album":"holidays"}`, "1.jpg", "the only photograph"), 0o666))
	require.EqualError(t, memmap.Save(at, steps()), "save "+at+`: not a saved dictionary: "1.jpg" in it would be lost; save elsewhere`)

	var b bytes.Buffer // a method that this module does not read
	z := zip.NewWriter(&b)
	for _, name := range []string{"meta.json", "1.jpg"} {
		h := &zip.FileHeader{Name: name, Method: 12, UncompressedSize64: 9, CompressedSize64: 9}
		w := tensor.Must(z.CreateRaw(h))
		tensor.Must(w.Write([]byte("{\"a\": 1.}")[:9]))
	}
	require.NoError(t, z.Close())
	cut := packed(t, "meta.json", leafMeta, "x.memmap", "12345678")
	for _, text := range [][]byte{b.Bytes(), cut[:len(cut)-1], packed(t, "meta.json", leafMeta, "photos/x.memmap", "x")} {
		at = filepath.Join(t.TempDir(), "a.tdz")
		require.NoError(t, os.WriteFile(at, text, 0o666))
		require.ErrorIs(t, memmap.Save(at, steps()), memmap.ErrForeign)
		require.Equal(t, text, tensor.Must(os.ReadFile(at)))
	}

	at = filepath.Join(t.TempDir(), "empty.tdz")
	require.NoError(t, os.WriteFile(at, nil, 0o666))
	require.NoError(t, memmap.Save(at, steps()), "nothing is lost")
}

// TestArchiveSaysWhatTheSystemSays: a path that cannot be looked at is not one of another's file.
func TestArchiveSaysWhatTheSystemSays(t *testing.T) {
	top := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(top, "file"), nil, 0o666))
	require.NoError(t, os.Symlink("loop.tdz", filepath.Join(top, "loop.tdz")))
	require.NoError(t, os.Symlink("loop", filepath.Join(top, "loop")))
	for _, name := range []string{"file/x", "loop", strings.Repeat("n", 300), "a\x00b"} {
		dir := memmap.Save(filepath.Join(top, name), steps())
		require.Error(t, dir)
		require.NotErrorIs(t, memmap.Save(filepath.Join(top, name+archiveExt), steps()), memmap.ErrForeign, name)
	}
	if os.Getuid() == 0 {
		return // who may read everything
	}
	at := savedArchive(t, steps())
	require.NoError(t, os.Chmod(at, 0))
	require.ErrorIs(t, memmap.Save(at, steps()), fs.ErrPermission)
}

const archiveExt = ".tdz"

// TestAddingInAnArchive: a directory that AddLeaf did not finish is no entry in a zip file of it.
func TestAddingInAnArchive(t *testing.T) {
	const empty = `{"shape":[],"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>"}`
	at := filepath.Join(t.TempDir(), "a.zip")
	require.NoError(t, os.WriteFile(at, packed(t, "meta.json", empty, "x/meta.json", empty, "x/.adding", ""), 0o666))
	require.Zero(t, open(t, at).NumEntries())
}

// TestLongPathsInAnArchive: a path that zip cannot spell is refused before anything is written.
func TestLongPathsInAnArchive(t *testing.T) {
	td := tdict.New(2)
	for range 256 {
		out := tdict.New(2)
		require.NoError(t, out.Set(nestedkey.Of(strings.Repeat("n", 255)), td))
		td = out
	}
	require.NoError(t, td.Set("a", counted(tensor.Int8, 2)))
	opt := memmap.SaveOptions{Progress: func(int64, int64) { t.Error("a leaf was written") }}
	require.ErrorIs(t, memmap.SaveWith(t.Context(), filepath.Join(t.TempDir(), "x.tdz"), td, opt), memmap.ErrName)
}

// TestPanicLeavesNothing: a Progress that panics leaves nothing beside the archive.
func TestPanicLeavesNothing(t *testing.T) {
	at := filepath.Join(t.TempDir(), "x.tdz")
	opt := memmap.SaveOptions{Progress: func(int64, int64) { panic("stop") }}
	require.Panics(t, func() { _ = memmap.SaveWith(t.Context(), at, steps(), opt) })
	require.Empty(t, names(t, filepath.Dir(at)))
}

// TestCopyInflatesOneLeafAtATime copies compressed leaves that together are larger than MaxCopy.
func TestCopyInflatesOneLeafAtATime(t *testing.T) {
	td := tdict.New(1 << 20)
	for i := range 8 {
		require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint(i)), tensor.Must(tensor.Zeros[uint8](1<<20))))
	}
	file, dir := filepath.Join(t.TempDir(), "a.tdz"), filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.SaveWith(t.Context(), file, td, memmap.SaveOptions{Compress: true}))
	opt := memmap.CopyOptions{Open: memmap.OpenOptions{MaxCopy: 2 << 20}, Save: memmap.SaveOptions{Workers: 1}}
	require.NoError(t, memmap.Copy(t.Context(), file, dir, opt))
	requireSame(t, td, open(t, dir).TensorDict)
	opt.Open.MaxCopy = 1 << 19
	require.ErrorIs(t, memmap.Copy(t.Context(), file, dir, opt), memmap.ErrUnsupported)
}

// TestCopyBeginsAgain: who replaces the source meanwhile changes what is copied, and no more.
func TestCopyBeginsAgain(t *testing.T) {
	from, to := saveAs(t, steps()), filepath.Join(t.TempDir(), "a.tdz")
	next, replaced := kinds(t, 2), false
	opt := memmap.CopyOptions{Save: memmap.SaveOptions{Workers: 1, Progress: func(int64, int64) {
		if !replaced {
			replaced = true
			require.NoError(t, memmap.Save(from, next))
		}
	}}}
	require.NoError(t, memmap.Copy(t.Context(), from, to, opt))
	require.True(t, replaced)
}

// TestNoContext saves without a context in both forms.
func TestNoContext(t *testing.T) {
	for _, name := range []string{"d", "d.tdz"} {
		var none context.Context
		require.NoError(t, memmap.SaveWith(none, filepath.Join(t.TempDir(), name), steps(), memmap.SaveOptions{}))
	}
}
