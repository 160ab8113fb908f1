package memmap

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// numbered returns rows whose elements, in leaves at two depths, say their number, and ragged
// leaves: two that share a layout, and one of two levels whose widths grow and shrink.
func numbered(first, n int) *tdict.TensorDict {
	td := tdict.New(n)
	x := tensor.Must(tensor.Arange(int64(first), int64(first+n), 1))
	require.NoError(nil, td.Set("a", x))
	require.NoError(nil, td.Set("sub/b", tensor.Must(tensor.Must(x.Unsqueeze(1)).Expand(n, 3))))
	var lengths, values []int64
	for i := first; i < first+n; i++ {
		lengths = append(lengths, int64(i%3))
		values = append(values, []int64{int64(i), int64(-i)}[:i%3]...)
	}
	layout := tensor.Must(ragged.LayoutOf(shapeops.Shape{n}, lengths))
	require.NoError(nil, td.Set("c", tensor.Must(ragged.New(tensor.Vector(values...), layout))))
	require.NoError(nil, td.Set("sub/d", tensor.Must(ragged.New(tensor.Vector(values...), layout))))
	var outer, inner []int64
	values = nil
	for i := first; i < first+n; i++ {
		length := []int{7, 0}[i/6%2] // the second batch begins with long rows, the third with empty ones
		outer = append(outer, int64(length))
		for j := range length {
			inner = append(inner, int64((i+j)%4))
			values = append(values, slices.Repeat([]int64{int64(i)}, (i+j)%4)...)
		}
	}
	layout = tensor.Must(ragged.LayoutOf(shapeops.Shape{n}, outer, inner))
	require.NoError(nil, td.Set("sub/e", tensor.Must(ragged.New(tensor.Vector(values...), layout))))
	return td
}

// appendOn appends rows on a disk, commits each batch and finishes. It returns how many rows were
// committed for sure, and how many were appended.
func appendOn(disk *vfstest.Disk) (committed, appended int, err error) {
	row := tensor.Must(numbered(0, 1).Index(ix.At(0)))
	w := &Writer{dir: "d", at: "d", disk: disk, row: row}
	s, err := w.plan()
	if err != nil {
		return 0, 0, err
	}
	k := &dirSink{disk: disk, dir: "d"}
	err = k.make(context.Background(), new(oldTree), func(k *dirSink) error { return w.fill(s, k) })
	if err == nil {
		err = k.commit()
	}
	if err == nil {
		w.in, err = disk.OpenDir("d")
	}
	for _, c := range w.leaves {
		if err == nil {
			err = w.open(c, 64)
		}
	}
	for batch := 1; batch <= 3 && err == nil; batch++ {
		if err = w.Append(numbered(w.rows, 5*batch)); err == nil {
			err = w.Commit()
		}
	}
	return w.saved, w.rows, err
}

// TestWriterSurvivesFaults fails disk operations of a Writer in turn. Whatever a crash leaves
// then, the directory holds all rows that were committed, perhaps those of the commit under way,
// and no others, alike in all leaves, and its sums are right.
func TestWriterSurvivesFaults(t *testing.T) {
	for n := 1 + rand.IntN(step); ; n += step {
		disk := vfstest.New()
		disk.FailAfter(n)
		committed, appended, err := appendOn(disk)
		for _, mode := range vfstest.CrashModes() {
			dir := testkit.TempDir(t)
			crashed := disk.Crash(mode)
			require.NoError(t, crashed.Export(dir))
			if _, failed := crashed.Lstat("d"); failed != nil {
				require.Zero(t, committed)
				continue
			}
			at := filepath.Join(dir, "d")
			ds := tensor.Must(Open(at))
			rows := ds.Shape()[0]
			require.True(t, committed <= rows && rows <= appended, "operation %d, %v, crash %v: got %d rows, committed %d", n, err, mode, rows, committed)
			require.True(t, numbered(0, rows).Equal(ds.TensorDict), "operation %d, crash %v", n, mode)
			require.NoError(t, ds.Close())
			_, failed := Verify(t.Context(), at, VerifyOptions{})
			require.NoError(t, failed)
		}
		if err == nil {
			require.Equal(t, 30, committed)
			t.Logf("operation %d is after the last", n)
			return
		}
	}
}

// A dying disk is the real one, of which every operation fails from one on.
type dying struct {
	vfs.FS
	left atomic.Int64 // operations that succeed
}

func (d *dying) next() error {
	if d.left.Add(-1) < 0 {
		return vfstest.ErrInjected
	}
	return nil
}

func (d *dying) Mkdir(path string, perm fs.FileMode) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.FS.Mkdir(path, perm)
}

func (d *dying) Create(path string, perm fs.FileMode) (vfs.File, error) {
	if err := d.next(); err != nil {
		return nil, err
	}
	return d.FS.Create(path, perm)
}

func (d *dying) Link(old, new string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.FS.Link(old, new)
}

func (d *dying) Exchange(a, b string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.FS.Exchange(a, b)
}

func (d *dying) SyncDir(path string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.FS.SyncDir(path)
}

func (d *dying) RemoveAll(path string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.FS.RemoveAll(path)
}

// TestResumeSurvivesFaults fails each disk operation of the way back from the finished form, and
// all after it. The directory holds all rows, in one form or the other, and can be gone on with.
func TestResumeSurvivesFaults(t *testing.T) {
	row := tensor.Must(tensor.Must(numbered(0, 1).Index(ix.At(0))).Clone())
	for n := int64(0); ; n++ {
		dir := filepath.Join(testkit.TempDir(t), "d")
		require.NoError(t, Save(dir, numbered(0, 7)))
		disk := &dying{FS: vfs.OS}
		disk.left.Store(n)
		w := &Writer{dir: dir, disk: disk, opt: WriterOptions{Resume: true}, row: row}
		err := w.start()
		require.NoError(t, w.release())
		ds := tensor.Must(Open(dir))
		require.True(t, numbered(0, 7).Equal(ds.TensorDict), "operation %d", n)
		require.NoError(t, ds.Close())
		again, failed := NewWriter(dir, row, WriterOptions{Resume: true})
		require.NoError(t, failed, "operation %d", n)
		require.NoError(t, again.Append(numbered(7, 2)))
		require.NoError(t, again.Finish())
		ds = tensor.Must(Open(dir))
		require.True(t, numbered(0, 9).Equal(ds.TensorDict), "operation %d", n)
		require.NoError(t, ds.Close())
		if err == nil {
			require.Greater(t, n, int64(8))
			return
		}
		require.ErrorIs(t, err, vfstest.ErrInjected)
	}
}

// TestCloseAfterAFailure closes a Writer that resumed and could not write: the dataset is finished.
func TestCloseAfterAFailure(t *testing.T) {
	row := tensor.Must(tensor.Must(numbered(0, 1).Index(ix.At(0))).Clone())
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, Save(dir, numbered(0, 7)))
	w := tensor.Must(NewWriter(dir, row, WriterOptions{Resume: true}))
	require.NoError(t, w.Append(numbered(7, 3)))
	w.broken = vfstest.ErrInjected
	require.ErrorIs(t, w.Commit(), vfstest.ErrInjected)
	require.NoError(t, w.Close())
	ds := tensor.Must(OpenWith(dir, OpenOptions{Writable: true}))
	require.True(t, numbered(0, 7).Equal(ds.TensorDict))
	require.NoError(t, ds.Close())
}
