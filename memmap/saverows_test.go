package memmap_test

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// chunksOf yields rows in chunks of these sizes, and spoils each afterwards.
func chunksOf(t *testing.T, sizes ...int) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		first := 0
		for _, n := range sizes {
			td := rows(t, first, n)
			more := yield(td, nil)
			for _, v := range td.Tensors() {
				require.NoError(t, v.SetIndex(tensor.Must(tensor.New(v.DType(), v.Shape()...))))
			}
			if first += n; !more {
				return
			}
		}
	}
}

// inChunks yields the rows of a dictionary in chunks of at most n.
func inChunks(td *tdict.TensorDict, n int) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		for from := 0; from < td.Shape()[0]; from += n {
			if !yield(td.Narrow(0, from, min(n, td.Shape()[0]-from))) {
				return
			}
		}
	}
}

// TestSaveRowsOfDottedNames saves columns such as those that pandas calls a and a.1.
func TestSaveRowsOfDottedNames(t *testing.T) {
	td, err := tdict.FromValues([]int{2}, tdict.Values{"a": []int8{1, 2}, "a.1": []int8{3, 4}, "b.c/d": []int8{5, 6}, "b": []int8{7, 8}})
	require.NoError(t, err)
	for _, form := range []memmap.Container{memmap.Directory, memmap.Archive} {
		path := filepath.Join(testkit.TempDir(t), "d")
		chunks := func(yield func(*tdict.TensorDict, error) bool) {
			_ = yield(td, nil) && yield(tensor.Must(td.Clone()), nil)
		}
		require.NoError(t, memmap.SaveRows(t.Context(), path, chunks, memmap.SaveOptions{Container: form}))
		requireSame(t, tensor.Must(shapeops.Cat([]*tdict.TensorDict{td, td}, 0)), open(t, path).TensorDict)
	}
}

// TestSaveRows saves chunks: the directory is the one that Save makes of all rows.
func TestSaveRows(t *testing.T) {
	for name, sizes := range map[string][]int{
		"one": {5}, "several": {3, 4, 1}, "empty ones first": {0, 0, 2, 0, 3}, "no rows": {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			for _, size := range sizes {
				n += size
			}
			dir := filepath.Join(testkit.TempDir(t), "d")
			var done, total int64
			opt := memmap.SaveOptions{Progress: func(d, n int64) { done, total = d, n }}
			require.NoError(t, memmap.SaveRows(t.Context(), dir, chunksOf(t, sizes...), opt))
			require.Equal(t, total, done)
			require.Len(t, names(t, filepath.Dir(dir)), 1, "nothing is left beside it")
			requireSame(t, rows(t, 0, n), open(t, dir).TensorDict)
			requireSound(t, dir)
			saved := filepath.Join(testkit.TempDir(t), "d")
			require.NoError(t, memmap.Save(saved, rows(t, 0, n)))
			require.Equal(t, tree(t, saved), tree(t, dir), "as if it had been saved")
		})
	}
}

// TestSaveRowsReplaces replaces a dataset, whose permissions stay, and one of the form of an
// archive.
func TestSaveRowsReplaces(t *testing.T) {
	dir := saved(t)
	require.NoError(t, os.Chmod(filepath.Join(dir, "reward.memmap"), 0o640))
	opt := memmap.SaveOptions{NoSync: true}
	require.NoError(t, memmap.SaveRows(t.Context(), dir, chunksOf(t, 2, 3), opt))
	requireSame(t, rows(t, 0, 5), open(t, dir).TensorDict)
	require.Equal(t, fs.FileMode(0o640), tensor.Must(os.Stat(filepath.Join(dir, "reward.memmap"))).Mode())
	file := savedArchive(t, steps())
	require.NoError(t, memmap.SaveRows(t.Context(), file, chunksOf(t, 2, 3), memmap.SaveOptions{Compress: true}))
	requireSame(t, rows(t, 0, 5), open(t, file).TensorDict)
	require.Len(t, names(t, filepath.Dir(file)), 1)
}

// TestSaveRowsNamesDims: the dims are named as those of the chunks.
func TestSaveRowsNamesDims(t *testing.T) {
	td := rows(t, 0, 4)
	require.NoError(t, td.SetNames("time"))
	dir := filepath.Join(testkit.TempDir(t), "d")
	chunks := func(yield func(*tdict.TensorDict, error) bool) { yield(td, nil) }
	require.NoError(t, memmap.SaveRows(t.Context(), dir, chunks, memmap.SaveOptions{}))
	require.Equal(t, []string{"time"}, open(t, dir).Names())
}

