package memmap_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestStoresDoNotWaitForFlush stores to one leaf after the other while a Flush sums a large one.
// None waits for that, and the sums are right: those of leaves that were stored to meanwhile are
// void, and the next Flush sets them.
func TestStoresDoNotWaitForFlush(t *testing.T) {
	const small = 400
	td := tdict.New(1)
	zero := tensor.Must(tensor.New(tensor.Uint8))
	require.NoError(t, td.Set("large", tensor.Must(zero.Expand(1, 128<<20))))
	for i := range small {
		require.NoError(t, td.Set(nestedkey.Of("s", fmt.Sprint(i)), tensor.Must(zero.Expand(1, 8))))
	}
	var waited, took time.Duration
	for range 5 {
		dir := filepath.Join(t.TempDir(), "d")
		ds := tensor.Must(memmap.Create(dir, td, memmap.CreateOptions{NoSync: true}))
		store := func(key nestedkey.Key) {
			require.NoError(t, tensor.Must(ds.Tensor(key)).SetIndex(tensor.Scalar[uint8](1), ix.At(0), ix.At(0)))
		}
		store("large")
		store("s/0")
		flushed := make(chan error)
		began := time.Now()
		go func() { err := ds.Flush(); took = time.Since(began); flushed <- err }()
		waited = 0
		for i := 1; i < small; i++ {
			at := time.Now()
			store(nestedkey.Of("s", fmt.Sprint(i)))
			waited = max(waited, time.Since(at))
			time.Sleep(100 * time.Microsecond)
		}
		require.NoError(t, <-flushed)
		require.NoError(t, ds.Close())
		report := tensor.Must(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{}))
		require.Empty(t, report.Unsummed)
		if waited < took/3 {
			return
		}
	}
	t.Errorf("a store waited %v during a Flush of %v", waited, took)
}
