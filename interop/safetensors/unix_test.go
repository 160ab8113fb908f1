//go:build unix

package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestShardCut cuts a mapped shard: the error names it.
func TestShardCut(t *testing.T) {
	path := sharded(t, t.TempDir(), layer(t, 0), layer(t, 1))
	f := open(t, path)
	shard := filepath.Join(filepath.Dir(path), "model-00002-of-00002.safetensors")
	require.NoError(t, os.Truncate(shard, 100))
	err := testkit.Err(tensor.Must(f.Tensor("layers/1/weight")).Clone())
	require.ErrorIs(t, err, safetensors.ErrFault)
	require.ErrorContains(t, err, shard+": layers.1.weight: ")
}

// TestSetWithFewDescriptors: an open set holds no descriptors, however many shards it has.
func TestSetWithFewDescriptors(t *testing.T) {
	path := manyShards(t, 150)
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	few := old
	few.Cur = 60
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	f, err := safetensors.Open(path)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old))
	require.NoError(t, err)
	defer f.Close()
	for i := range 150 {
		require.Equal(t, float64(i), tensor.Must(tensor.Item[float64](tensor.Must(f.Tensor(nestedkey.Of(fmt.Sprint(i)))))))
	}
}
