package inspect_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// residentFiles returns the bytes of mapped files in the memory of the process.
func residentFiles(t testing.TB) int {
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	found := regexp.MustCompile(`Rss(?:File|Shmem):\s+(\d+) kB`).FindAllSubmatch(status, -1)
	require.NotEmpty(t, found)
	bytes := 0
	for _, f := range found {
		kb, err := strconv.Atoi(string(f[1]))
		require.NoError(t, err)
		bytes += kb << 10
	}
	return bytes
}

// TestSampleTouchesFewPages has a mapped leaf of 64 MiB. A sample has 4 MiB of it; the kernel maps
// some pages around each.
func TestSampleTouchesFewPages(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "data")
	td := tdict.New(1 << 20)
	require.NoError(t, td.Set("x", tensor.Must(tensor.New(tensor.Float32, 1<<20, 16))))
	require.NoError(t, memmap.SaveWith(context.Background(), dir, td, memmap.SaveOptions{NoSync: true}))
	d, err := memmap.Open(dir)
	require.NoError(t, err)
	defer d.Close()

	before := residentFiles(t)
	profiles(t, d.TensorDict, inspect.ProfileOptions{MaxBytes: 1 << 20, Workers: 2})
	require.Less(t, residentFiles(t)-before, 24<<20)
	profiles(t, d.TensorDict, inspect.ProfileOptions{Workers: 2})
	require.Greater(t, residentFiles(t)-before, 60<<20, "what the test measures")
}
