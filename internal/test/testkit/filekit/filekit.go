// Package filekit has the rules that the packages of single files share: how a file is opened,
// saved and closed, and which file is there after an error. Each package of interop runs them on
// each of its formats.
package filekit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Format saves and opens files that hold one vector.
type Format struct {
	Save func(ctx context.Context, path string, x *tensor.Tensor) error
	// Write may be nil.
	Write func(w io.Writer, x *tensor.Tensor) error
	Open  func(path string) (File, error)
	// Vector returns the vector of an open file.
	Vector func(f File) *tensor.Tensor
	// Name is how errors of the vector name it; it may be "".
	Name string
	// Unopened is a File that was never opened.
	Unopened File
}

// A File is an open file.
type File interface {
	io.Closer
	CloseWait(ctx context.Context) error
}

// Run runs all rules.
func Run(t *testing.T, f Format) {
	for _, rule := range []struct {
		name string
		test func(f Format, t *testing.T)
	}{
		{"open refuses paths", Format.openRefuses},
		{"open refuses cut files", Format.openRefusesCutFiles},
		{"open maps the elements", Format.openMaps},
		{"open maps up to the limit", Format.openEndsAtTheLimit},
		{"close", Format.closes},
		{"close while a writer reads", Format.closesLate},
		{"a dropped file ends with its last tensor", Format.drops},
		{"a file is cut while it is open", Format.isCut},
		{"save refuses paths", Format.saveRefuses},
		{"save ends with its context", Format.saveStops},
		{"save over the open file", Format.savesOverItself},
		{"save keeps permissions and links", Format.saveKeeps},
		{"write returns the error of its writer", Format.writeFails},
		{"write takes no memory for elements", Format.writeStreams},
	} {
		t.Run(rule.name, func(t *testing.T) { rule.test(f, t) })
	}
}

var (
	little = tensor.Vector(1.0, 2, 3)
	other  = tensor.Vector(4.0, 5)
)

// zeros returns a vector of n zeros.
func zeros(n int) *tensor.Tensor { return tensor.Must(tensor.Zeros[float64](n)) }

// saved returns the path of a file of x.
func (f Format) saved(t *testing.T, x *tensor.Tensor) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, f.Save(t.Context(), path, x))
	return path
}

// open opens a file until the end of the test.
func (f Format) open(t *testing.T, path string) File {
	t.Helper()
	file, err := f.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() }) // it may be closed
	return file
}

// holds fails the test unless the file holds x.
func (f Format) holds(t *testing.T, path string, x *tensor.Tensor) {
	t.Helper()
	require.True(t, x.Equal(f.Vector(f.open(t, path))))
}

// refused fails the test unless err is a FileError of path that wraps one of wants.
func refused(t *testing.T, err error, path string, wants ...error) {
	t.Helper()
	e, ok := errors.AsType[*fileformat.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, path, e.Path)
	for _, want := range wants {
		if errors.Is(err, want) {
			return
		}
	}
	require.Fail(t, "wrong error", "got %v, want one of %v", err, wants)
}

func (f Format) openRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nope")
	require.EqualError(t, testkit.Err(f.Open(path)), "open "+path+": no such file or directory")
	refused(t, testkit.Err(f.Open(path)), path, fs.ErrNotExist)
	refused(t, testkit.Err(f.Open(dir)), dir, fileformat.ErrCorrupt)
	require.Error(t, testkit.Err(f.Open("")))
	require.NoError(t, os.Symlink("nowhere", path))
	refused(t, testkit.Err(f.Open(path)), path, fs.ErrNotExist)
	pipe := filepath.Join(dir, "pipe")
	if exec.Command("mkfifo", pipe).Run() == nil { // opening one would wait for a writer
		refused(t, testkit.Err(f.Open(pipe)), pipe, fileformat.ErrCorrupt)
		require.ErrorIs(t, f.Save(t.Context(), pipe, little), fs.ErrExist)
	}
}

