//go:build unix

package forms_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestManyInputs has more inputs than files may be open.
func TestManyInputs(t *testing.T) {
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	few := before
	few.Cur = 128
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)) }()
	const n = 300
	dir := testkit.MemoryDir(t)
	var want []int64
	var tables, dirs []string
	for i := range n {
		want = append(want, int64(i))
		tables = append(tables, filepath.Join(dir, fmt.Sprint(i, ".csv")))
		require.NoError(t, os.WriteFile(tables[i], fmt.Appendf(nil, "x\n%d\n", i), 0o666))
		dirs = append(dirs, filepath.Join(dir, fmt.Sprint(i)))
		td := dict(t, []int{1}, tdict.Entries{"x": tensor.Vector(int64(i))})
		require.NoError(t, memmap.SaveWith(ctx, dirs[i], td, memmap.SaveOptions{NoSync: true}))
	}
	for _, from := range [][]string{tables, dirs} {
		for _, name := range []string{"out", "out.npz", "out.jsonl"} {
			out := filepath.Join(testkit.MemoryDir(t), name)
			require.NoError(t, forms.Convert(ctx, out, from, forms.Options{NoSync: true}))
			got, err := tdict.Slice[int64](read(t, out, nil), "x")
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}
}
