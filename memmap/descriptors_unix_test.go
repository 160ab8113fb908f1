//go:build unix

package memmap_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/internal/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// needy holds what needs descriptors: each prepares a dataset in dir, and returns what is done when
// few are free.
var needy = map[string]func(t *testing.T, dir string) (do func() error){
	"AddLeaf": func(t *testing.T, dir string) func() error {
		ds := writable(t, savedSteps(t, dir))
		return func() error { return ds.AddLeaf("more", tensor.Vector[int64](1, 2, 3, 4)) }
	},
	"AddLeaf of a leaf in a new dictionary": func(t *testing.T, dir string) func() error {
		ds := writable(t, savedSteps(t, dir))
		return func() error { return ds.AddLeaf("new/more", tensor.Vector[int64](1, 2, 3, 4)) }
	},
	"the first store": func(t *testing.T, dir string) func() error {
		x := tensor.Must(writable(t, savedSteps(t, dir)).Tensor("reward"))
		return func() error { return x.SetIndex(tensor.Scalar[int64](5), ix.At(0)) }
	},
	"Flush": func(t *testing.T, dir string) func() error {
		ds := stored(t, dir)
		return ds.Flush
	},
	"Close": func(t *testing.T, dir string) func() error {
		ds := stored(t, dir)
		return func() error { // it marks the sums, or says nothing
			return errors.Join(ds.Close(), intactSums(t, dir))
		}
	},
	"Open": func(t *testing.T, dir string) func() error {
		savedSteps(t, dir)
		return func() error {
			ds, err := memmap.Open(dir)
			if err != nil {
				return err
			}
			_, err = ds.Clone()
			return errors.Join(err, ds.Close())
		}
	},
	"Refresh": func(t *testing.T, dir string) func() error {
		ds := open(t, savedSteps(t, dir))
		return func() error {
			_, err := ds.Refresh()
			return err
		}
	},
	"Save": func(_ *testing.T, dir string) func() error {
		return func() error { return memmap.Save(dir, steps()) }
	},
	"Save of what is there": func(t *testing.T, dir string) func() error {
		ds := open(t, savedSteps(t, dir))
		return func() error { return memmap.Save(dir, ds.TensorDict) }
	},
	"a Writer": func(_ *testing.T, dir string) func() error {
		return func() error { return log(dir, memmap.WriterOptions{}) }
	},
	"a Writer that resumes a finished log": func(t *testing.T, dir string) func() error {
		require.NoError(t, log(dir, memmap.WriterOptions{}))
		return func() error { return log(dir, memmap.WriterOptions{Resume: true}) }
	},
	"a Writer that resumes a log": func(t *testing.T, dir string) func() error {
		w, err := memmap.NewWriter(dir, step(), memmap.WriterOptions{})
		require.NoError(t, errors.Join(err, w.Append(steps()), w.Commit(), w.Close()))
		return func() error { return log(dir, memmap.WriterOptions{Resume: true}) }
	},
	"Live": func(t *testing.T, dir string) func() error {
		savedSteps(t, dir)
		return func() error {
			live, err := memmap.OpenLive(dir, memmap.LiveOptions{})
			if err != nil {
				return err
			}
			ds, err := live.Acquire()
			if err != nil {
				return errors.Join(err, live.Close())
			}
			_, err = ds.Clone()
			return errors.Join(err, live.Release(ds), live.Close())
		}
	},
	"Verify": func(t *testing.T, dir string) func() error {
		savedSteps(t, dir)
		return func() error {
			report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{Workers: 2})
			if err == nil && len(report.Faults) > 0 {
				return fmt.Errorf("%v", report.Faults)
			}
			return err
		}
	},
}

// savedSteps saves a dataset and returns its directory.
func savedSteps(t *testing.T, dir string) string {
	t.Helper()
	require.NoError(t, memmap.Save(dir, steps()))
	return dir
}

// stored returns a dataset that was written to, and not flushed.
func stored(t *testing.T, dir string) *memmap.Dataset {
	t.Helper()
	ds := writable(t, savedSteps(t, dir))
	require.NoError(t, tensor.Must(ds.Tensor("reward")).SetIndex(tensor.Scalar[int64](5), ix.At(0)))
	return ds
}

// intactSums returns an error unless every leaf of a dataset has its sums.
func intactSums(t *testing.T, dir string) error {
	report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
	if err == nil && len(report.Unsummed) > 0 {
		return fmt.Errorf("no sums of %v", report.Unsummed)
	}
	return err
}

// step is a row of steps.
func step() *tdict.TensorDict { return tensor.Must(steps().Index(ix.At(0))) }

// log appends to a log and finishes it.
func log(dir string, opt memmap.WriterOptions) error {
	w, err := memmap.NewWriter(dir, step(), opt)
	if err != nil {
		return err
	}
	return errors.Join(w.Append(steps()), w.Commit(), w.Finish())
}

// limitFiles limits how many descriptors the process may have.
func limitFiles(t *testing.T, to int) {
	t.Helper()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	atMost(&limit.Cur, to)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
}

// takeDescriptors opens files until only so many more can be. It returns what closes them.
func takeDescriptors(t *testing.T, free int) (giveBack func()) {
	t.Helper()
	var all []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			require.ErrorIs(t, err, syscall.EMFILE)
			break
		}
		all = append(all, f)
	}
	require.Greater(t, len(all), free)
	for _, f := range all[len(all)-free:] {
		require.NoError(t, f.Close())
	}
	return func() {
		for _, f := range all {
			_ = f.Close()
		}
	}
}

// TestProcessWithFewDescriptors is a process that has a few descriptors free, and half of them in
// what mappings keep.
func TestProcessWithFewDescriptors(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	limitFiles(t, 512)
	mapAll(t, k.Args[0])() // a tenth of 512 may be kept
	limitFiles(t, 120)
	for free := range 9 {
		do := needy[k.Args[1]](t, filepath.Join(testkit.TempDir(t), "d"))
		kept := mapAll(t, k.Args[0])
		giveBack := takeDescriptors(t, free)
		err := do()
		giveBack()
		require.NoError(t, err, "with %d free", free)
		kept()
	}
	k.Tell("done")
}

// mapAll maps the leaves of a dataset, until unmap.
func mapAll(t *testing.T, dir string) (unmap func()) {
	t.Helper()
	ds := open(t, dir)
	_, err := ds.Clone()
	require.NoError(t, err)
	return func() { require.NoError(t, ds.Close()) }
}

func TestFewDescriptors(t *testing.T) {
	dir, _ := saveScalars(t, 60)
	require.Greater(t, mapping.Limit(), 1000)
	for name := range needy {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "TestProcessWithFewDescriptors", dir, name)
			err := p.Ended()
			require.NoError(t, err, p.Tail())
			require.Contains(t, p.Heard, "done")
		})
	}
}
