package memmap_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// The ways to make a dataset, by what they replace.
const (
	withNoReplace = iota // SaveWith
	plainly              // Create
	withReplace          // Create
)

// places are what can be where a dataset is to go, with the errors of each way.
var places = []struct {
	name string
	make func(t *testing.T, dir string)
	errs [3]error
}{
	{"nothing", func(*testing.T, string) {}, [3]error{nil, nil, nil}},
	{"nothing, nor the directory around it", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Dir(dir))) }, [3]error{nil, nil, nil}},
	{"an empty directory", func(t *testing.T, dir string) { require.NoError(t, os.Mkdir(dir, 0o777)) }, [3]error{fs.ErrExist, nil, nil}},
	{"a dataset", func(t *testing.T, dir string) { require.NoError(t, memmap.Save(dir, steps())) }, [3]error{fs.ErrExist, fs.ErrExist, nil}},
	{"an empty dataset", func(t *testing.T, dir string) {
		write(t, dir, "meta.json", `{"shape":[],"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>"}`)
	}, [3]error{fs.ErrExist, fs.ErrExist, nil}},
	{"a log without a Writer", func(t *testing.T, dir string) { require.NoError(t, newWriter(t, dir).Close()) }, [3]error{fs.ErrExist, fs.ErrExist, nil}},
	{"a log with its Writer", func(t *testing.T, dir string) { newWriter(t, dir) }, [3]error{fs.ErrExist, memmap.ErrBusy, memmap.ErrBusy}},
	{"files of another kind", func(t *testing.T, dir string) { write(t, dir, "notes.txt", "mine") }, [3]error{fs.ErrExist, memmap.ErrForeign, memmap.ErrForeign}},
	{"directories", func(t *testing.T, dir string) { write(t, dir, "a/notes.txt", "mine") }, [3]error{fs.ErrExist, memmap.ErrForeign, memmap.ErrForeign}},
	{"a link that leads nowhere", func(t *testing.T, dir string) {
		if err := os.Symlink("nowhere", dir); err != nil {
			t.Skip("this account may not make links, as on Windows: ", err)
		}
	}, [3]error{fs.ErrExist, fs.ErrExist, fs.ErrExist}},
	{"a link to a dataset", func(t *testing.T, dir string) {
		if err := os.Symlink(saved(t), dir); err != nil {
			t.Skip("this account may not make links, as on Windows: ", err)
		}
	}, [3]error{fs.ErrExist, fs.ErrExist, nil}},
}

// TestWhatIsReplaced saves and creates at each place.
func TestWhatIsReplaced(t *testing.T) {
	create := func(opt memmap.CreateOptions) func(dir string) error {
		return func(dir string) error {
			ds, err := memmap.Create(dir, steps(), opt)
			if err != nil {
				return err
			}
			return ds.Close()
		}
	}
	ways := []struct {
		name string
		way  int
		do   func(dir string) error
	}{
		{"save", withNoReplace, func(dir string) error {
			return memmap.SaveWith(t.Context(), dir, steps(), memmap.SaveOptions{NoReplace: true})
		}},
		{"create", plainly, create(memmap.CreateOptions{})},
		{"replace", withReplace, create(memmap.CreateOptions{Replace: true})},
	}
	for _, place := range places {
		for _, way := range ways {
			t.Run(place.name+"/"+way.name, func(t *testing.T) {
				top := filepath.Join(testkit.TempDir(t), "top")
				require.NoError(t, os.Mkdir(top, 0o777))
				dir := filepath.Join(top, "d")
				place.make(t, dir)
				before := entries(t, top)
				err := way.do(dir)
				require.ErrorIs(t, err, place.errs[way.way])
				if err == nil {
					require.True(t, tensor.Must(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})).Leaves == 2)
					require.Len(t, names(t, top), 1, "nothing is left beside it")
					return
				}
				require.Equal(t, before, entries(t, top), "nothing has changed")
			})
		}
	}
}

// entries returns the paths in a directory, with the sizes of files.
func entries(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.Walk(dir, func(path string, info fs.FileInfo, err error) error {
		if err == nil {
			all = append(all, fmt.Sprint(path, info.Mode(), info.Size()))
		}
		return nil // a directory that place.make removed
	}))
	return all
}

func TestTextsOfWhatIsTaken(t *testing.T) {
	file := filepath.Join(testkit.TempDir(t), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	err := memmap.SaveWith(t.Context(), file, steps(), memmap.SaveOptions{NoReplace: true})
	require.EqualError(t, err, "save "+file+": file already exists: NoReplace is set")
	dir := saved(t)
	err = memmap.SaveWith(t.Context(), dir, steps(), memmap.SaveOptions{NoReplace: true})
	require.EqualError(t, err, "save "+dir+": file already exists: NoReplace is set")
	_, err = memmap.Create(dir, steps(), memmap.CreateOptions{})
	require.EqualError(t, err, "create "+dir+": file already exists: set Replace to replace a dataset")
}

// TestOneOfManySucceeds has goroutines save and create at one place at the same time, of which none
// may replace another: one succeeds, and what it saved is there.
func TestOneOfManySucceeds(t *testing.T) {
	const rivals = 4
	create := func(dir string, n int64) error {
		ds, err := memmap.Create(dir, generation(t, n), memmap.CreateOptions{NoSync: true})
		if err != nil {
			return err
		}
		return errors.Join(ds.SetIndex(generation(t, n)), ds.Close())
	}
	save := func(dir string, n int64) error {
		return memmap.SaveWith(t.Context(), dir, generation(t, n), memmap.SaveOptions{NoReplace: true, NoSync: true})
	}
	ways := map[string][]func(dir string, n int64) error{
		"save": {save}, "create": {create}, "each": {save, create},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			top := testkit.TempDir(t)
			for round := range longtests.Times(5, 25) {
				dir := filepath.Join(top, fmt.Sprint(round))
				errs := make([]error, rivals)
				var ready, wg sync.WaitGroup
				ready.Add(rivals)
				for i := range rivals {
					wg.Go(func() {
						ready.Done()
						ready.Wait()
						errs[i] = way[i%len(way)](dir, int64(i+1))
					})
				}
				wg.Wait()
				winner := number(t, open(t, dir).TensorDict)
				for i, err := range errs {
					if int64(i+1) == winner {
						require.NoError(t, err)
					} else {
						require.ErrorIs(t, err, fs.ErrExist)
					}
				}
				require.Len(t, names(t, top), round+1, "nothing is left beside it")
			}
		})
	}
}