func (f Format) openRefusesCutFiles(t *testing.T) {
	path := f.saved(t, little)
	file := tensor.Must(os.ReadFile(path))
	for n := range file {
		require.NoError(t, os.WriteFile(path, file[:n], 0o666))
		refused(t, testkit.Err(f.Open(path)), path, fileformat.ErrCorrupt, fileformat.ErrUnsupported)
	}
}

func (f Format) openMaps(t *testing.T) {
	a, b := f.saved(t, zeros(2)), f.saved(t, zeros(1<<20))
	testkit.Near(t, 1.2, func() { _ = f.open(t, a) }, func() { _ = f.open(t, b) })
	x := f.Vector(f.open(t, a))
	require.ErrorIs(t, x.CopyFrom(other), tensor.ErrReadOnly)
	require.Equal(t, []float64{0, 0}, tensor.Must(tensor.Of[float64](x)), "aligned")
}

func (f Format) openEndsAtTheLimit(t *testing.T) {
	large, small := f.saved(t, zeros(1<<14)), f.saved(t, little)
	_ = f.open(t, large) // a limit is positive
	defer mapping.SetLimit(mapping.Live())()
	live := mapping.Live()
	err := testkit.Err(f.Open(large))
	refused(t, err, large, mapping.ErrLimit)
	require.ErrorContains(t, err, "open "+large+": too many mapped files: the process has ")
	f.holds(t, small, little)
	require.Equal(t, live, mapping.Live(), "a small file is read")
	file := f.open(t, small)
	x := f.Vector(file)
	require.NoError(t, file.Close())
	require.ErrorIs(t, testkit.Err(x.Clone()), mapping.ErrClosed)
}

func (f Format) closes(t *testing.T) {
	path, live := f.saved(t, little), mapping.Live()
	file := f.open(t, path)
	x := f.Vector(file)
	part := tensor.Must(x.Index(ix.Range(1, 3)))
	require.Equal(t, live+1, mapping.Live())
	require.NoError(t, file.Close())
	require.Equal(t, live, mapping.Live())
	require.ErrorIs(t, file.Close(), mapping.ErrClosed)
	require.NoError(t, file.CloseWait(t.Context()))
	for _, x := range []*tensor.Tensor{x, part} {
		err := testkit.Err(x.Clone())
		require.ErrorIs(t, err, mapping.ErrClosed)
		require.ErrorContains(t, err, f.Name)
		require.ErrorIs(t, f.Save(t.Context(), path, x), mapping.ErrClosed)
	}
	f.holds(t, path, little)

	waits := f.open(t, path)
	require.NoError(t, waits.CloseWait(t.Context()))
	require.ErrorIs(t, waits.Close(), mapping.ErrClosed)
	require.ErrorIs(t, f.Unopened.Close(), mapping.ErrClosed)
	require.ErrorIs(t, f.Unopened.CloseWait(t.Context()), mapping.ErrClosed)
}

func (f Format) closesLate(t *testing.T) {
	path, live := f.saved(t, little), mapping.Live()
	file := f.open(t, path)
	x := f.Vector(file)
	var got bytes.Buffer
	_, err := x.WriteTo(writerFunc(func(b []byte) (int, error) {
		require.NoError(t, file.Close())
		require.Equal(t, live+1, mapping.Live())
		return got.Write(b)
	}))
	require.NoError(t, err)
	require.Equal(t, testkit.Content(t, little), got.Bytes())
	require.Equal(t, live, mapping.Live())
	require.ErrorIs(t, testkit.Err(x.Clone()), mapping.ErrClosed)
}

// A writerFunc is an io.Writer.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func (f Format) drops(t *testing.T) {
	path, live := f.saved(t, little), mapping.Live()
	x := f.Vector(tensor.Must(f.Open(path)))
	runtime.GC()
	runtime.GC()
	require.Equal(t, live+1, mapping.Live())
	runtime.KeepAlive(x)
	require.Eventually(t, func() bool { runtime.GC(); return mapping.Live() == live }, 10*time.Second, time.Millisecond)
}

