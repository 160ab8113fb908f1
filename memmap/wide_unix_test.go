//go:build unix

package memmap_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// wideRow returns one row of many tensors, and some ragged rows.
func wideRow(t testing.TB, columns int, v int64) *tdict.TensorDict {
	t.Helper()
	td := tdict.New()
	for i := range columns {
		key := nestedkey.Key(fmt.Sprintf("g%d/c%d", i%7, i))
		require.NoError(t, td.Set(key, tensor.Scalar(v+int64(i))))
	}
	for i := range columns / 50 {
		layout := tensor.Must(ragged.NewLayout([]int{}, []int64{0, v % 3}))
		values := tensor.Must(tensor.Full(v, int(v%3)))
		require.NoError(t, td.Set(nestedkey.Key(fmt.Sprint("r", i)), tensor.Must(ragged.New(values, layout))))
	}
	return td
}

// TestMoreColumnsThanDescriptors appends, commits, resumes and saves rows of 1,000 leaves, or
// 5,000, with 512 descriptors.
func TestMoreColumnsThanDescriptors(t *testing.T) {
	const rows = 4
	columns := longtests.Times(1000, 5000)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	few := before
	few.Cur = 512
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)) }()
	dir := filepath.Join(testkit.TempDir(t), "d")
	var all []*tdict.TensorDict
	w := tensor.Must(memmap.NewWriter(dir, wideRow(t, columns, 1), memmap.WriterOptions{NoSync: true}))
	for v := range int64(rows) {
		if v == 1 { // in the middle of a dataset that grows
			require.NoError(t, w.Close())
			w = tensor.Must(memmap.NewWriter(dir, wideRow(t, columns, 1), memmap.WriterOptions{NoSync: true}))
		}
		all = append(all, wideRow(t, columns, v))
		require.NoError(t, w.Append(all[v]))
		require.NoError(t, w.Commit())
	}
	require.NoError(t, w.Finish())
	ds := open(t, dir)
	for v := range rows {
		row := tensor.Must(ds.Index(ix.At(v)))
		require.True(t, all[v].Equal(row), "row %d", v)
	}
	_, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
	require.NoError(t, err)
	copied := filepath.Join(testkit.TempDir(t), "copy")
	chunks := func(yield func(*tdict.TensorDict, error) bool) { yield(ds.TensorDict, nil) }
	for _, ext := range []string{"", ".tdz", ".tdc"} {
		require.NoError(t, memmap.SaveRows(t.Context(), copied+ext, chunks, memmap.SaveOptions{NoSync: true}))
		require.True(t, ds.TensorDict.Equal(open(t, copied+ext).TensorDict), ext)
	}
}
