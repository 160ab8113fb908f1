package conformance

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A situation is a row of the errors of docs/time.md.
type situation struct {
	when string
	err  error
	// begin puts dir, a dataset, into the situation. ds is the dataset of the calls, if they need
	// one that was opened before.
	begin func(t *testing.T, dir string) (ds *memmap.Dataset)
	calls []call
}

// A call is an operation that returns the error of its situation.
type call struct {
	of  string
	run func(dir string, ds *memmap.Dataset) error
}

func newWriter(dir string, resume bool) error {
	w, err := memmap.NewWriter(dir, tensor.Must(rowsOf(1).Index(ix.At(0))), memmap.WriterOptions{Resume: resume, NoSync: true})
	if err == nil {
		err = w.Close()
	}
	return err
}

func create(dir string, replace bool) error {
	_, err := memmap.Create(dir, rowsOf(7), memmap.CreateOptions{Replace: replace, NoSync: true})
	return err
}

var (
	seal        = call{"Seal", func(dir string, _ *memmap.Dataset) error { return memmap.Seal(context.Background(), dir) }}
	sealWritten = call{"SealWritten", func(dir string, _ *memmap.Dataset) error { return memmap.SealWritten(context.Background(), dir) }}
	writableNow = call{"OpenWith with Writable", func(dir string, _ *memmap.Dataset) error {
		_, err := memmap.OpenWith(dir, memmap.OpenOptions{Writable: true, Wait: -1})
		return err
	}}
	addLeaf = call{"AddLeaf", func(_ string, ds *memmap.Dataset) error { return ds.AddLeaf("z", tensor.Vector[int8](1, 2, 3)) }}
	use     = func(_ string, ds *memmap.Dataset) error {
		_, err := ds.Clone()
		return err
	}
	resumed = call{"NewWriter with Resume", func(dir string, _ *memmap.Dataset) error { return newWriter(dir, true) }}
	saved   = func(dir string) error {
		return memmap.SaveWith(context.Background(), dir, rowsOf(7, 7, 7), memmap.SaveOptions{NoSync: true})
	}
)

func store(_ string, ds *memmap.Dataset) error { return ds.SetIndex(rowsOf(9), ix.Range(0, 1)) }

// writes opens a dataset with Writable, which does not wait for others.
func writes(t *testing.T, dir string) *memmap.Dataset {
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true, Wait: -1}))
	t.Cleanup(func() { _ = ds.Close() })
	return ds
}

// held holds a lock.
func held(t *testing.T, path string) {
	lock := tensor.Must(vfs.TryLock(path, vfs.Exclusive))
	t.Cleanup(func() { require.NoError(t, lock.Unlock()) })
}

// after opens a dataset with open, and then saves another one in its place.
func after(open func(t *testing.T, dir string) *memmap.Dataset) func(t *testing.T, dir string) *memmap.Dataset {
	return func(t *testing.T, dir string) *memmap.Dataset {
		ds := open(t, dir)
		require.NoError(t, saved(dir))
		return ds
	}
}

func reads(t *testing.T, dir string) *memmap.Dataset {
	ds := tensor.Must(memmap.Open(dir))
	t.Cleanup(func() { _ = ds.Close() })
	return ds
}

// moved runs fn with a Writer whose directory was moved away, for another one.
func moved(fn func(w *memmap.Writer) error) func(dir string, _ *memmap.Dataset) error {
	return func(dir string, _ *memmap.Dataset) error {
		w := tensor.Must(memmap.NewWriter(dir, tensor.Must(rowsOf(1).Index(ix.At(0))), memmap.WriterOptions{Resume: true, NoSync: true}))
		defer w.Close()
		must(w.Append(rowsOf(4)))
		must(os.Rename(dir, dir+"-moved"))
		must(saved(dir))
		return fn(w)
	}
}

