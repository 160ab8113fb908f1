package memmap_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// versionOf returns a dataset whose elements are all n, as testdata/python/replaced.py wants it.
func versionOf(t *testing.T, n int) *tdict.TensorDict {
	t.Helper()
	rows := 3 + n%5
	numbers, texts := make([]int64, rows), make([]string, rows)
	for i := range rows {
		numbers[i], texts[i] = int64(n), fmt.Sprint("number ", n)
	}
	td := tdict.New(rows)
	for k := range 20 {
		require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint("a/", k)), tensor.Vector(numbers...)))
	}
	require.NoError(t, td.Set("obs/x", tensor.Vector(numbers...)))
	require.NoError(t, td.Set("text", tensor.Must(ragged.FromStrings(texts, rows))))
	return td
}

// TestPythonPackageOpensWhatIsReplaced has the Python package tdict open a dataset again and again
// while Save replaces it: each time it has one version, whole. Python takes some seconds to start.
func TestPythonPackageOpensWhatIsReplaced(t *testing.T) {
	needsExchange(t)
	dir := filepath.Join(testkit.TempDir(t), "live")
	require.NoError(t, memmap.Save(dir, versionOf(t, 0)))
	times := strconv.Itoa(processkit.Kills(t, 100, 1000, 4000))
	script := filepath.Join("testdata", "python", "replaced.py")
	cmd := processkit.PythonCommand(t, script, tensor.Must(filepath.Abs("../python/src")), dir, times)
	p := processkit.Run(t, cmd)
	ended, saves := make(chan error, 1), 0
	go func() { ended <- p.Ended() }()
	for {
		select {
		case err := <-ended:
			require.NoError(t, err, "%s", p.Tail())
			t.Log(p.Tail(), ", saves ", saves)
			return
		default:
		}
		saves++
		require.NoError(t, memmap.SaveWith(context.Background(), dir, versionOf(t, saves), memmap.SaveOptions{NoSync: true}))
	}
}
