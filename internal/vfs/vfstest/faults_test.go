package vfstest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

// all calls each mutating operation once and returns their errors in order.
func all(d *vfstest.Disk, f vfs.File) []error {
	write := func() error { _, err := f.Write([]byte("WXYZ")); return err }
	create := func() error { _, err := d.Create("new"); return err }
	return []error{
		d.Mkdir("newdir", 0o777), create(), write(), f.Sync(), d.Rename("a", "c"), d.Exchange("b", "f"),
		d.SyncDir("."), d.RemoveAll("dir"), f.Close(),
	}
}

// prepared returns a disk on which all succeeds.
func prepared(t *testing.T) (*vfstest.Disk, vfs.File) {
	t.Helper()
	d := vfstest.New()
	durable(t, d, "a", "b")
	require.NoError(t, d.Mkdir("dir", 0o777))
	put(t, d, "dir/x", "x")
	put(t, d, "dir/y", "y")
	return d, put(t, d, "f", "f")
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name   string
		inject func(d *vfstest.Disk, n int)
		fails  func(op, n int) bool
	}{
		{"fail after", (*vfstest.Disk).FailAfter, func(op, n int) bool { return op >= n }},
		{"fail once", (*vfstest.Disk).FailOnce, func(op, n int) bool { return op == n }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for n := 1; n <= 10; n++ {
				d, f := prepared(t)
				done := d.Ops()
				tt.inject(d, n)
				for i, err := range all(d, f) {
					require.Equal(t, tt.fails(i+1, n), err != nil, "operation %d of %d: %v", i+1, n, err)
					if err != nil {
						require.ErrorIs(t, err, vfstest.ErrInjected)
					}
				}
				require.Equal(t, done+9, d.Ops())
			}
		})
	}
}

// TestDeadDisk checks what failed operations have done all the same.
func TestDeadDisk(t *testing.T) {
	d, f := prepared(t)
	d.FailAfter(1)
	all(d, f)
	want := tree{"a": "a", "b": "b", "dir": "/", "dir/y": "y", "f": "fWX"}
	require.Equal(t, want, list(t, d.Tree()), "half a write, half a removal, nothing else")
	require.Equal(t, tree{"a": "a", "b": "b"}, list(t, d.Crash(vfstest.Synced).Tree()))
	require.NoError(t, d.Crash(vfstest.Synced).Mkdir("dir", 0o777), "the next boot has no faults")
}

func TestFaultOfOperationZeroPanics(t *testing.T) {
	require.PanicsWithValue(t, "vfstest: impossible: the operation to fail is 0, want at least 1",
		func() { vfstest.New().FailAfter(0) })
}
