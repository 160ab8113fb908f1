package memmap_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkOpenLazyStack opens a stack of members of 10 leaves, beside as many directories.
func BenchmarkOpenLazyStack(b *testing.B) {
	const n = 200
	tds := make([]*tdict.TensorDict, n)
	for i := range tds {
		tds[i] = tdict.New(4)
		for leaf := range 10 {
			require.NoError(b, tds[i].Set(nestedkey.Of(fmt.Sprint("x", leaf)), numbered(tensor.Float32, i, 4, 2)))
		}
	}
	dir := filepath.Join(b.TempDir(), "set")
	require.NoError(b, memmap.SaveWith(b.Context(), dir, tensor.Must(tdict.LazyStack(tds, 0)), memmap.SaveOptions{NoSync: true}))
	opened := func(at string) {
		ds := tensor.Must(memmap.Open(at))
		require.NoError(b, ds.Close())
	}
	b.Run("how=stack", func(b *testing.B) {
		for b.Loop() {
			opened(dir)
		}
	})
	b.Run("how=directories", func(b *testing.B) {
		for b.Loop() {
			for i := range n {
				opened(filepath.Join(dir, fmt.Sprint(i)))
			}
		}
	})
}