// isCut cuts the file within its last page and before it.
func (f Format) isCut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut")
	}
	for _, left := range []int64{0, 100, 1 << 20, 1<<21 - 100} {
		path := f.saved(t, zeros(1<<18))
		x := f.Vector(f.open(t, path))
		require.NoError(t, os.Truncate(path, left))
		err := testkit.Err(x.Clone())
		require.ErrorIs(t, err, mapping.ErrFault)
		require.ErrorContains(t, err, f.Name)
		other := filepath.Join(t.TempDir(), "other")
		require.ErrorIs(t, f.Save(t.Context(), other, x), mapping.ErrFault)
		require.NoFileExists(t, other)
	}
}

func (f Format) saveRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, row := range []struct {
		name, path string
		err        error
	}{
		{"none", "", fs.ErrInvalid},
		{"a directory by its form", dir + string(filepath.Separator), fs.ErrInvalid},
		{"a directory", dir, fs.ErrExist},
		{"the directory around", filepath.Join(dir, "x") + string(filepath.Separator) + "..", fs.ErrInvalid},
		{"the name of a file that is being saved", filepath.Join(dir, ".saving-ABCDEFGH"), fs.ErrInvalid},
		{"in a directory that is not there", filepath.Join(dir, "nope", "x"), fs.ErrNotExist},
	} {
		require.ErrorIs(t, f.Save(t.Context(), row.path, little), row.err, row.name)
	}
	require.Empty(t, tensor.Must(os.ReadDir(dir)))
}

// saveStops: a context that has ended leaves the old file, and nothing beside it.
func (f Format) saveStops(t *testing.T) {
	path := f.saved(t, little)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, f.Save(ctx, path, other), context.Canceled)
	f.holds(t, path, little)
	require.Len(t, tensor.Must(os.ReadDir(filepath.Dir(path))), 1)
}

// savesOverItself saves a part of a file over that file. Who has the old file open keeps it.
func (f Format) savesOverItself(t *testing.T) {
	path := f.saved(t, little)
	x := f.Vector(f.open(t, path))
	require.NoError(t, f.Save(t.Context(), path, tensor.Must(x.Index(ix.Range(1, 3)))))
	f.holds(t, path, tensor.Vector(2.0, 3))
	require.True(t, little.Equal(x))
}

func (f Format) saveKeeps(t *testing.T) {
	path := f.saved(t, little)
	dir := filepath.Dir(path)
	link, dead := filepath.Join(dir, "link"), filepath.Join(dir, "dead")
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, os.Symlink("x", link))
	require.NoError(t, f.Save(t.Context(), link, other))
	f.holds(t, path, other)
	require.Equal(t, os.FileMode(0o640), tensor.Must(os.Lstat(path)).Mode())
	require.Equal(t, os.ModeSymlink, tensor.Must(os.Lstat(link)).Mode().Type())
	require.NoError(t, os.Symlink("nowhere", dead))
	require.ErrorIs(t, f.Save(t.Context(), dead, other), fs.ErrExist)
}

func (f Format) writeFails(t *testing.T) {
	if f.Write == nil {
		t.Skip("the package writes only files")
	}
	var whole bytes.Buffer
	require.NoError(t, f.Write(&whole, little))
	broken := errors.New("broken")
	write := func(left int) error {
		return f.Write(writerFunc(func(b []byte) (int, error) {
			n := min(left, len(b))
			left -= n
			if n < len(b) {
				return n, broken
			}
			return n, nil
		}), little)
	}
	for left := range whole.Len() {
		require.ErrorIs(t, write(left), broken)
	}
	require.NoError(t, write(whole.Len()))
}

func (f Format) writeStreams(t *testing.T) {
	if f.Write == nil {
		t.Skip("the package writes only files")
	}
	few, many := zeros(2), zeros(1<<20)
	none := writerFunc(func(b []byte) (int, error) { return len(b), nil })
	testkit.Near(t, 1.2, func() { _ = f.Write(none, few) }, func() { _ = f.Write(none, many) })
}
