package vfs_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

// faults are the two ways in which the n-th operation fails.
var faults = []struct {
	name   string
	inject func(d *vfstest.Disk, n int)
}{
	{"dead", (*vfstest.Disk).FailAfter},
	{"once", (*vfstest.Disk).FailOnce},
}

// eachSetting runs test with and without Exchange, over both faults, with and without an old tree.
func eachSetting(t *testing.T, test func(t *testing.T, s *setting)) {
	for _, noExchange := range []bool{false, true} {
		for _, fault := range faults {
			for _, old := range []string{absent, before} {
				name := fmt.Sprintf("noexchange=%t/fault=%s/old=%s", noExchange, fault.name, old)
				t.Run(name, func(t *testing.T) { test(t, &setting{noExchange, old, fault.inject, 0}) })
			}
		}
	}
}

// A setting is one way to run a crash test.
type setting struct {
	noExchange bool
	old        string
	inject     func(d *vfstest.Disk, n int)
	windows    int // crashes seen in the moment without dir
}

// TestPublishFailingEverywhere fails every operation of a save. It looks at the disk that goes on
// and at what crashes leave of it.
func TestPublishFailingEverywhere(t *testing.T) {
	eachSetting(t, func(t *testing.T, s *setting) {
		for n := 1; ; n++ {
			disk := saved(t, s.old, s.noExchange)
			s.inject(disk, n)
			done := disk.Ops()
			err := save(disk, "tmp1", "d", after)
			s.check(t, disk, err, after, s.old)
			if disk.Ops() < done+n {
				require.Less(t, n, ops)
				break // n lies beyond the last operation
			}
			require.ErrorIs(t, err, vfstest.ErrInjected, "operation %d", n)
		}
		if !s.noExchange || s.old == absent {
			require.Zero(t, s.windows, "dir was never absent")
		}
	})
}

// TestPublishWindow pins the one moment without dir: the disk dies, without Exchange, between the
// rename that moves the old tree aside and the one that moves the new tree in.
func TestPublishWindow(t *testing.T) {
	const movingIn = 4 // SyncDir(tmp), Exchange, Rename(d, aside), Rename(tmp, d)
	disk := saved(t, before, true)
	require.NoError(t, write(disk, "tmp", after))
	disk.FailAfter(movingIn)
	require.Error(t, vfs.Publish(disk, "tmp", "d"))

	crashed := disk.Crash(vfstest.Current)
	requireNames(t, crashed, vfs.AsidePath("d"), "tmp")
	require.Equal(t, before, load(t, crashed.Tree(), vfs.AsidePath("d")))
	require.Equal(t, after, load(t, crashed.Tree(), "tmp"))
	require.NoError(t, crashed.Rename(vfs.AsidePath("d"), "d"), "the documented remedy")
	require.Equal(t, before, load(t, crashed.Tree(), "d"))
}

// ops is more operations than any one save needs.
const ops = 25

// TestPublishFailingTwice fails every pair of operations of two saves in a row, so that the second
// finds whatever the first left.
func TestPublishFailingTwice(t *testing.T) {
	eachSetting(t, func(t *testing.T, s *setting) {
		for n1 := 1; n1 <= ops; n1++ {
			for n2 := 1; n2 <= ops; n2++ {
				disk := saved(t, s.old, s.noExchange)
				disk.FailOnce(n1)
				olds := []string{s.old, after}
				if save(disk, "tmp1", "d", after) == nil {
					olds = olds[1:] // what was durable once never goes
				}
				s.inject(disk, n2)
				s.check(t, disk, save(disk, "tmp2", "d", later), later, olds...)
			}
		}
	})
}

// TestPublishAfterCrash saves on what a crash in a failed save left, as the next boot does.
func TestPublishAfterCrash(t *testing.T) {
	eachSetting(t, func(t *testing.T, s *setting) {
		for n := 1; n <= ops; n++ {
			for _, mode := range vfstest.CrashModes() {
				crashed := saved(t, s.old, s.noExchange)
				s.inject(crashed, n)
				_ = save(crashed, "tmp1", "d", after)
				disk := crashed.Crash(mode)
				require.NoError(t, save(disk, "tmp2", "d", later))
				s.check(t, disk, nil, later)
				_, err := disk.Lstat(vfs.AsidePath("d"))
				require.Error(t, err, "what a crash left aside must go")
			}
		}
	})
}

// check requires that d holds want, or, if err is not nil, possibly one of the olds: now, as err
// says, and after a crash.
func (s *setting) check(t *testing.T, disk *vfstest.Disk, err error, want string, olds ...string) {
	t.Helper()
	durable := err == nil
	if e, ok := errors.AsType[*vfs.PublishError](err); ok {
		s.checkState(t, disk, e, want)
		durable = e.State == vfs.Leftover
	}
	for _, mode := range vfstest.CrashModes() {
		crashed := disk.Crash(mode)
		got := load(t, crashed.Tree(), "d")
		if durable {
			require.Equal(t, want, got, "a crash that leaves %v, after %v", mode, err)
			continue
		}
		if got == absent {
			got = s.window(t, crashed, olds)
		}
		require.Contains(t, append(olds, want), got, "a crash that leaves %v, after %v", mode, err)
	}
}

// window accounts for a disk without d: right if there never was one. Without Exchange there is one
// moment in which the complete old tree is aside; window returns what is there.
func (s *setting) window(t *testing.T, disk *vfstest.Disk, olds []string) string {
	t.Helper()
	aside := load(t, disk.Tree(), vfs.AsidePath("d"))
	if aside == absent {
		require.Equal(t, absent, olds[0], "the old tree is lost")
		return absent
	}
	require.True(t, s.noExchange, "with Exchange nothing is ever aside")
	s.windows++
	return aside
}

// checkState requires that the disk holds now what the error says.
func (s *setting) checkState(t *testing.T, disk *vfstest.Disk, e *vfs.PublishError, want string) {
	t.Helper()
	got := load(t, disk.Tree(), "d")
	switch e.State {
	case vfs.Untouched:
		require.NotEqual(t, want, got)
		require.Empty(t, e.Left)
	case vfs.Aside:
		require.Equal(t, absent, got)
		require.NotEqual(t, absent, load(t, disk.Tree(), e.Left))
		require.True(t, s.noExchange)
	case vfs.Unsynced:
		require.Equal(t, want, got)
		if e.Left != "" {
			require.NotEqual(t, absent, load(t, disk.Tree(), e.Left))
		}
	case vfs.Leftover:
		require.Equal(t, want, got)
		require.NotEmpty(t, e.Left)
	}
}