// TestSaveRowsThatFails leaves what is there as it is.
func TestSaveRowsThatFails(t *testing.T) {
	chunks := func(tds ...*tdict.TensorDict) iter.Seq2[*tdict.TensorDict, error] {
		return func(yield func(*tdict.TensorDict, error) bool) {
			for _, td := range tds {
				if !yield(td, nil) {
					return
				}
			}
		}
	}
	broken := errors.New("line 7: broken")
	fails := func(yield func(*tdict.TensorDict, error) bool) {
		_ = yield(rows(t, 0, 3), nil) && yield(nil, broken)
	}
	none := rows(t, 0, 0)
	require.NoError(t, none.Delete("reward"))
	other := rows(t, 0, 2)
	require.NoError(t, other.Set("kind", tensor.Must(tdict.NewData("live"))))
	each := rows(t, 0, 2)
	require.NoError(t, each.Set("kind", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2))))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		chunks iter.Seq2[*tdict.TensorDict, error]
		opt    memmap.SaveOptions
		err    error
		text   string
	}{
		{"no chunk", t.Context(), chunks(), memmap.SaveOptions{}, tdict.ErrMissing, "got no chunk"},
		{"a nil chunk", t.Context(), chunks(rows(t, 0, 2), nil), memmap.SaveOptions{}, tdict.ErrKind, "got a nil dictionary"},
		{"a chunk without a dim", t.Context(), chunks(rows(t, 0)), memmap.SaveOptions{}, shapeops.ErrDim, "got a chunk of batch shape []"},
		{"an error of who yields", t.Context(), fails, memmap.SaveOptions{}, broken, "line 7: broken"},
		{"other data", t.Context(), chunks(rows(t, 0, 2), other), memmap.SaveOptions{}, tdict.ErrDiffers, `append "kind": values differ`},
		{"no rows, without a leaf, before others", t.Context(), chunks(none, rows(t, 0, 2)), memmap.SaveOptions{}, tdict.ErrMissing, `append "reward": missing key`},
		{"no rows, without a leaf, after others", t.Context(), chunks(rows(t, 0, 2), none), memmap.SaveOptions{}, tdict.ErrMissing, `append "reward": missing key`},
		{"data with a value for each row", t.Context(), chunks(each), memmap.SaveOptions{}, tdict.ErrDiffers, "data that differs between rows cannot be appended: store text as ragged uint8, and a time as int64"},
		{"an end", ended, chunksOf(t, 2), memmap.SaveOptions{}, context.Canceled, ""},
		{"NoReplace", t.Context(), chunksOf(t, 2), memmap.SaveOptions{NoReplace: true}, fs.ErrExist, "NoReplace is set"},
		{"another form", t.Context(), chunksOf(t, 2), memmap.SaveOptions{Container: memmap.Archive}, fs.ErrExist, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := saved(t)
			before := tree(t, dir)
			err := memmap.SaveRows(tt.ctx, dir, tt.chunks, tt.opt)
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, tt.text)
			require.ErrorContains(t, err, dir+": ")
			require.Equal(t, before, tree(t, dir))
			require.Len(t, names(t, filepath.Dir(dir)), 1, "nothing is left beside it")
		})
	}
}

// TestSaveRowsOfAPanic: who yields chunks panics, or ends the goroutine. Nothing is left, neither
// beside the place nor open.
func TestSaveRowsOfAPanic(t *testing.T) {
	ends := map[string]func(){"a panic": func() { panic("broken") }, "an end of the goroutine": runtime.Goexit}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			dir := saved(t)
			before := tree(t, filepath.Dir(dir))
			chunks := func(yield func(*tdict.TensorDict, error) bool) {
				require.True(t, yield(rows(t, 0, 2), nil))
				end()
			}
			done := make(chan any)
			go func() {
				defer func() { done <- recover() }()
				_ = memmap.SaveRows(t.Context(), dir, chunks, memmap.SaveOptions{})
			}()
			if got := <-done; name == "a panic" {
				require.Equal(t, "broken", got)
			}
			require.Equal(t, before, tree(t, filepath.Dir(dir)))
			require.Len(t, names(t, filepath.Dir(dir)), 1, "nothing is left beside it")
		})
	}
}
