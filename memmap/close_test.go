package memmap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A writerFunc is an io.Writer.
type writerFunc func(b []byte) (int, error)

func (w writerFunc) Write(b []byte) (int, error) { return w(b) }

// rewards are the elements of the leaf reward of the dictionary of the examples.
var rewards = []int64{10, 20, 30, 40}

// TestCloseWithinAnOperation closes a dataset in a function that an operation on its leaf calls.
// The operation ends as if there were no Close, and unmaps the leaf.
func TestCloseWithinAnOperation(t *testing.T) {
	tests := []struct {
		name string
		run  func(reward *tensor.Tensor, end func()) (*tensor.Tensor, error)
	}{
		{"the function of tensor.Map", func(reward *tensor.Tensor, end func()) (*tensor.Tensor, error) {
			return tensor.Map(reward, func(v int64) int64 { end(); return v })
		}},
		{"the function of tensor.Map over a copy", func(reward *tensor.Tensor, end func()) (*tensor.Tensor, error) {
			reversed := tensor.Must(reward.Index(ix.Range(0, 4).Step(3)))
			back, err := tensor.Map(reversed, func(v int64) int64 { end(); return v })
			if err != nil || !back.Equal(tensor.Vector[int64](10, 40)) {
				return back, err
			}
			return tensor.Vector(rewards...), nil
		}},
		{"the writer of WriteTo", func(reward *tensor.Tensor, end func()) (*tensor.Tensor, error) {
			var buf bytes.Buffer
			_, err := reward.WriteTo(writerFunc(func(b []byte) (int, error) { end(); return buf.Write(b) }))
			return tensor.Must(tensor.FromBytes(tensor.Int64, buf.Bytes(), 4)), err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			live := mapping.Live()
			ds := open(t, saved(t))
			ended := 0
			got, err := tt.run(tensor.Must(ds.Tensor("reward")), func() {
				if ended++; ended == 1 {
					require.NoError(t, ds.Close())
				}
			})
			require.NoError(t, err)
			require.NotZero(t, ended)
			require.True(t, got.Equal(tensor.Vector(rewards...)), "got %v", got)
			require.Equal(t, live, mapping.Live())
			require.NoError(t, ds.CloseWait(t.Context()))
			_, err = tensor.Must(ds.Tensor("reward")).Clone()
			require.ErrorIs(t, err, memmap.ErrClosed, "new operations are refused")
		})
	}
}

// TestCloseWithinLongOperations closes a dataset in a function that an operation on a large leaf
// calls, several times if the leaf is not in order. It sees all elements as they were.
func TestCloseWithinLongOperations(t *testing.T) {
	const rows, cols = 1024, 1024
	x := tensor.Must(tensor.Must(tensor.Arange[int32](0, rows*cols, 1)).Reshape(rows, cols))
	views := []struct {
		name string
		of   func(x *tensor.Tensor) *tensor.Tensor
	}{
		{"in order", func(x *tensor.Tensor) *tensor.Tensor { return x }},
		{"columns of rows", func(x *tensor.Tensor) *tensor.Tensor { return tensor.Must(x.Index(ix.All, ix.Range(1, cols-1))) }},
		{"transposed", func(x *tensor.Tensor) *tensor.Tensor { return tensor.Must(x.Transpose(0, 1)) }},
		{"large rows that are in order", func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.Must(tensor.Must(x.Reshape(4, rows/4*cols)).Index(ix.All, ix.Range(0, rows/4*cols-1)))
		}},
		{"large rows that are not", func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.Must(tensor.Must(x.Reshape(2, rows/2, cols)).Transpose(1, 2))
		}},
	}
	operations := []struct {
		name string
		run  func(x *tensor.Tensor, end func()) (*tensor.Tensor, error)
	}{
		{"write to", func(x *tensor.Tensor, end func()) (*tensor.Tensor, error) {
			var buf bytes.Buffer
			n, err := x.WriteTo(writerFunc(func(b []byte) (int, error) { end(); return buf.Write(b) }))
			require.Equal(t, x.ByteSize(), int(n))
			return tensor.Must(tensor.FromBytes(tensor.Int32, buf.Bytes(), x.Shape()...)), err
		}},
		{"map", func(x *tensor.Tensor, end func()) (*tensor.Tensor, error) {
			return tensor.Map(x, func(v int32) int32 { end(); return v })
		}},
		{"read", func(x *tensor.Tensor, end func()) (got *tensor.Tensor, err error) {
			err = tensor.Read(x, func(s []int32) {
				end()
				got = tensor.Must(tensor.From(slices.Clone(s), x.Shape()...))
			})
			return got, err
		}},
	}
	dir := filepath.Join(t.TempDir(), "large")
	td := tdict.New(rows)
	require.NoError(t, td.Set("x", x))
	require.NoError(t, memmap.Save(dir, td))
	for _, op := range operations {
		for _, view := range views {
			t.Run(op.name+"/"+view.name, func(t *testing.T) {
				live := mapping.Live()
				ds := open(t, dir)
				var once sync.Once
				got, err := op.run(view.of(tensor.Must(ds.Tensor("x"))), func() { once.Do(func() { require.NoError(t, ds.Close()) }) })
				require.NoError(t, err)
				require.True(t, got.Equal(view.of(x)))
				require.Equal(t, live, mapping.Live())
			})
		}
	}
}