var situations = []situation{
	{"a Writer is at work", memmap.ErrBusy, func(t *testing.T, dir string) *memmap.Dataset {
		finish := appending(t, dir)
		t.Cleanup(func() { require.Equal(t, "goes on", finish()) })
		return nil
	}, []call{
		{"Save", func(dir string, _ *memmap.Dataset) error { return memmap.Save(dir, rowsOf(7)) }},
		{"SaveRows", func(dir string, _ *memmap.Dataset) error {
			return memmap.SaveRows(context.Background(), dir, func(yield func(*tdict.TensorDict, error) bool) { yield(rowsOf(6), nil) }, memmap.SaveOptions{})
		}},
		{"Copy to it", func(dir string, _ *memmap.Dataset) error {
			must(saved(dir + "-from"))
			return memmap.Copy(context.Background(), dir+"-from", dir, memmap.CopyOptions{})
		}},
		{"Create with Replace", func(dir string, _ *memmap.Dataset) error { return create(dir, true) }},
		{"NewWriter", func(dir string, _ *memmap.Dataset) error { return newWriter(dir, false) }},
	}},
	{"a Writer was closed or killed before Finish", memmap.ErrBusy, func(t *testing.T, dir string) *memmap.Dataset {
		leaving(t, dir)
		return nil
	}, []call{writableNow, seal, sealWritten}},
	{"others have it open with Writable", memmap.ErrBusy, writes, []call{resumed, seal, sealWritten}},
	{"another process computes checksums", memmap.ErrBusy, func(t *testing.T, dir string) *memmap.Dataset {
		held(t, dir)
		return nil
	}, []call{writableNow}},
	{"another process changes a meta.json", memmap.ErrBusy, func(t *testing.T, dir string) *memmap.Dataset {
		ds := writes(t, dir)
		held(t, filepath.Join(dir, "meta.json"))
		return ds
	}, []call{{"a store", store}, addLeaf}},
	{"it was replaced since Open", memmap.ErrReplaced, after(reads), []call{{"the first use of a leaf", use}}},
	{"it was replaced since OpenWith with Writable", memmap.ErrReplaced, after(writes), []call{
		{"a first store in a leaf", store},
		addLeaf,
		{"Flush", func(_ string, ds *memmap.Dataset) error { return ds.Flush() }},
		{"Close", func(_ string, ds *memmap.Dataset) error { return ds.Close() }},
	}},
	{"another tool has put a directory in the place of a Writer's", memmap.ErrReplaced, nil, []call{
		{"Commit", moved((*memmap.Writer).Commit)},
		{"Finish", moved((*memmap.Writer).Finish)},
	}},
	{"a dataset is there", fs.ErrExist, nil, []call{
		{"Create without Replace", func(dir string, _ *memmap.Dataset) error { return create(dir, false) }},
		{"NewWriter without Resume", func(dir string, _ *memmap.Dataset) error { return newWriter(dir, false) }},
		{"SaveWith with NoReplace", func(dir string, _ *memmap.Dataset) error {
			return memmap.SaveWith(context.Background(), dir, rowsOf(7), memmap.SaveOptions{NoReplace: true})
		}},
	}},
	{"it is closed", memmap.ErrClosed, func(t *testing.T, dir string) *memmap.Dataset {
		ds := reads(t, dir)
		require.NoError(t, ds.Close())
		return ds
	}, []call{
		{"any use of elements", use},
		{"Acquire after Live.Close", func(dir string, _ *memmap.Dataset) error {
			live := tensor.Must(memmap.OpenLive(dir, memmap.LiveOptions{}))
			must(live.Close())
			_, err := live.Acquire()
			return err
		}},
		{"a view after Release", func(dir string, _ *memmap.Dataset) error {
			live := tensor.Must(memmap.OpenLive(dir, memmap.LiveOptions{}))
			ds := tensor.Must(live.Acquire())
			view := tensor.Must(ds.Index(ix.Range(0, 2)))
			must(live.Close()) // or a replacement
			must(live.Release(ds))
			_, err := view.Clone()
			return err
		}},
	}},
	{"another program has cut the file of a leaf", memmap.ErrFault, func(t *testing.T, dir string) *memmap.Dataset {
		ds := reads(t, dir)
		require.Equal(t, "the old rows", stateOf(ds))
		require.NoError(t, os.Truncate(filepath.Join(dir, "x.memmap"), 0))
		return ds
	}, []call{{"any use of elements", use}}},
	{"elements were changed from outside, as Python does", memmap.ErrCorrupt, func(t *testing.T, dir string) *memmap.Dataset {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.memmap"), make([]byte, 24), 0o666))
		return reads(t, dir)
	}, []call{
		{"Verify", func(dir string, _ *memmap.Dataset) error {
			_, err := memmap.Verify(context.Background(), dir, memmap.VerifyOptions{})
			return err
		}},
		{"Save of the Dataset", func(dir string, ds *memmap.Dataset) error { return memmap.Save(dir+"-again", ds) }},
		{"Copy from it", func(dir string, _ *memmap.Dataset) error {
			return memmap.Copy(context.Background(), dir, dir+"-again", memmap.CopyOptions{})
		}},
	}},
}

// TestTimeErrors checks the errors of docs/time.md: each call returns the error in its situation.
// Seal waits for a second for those who write.
func TestTimeErrors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("directories are not locked as the table says")
	}
	rows := table(t, "../../../docs/time.md", "Errors", "when", "error", "of", "do")
	require.Len(t, rows, len(situations))
	for i, s := range situations {
		var calls []string
		for _, c := range s.calls {
			calls = append(calls, c.of)
			t.Run(s.when+"/"+c.of, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "d")
				require.NoError(t, memmap.SaveWith(t.Context(), dir, rowsOf(1, 2, 3), memmap.SaveOptions{NoSync: true}))
				var ds *memmap.Dataset
				if s.begin != nil {
					ds = s.begin(t, dir)
				}
				require.ErrorIs(t, c.run(dir, ds), s.err)
			})
		}
		require.Equal(t, []string{s.when, errorName(s.err), strings.Join(calls, ", ")}, rows[i][:3])
	}
}