// TestCloseWithinWrite closes a dataset in the function of tensor.Write, whose changes reach the
// file all the same.
func TestCloseWithinWrite(t *testing.T) {
	for _, step := range []int{1, 2} { // in place, and by a copy
		dir := saved(t)
		ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
		part := tensor.Must(tensor.Must(ds.Tensor("reward")).Index(ix.Range(0, 4).Step(step)))
		require.NoError(t, tensor.Write(part, func(s []int64) {
			require.NoError(t, ds.Close())
			s[0] = 7
		}))
		reward := tensor.Must(open(t, dir).Tensor("reward"))
		require.True(t, reward.Equal(tensor.Vector[int64](7, 20, 30, 40)), "%v", reward)
	}
}

// TestCloseWaitWaitsForOperations closes while another goroutine writes a leaf to a slow writer.
func TestCloseWaitWaitsForOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := mapping.Live()
		ds := open(t, saved(t))
		_ = tensor.Must(ds.Clone()) // maps every leaf
		began, written := time.Now(), make(chan error, 1)
		go func() { written <- writeSlowly(tensor.Must(ds.Tensor("reward"))) }()
		synctest.Wait()
		require.Equal(t, live+2, mapping.Live())

		require.NoError(t, ds.Close())
		require.Equal(t, live+1, mapping.Live(), "what nobody uses is unmapped at once")
		require.ErrorIs(t, ds.Close(), memmap.ErrClosed)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.True(t, ds.CloseWait(ctx) == context.DeadlineExceeded, "the error of ctx, as it is")
		require.Equal(t, time.Second, time.Since(began))

		require.NoError(t, ds.CloseWait(t.Context()))
		require.Equal(t, time.Hour, time.Since(began), "when the operation ends")
		require.Equal(t, live, mapping.Live())
		require.NoError(t, <-written)
	})
}

// writeSlowly writes the rewards to a writer that takes an hour before it looks at them.
func writeSlowly(reward *tensor.Tensor) error {
	_, err := reward.WriteTo(writerFunc(func(b []byte) (int, error) {
		time.Sleep(time.Hour)
		if !tensor.Must(tensor.FromBytes(tensor.Int64, b, 4)).Equal(tensor.Vector(rewards...)) {
			return 0, errors.New("the bytes changed")
		}
		return len(b), nil
	}))
	return err
}

func TestCloseWaitBeginsTheClose(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	live := mapping.Live()
	ds := open(t, saved(t))
	reward := tensor.Must(ds.Tensor("reward"))
	_ = tensor.Must(ds.Clone()) // maps every leaf
	_, err := reward.WriteTo(writerFunc(func(b []byte) (int, error) {
		require.True(t, ds.CloseWait(ended) == context.Canceled)
		require.Equal(t, live+1, mapping.Live(), "one leaf in use does not keep the others")
		return len(b), nil
	}))
	require.NoError(t, err)
	require.Equal(t, live, mapping.Live())
	require.ErrorIs(t, ds.Close(), memmap.ErrClosed)
	require.ErrorIs(t, ds.Flush(), memmap.ErrClosed)
	require.NoError(t, ds.CloseWait(ended), "nothing to wait for, so an ended ctx does not matter")
}

func TestCloseWaitOfUnmappedLeaves(t *testing.T) {
	ds := open(t, saved(t))
	require.NoError(t, ds.CloseWait(t.Context()))
	_, err := ds.Clone()
	require.ErrorIs(t, err, memmap.ErrClosed)
}

// TestCloseWithinWriteIsNotSealed: a leaf that is still being written when its dataset is closed
// gets no checksums, from nobody, before the write ends.
func TestCloseWithinWriteIsNotSealed(t *testing.T) {
	t.Parallel() // it waits a second for a lock
	dir := saved(t)
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	require.NoError(t, tensor.Write(tensor.Must(ds.Tensor("reward")), func(s []int64) {
		s[0] = 7
		require.NoError(t, ds.Close())
		require.ErrorIs(t, memmap.SealWritten(t.Context(), dir), memmap.ErrBusy)
		s[1] = 8
	}))
	require.NoError(t, ds.CloseWait(t.Context()))
	requireUnsummed(t, dir, "reward")
	require.NoError(t, memmap.SealWritten(t.Context(), dir))
	requireUnsummed(t, dir)
}

// requireUnsummed verifies a dataset, of which only the leaves with the given keys have no sums.
func requireUnsummed(t *testing.T, dir string, keys ...nestedkey.Key) {
	t.Helper()
	report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
	require.NoError(t, err)
	require.Equal(t, keys, report.Unsummed)
}

// TestCloseTakesLittleMemory closes a dataset of small leaves that were all written: Close takes no
// large buffer for each.
func TestCloseTakesLittleMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	td := tdict.New(4)
	for i := range 200 {
		require.NoError(t, td.Set(nestedkey.Key(fmt.Sprint("x", i)), tensor.Vector[int64](1, 2, 3, 4)))
	}
	require.NoError(t, memmap.Save(dir, td))
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	for key := range td.All() {
		fill(t, ds, key, 7)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, ds.Close())
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(20<<20))
	requireUnsummed(t, dir)
}

// TestCloseWaitBesideCloseWait closes a dataset by several goroutines at once: each waits until it
// is closed, with its checksums computed, and none of them has an error.
func TestCloseWaitBesideCloseWait(t *testing.T) {
	dir := saved(t)
	for range longtests.Times(40, 200) {
		ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
		fill(t, ds, "reward", 7)
		var all sync.WaitGroup
		errs, void := make([]error, 4), make([]int, 4)
		for i := range errs {
			all.Go(func() {
				err := ds.CloseWait(t.Context())
				report, failed := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
				errs[i], void[i] = errors.Join(err, failed), len(report.Unsummed)
			})
		}
		all.Wait()
		require.NoError(t, errors.Join(errs...))
		require.Equal(t, make([]int, 4), void)
	}
}
