package dircache_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// smallDisk mounts a disk of so many bytes.
func smallDisk(t *testing.T, size int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skip("a small disk cannot be mounted here: ", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// kilo returns a sample of 16 KiB.
func kilo(n int) *tdict.TensorDict {
	x := tensor.Must(tensor.Full(uint8(n), 16<<10))
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{"x": x}))
}

// fillUp leaves at most so many bytes on the disk of dir. The result gives them back.
func fillUp(t *testing.T, dir string, leave int) (release func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	var disk unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &disk))
	free := int64(disk.Bavail) * disk.Bsize
	require.NoError(t, unix.Fallocate(int(f.Fd()), 0, 0, free-int64(leave)))
	return func() { require.NoError(t, os.Remove(path)) }
}

// TestW17FullDiskCreate leaves nothing behind, however much room there is.
func TestW17FullDiskCreate(t *testing.T) {
	top := smallDisk(t, 4<<20)
	for leave := 0; leave < 4<<20-4096; leave += 128 << 10 {
		release := fillUp(t, top, leave)
		dir := filepath.Join(top, "cache")
		err := dircache.Create(dir, kilo(0), samplecache.Config{Samples: 16})
		if err != nil {
			require.ErrorIs(t, err, unix.ENOSPC)
			failed, ok := errors.AsType[*dircache.Error](err)
			require.True(t, ok)
			require.Equal(t, dir, failed.Dir)
			entries, err := os.ReadDir(top)
			require.NoError(t, err)
			require.Len(t, entries, 1, "nothing is left but the filler")
		} else {
			require.Greater(t, leave, 3*16*16<<10, "there was room")
			require.NoError(t, os.RemoveAll(dir))
		}
		release()
	}
	require.NoError(t, dircache.Create(filepath.Join(top, "cache"), kilo(0), samplecache.Config{Samples: 16}))
}

// onFullDisk returns a cache of generations of four samples on a disk on which no other store has
// room, with generation 1 to 3 published, 2 of which is held.
func onFullDisk(t *testing.T, told func(err error)) (dir string, c *samplecache.Cache, p *samplecache.Producer) {
	t.Helper()
	dir = filepath.Join(smallDisk(t, 8<<20), "cache")
	require.NoError(t, dircache.Create(dir, kilo(0), samplecache.Config{Samples: 4}))
	c, err := samplecache.Open(soon(t), dircache.Engine{Dir: dir}, samplecache.Options{OnError: told})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	p = putter(t, c, "p")
	for n := range 8 {
		require.NoError(t, p.Put(soon(t), kilo(n)))
	}
	return dir, c, p
}

// requireRows checks that a generation has the samples from first on.
func requireRows(t *testing.T, g *samplecache.Generation, first int) {
	t.Helper()
	for row := range g.Len() {
		td, err := g.Fetch(soon(t), []int{row}, nil)
		require.NoError(t, err)
		require.True(t, tensor.Must(kilo(first+row).Tensor("x")).Equal(tensor.Must(tensor.Must(td.Tensor("x")).Reshape(16<<10))))
	}
}

// TestW17FullDiskStore needs a fresh directory, as one is held, while the disk is full.
func TestW17FullDiskStore(t *testing.T) {
	dir, c, p := onFullDisk(t, func(err error) {
		if !errors.Is(err, unix.ENOSPC) {
			t.Errorf("told %v", err)
		}
	})
	g, err := c.At(soon(t), 1)
	require.NoError(t, err)
	release := fillUp(t, filepath.Dir(dir), 16<<10)
	for n := 8; n < 12; n++ {
		require.NoError(t, p.Put(soon(t), kilo(n)), "there is room, and Commit acknowledges")
	}
	st, err := c.Stats()
	require.NoError(t, err)
	require.EqualValues(t, 3, st.Latest, "it is published though there is no room for the next")
	before := tree(t, dir)
	for range 3 {
		_, err = p.Reserve(soon(t))
		require.ErrorIs(t, err, unix.ENOSPC)
		failed, ok := errors.AsType[*dircache.Error](err)
		require.True(t, ok)
		require.Equal(t, dir, failed.Dir)
	}
	require.Equal(t, before, tree(t, dir), "the state is unchanged")
	require.EqualValues(t, 12, p.Next())
	requireRows(t, g, 0)
	latest, failed := c.Latest(soon(t))
	require.NoError(t, failed)
	requireRows(t, latest, 8)
	require.NoError(t, latest.Close())

	release()
	for deadline := time.Now().Add(patience); err != nil; { // which is looked for now and then
		require.ErrorIs(t, err, unix.ENOSPC)
		require.True(t, time.Now().Before(deadline), "it does not go on though there is room")
		err = p.Put(soon(t), kilo(12))
	}
	requireRows(t, g, 0)
	require.NoError(t, g.Close())
}

// TestW17FullDiskStoreLetGo goes on without more room once nobody holds the generation any more.
func TestW17FullDiskStoreLetGo(t *testing.T) {
	dir, c, p := onFullDisk(t, func(error) {})
	g, err := c.At(soon(t), 1)
	require.NoError(t, err)
	fillUp(t, filepath.Dir(dir), 16<<10)
	for n := 8; n < 12; n++ {
		require.NoError(t, p.Put(soon(t), kilo(n)))
	}
	_, err = p.Reserve(soon(t))
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, g.Close())
	for n := 12; n < 30; n++ {
		require.NoError(t, p.Put(soon(t), kilo(n)))
	}
}

// TestW17FullDiskManifest cannot write the MANIFEST of a full generation: nothing is lost, and it
// is published when there is room, while nobody calls but who waits.
func TestW17FullDiskManifest(t *testing.T) {
	t.Parallel()
	told := make(chan error, 100)
	dir, c, p := onFullDisk(t, func(err error) { told <- err })
	time.Sleep(200 * time.Millisecond) // the watch has removed the leftovers by then
	release := fillUp(t, filepath.Dir(dir), 0)
	for n := 8; n < 12; n++ {
		require.NoError(t, p.Put(soon(t), kilo(n)))
	}
	st, err := c.Stats()
	require.NoError(t, err)
	require.EqualValues(t, 2, st.Latest)
	require.Equal(t, 4, st.Committed)
	select {
	case err := <-told:
		require.ErrorIs(t, err, unix.ENOSPC)
		failed, ok := errors.AsType[*dircache.Error](err)
		require.True(t, ok)
		require.Equal(t, "MANIFEST", failed.Path)
	case <-time.After(patience):
		t.Fatal("nobody is told")
	}
	requireReads(t, dir)
	done := make(chan error, 1)
	go func() {
		g, err := c.Wait(soon(t), 2)
		if err == nil {
			err = g.Close()
		}
		done <- err
	}()
	release()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(patience):
		t.Fatal("it is not published though there is room: nobody tries again")
	}
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	requireRows(t, g, 8)
	require.NoError(t, g.Close())
	require.NoError(t, p.Put(soon(t), kilo(12)))
}

// requireReads joins a cache whose disk is full, reads generation 2, also in an epoch, and sees
// Stats.
func requireReads(t *testing.T, dir string) {
	t.Helper()
	c, err := samplecache.Open(soon(t), dircache.Engine{Dir: dir}, samplecache.Options{})
	require.NoError(t, err)
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	requireRows(t, g, 4)
	require.NoError(t, g.Close())
	g, err = c.Group("train", 1).Epoch(soon(t), 0)
	require.NoError(t, err)
	requireRows(t, g, 4)
	require.NoError(t, g.Close())
	st, err := c.Stats()
	require.NoError(t, err)
	require.Len(t, st.Groups, 1)
	require.NoError(t, c.Close())
}

// TestW17FullDiskOpen opens a cache on a disk on which there is no byte left, also when the machine
// was started anew.
func TestW17FullDiskOpen(t *testing.T) {
	dir, c, _ := onFullDisk(t, func(error) {})
	require.NoError(t, c.Close())
	fillUp(t, filepath.Dir(dir), 0)
	requireReads(t, dir)
	require.NoError(t, dircache.Reboot(dir))
	requireReads(t, dir)
}

// TestW17FullDiskManifestAfterAll is the same after everybody was gone.
func TestW17FullDiskManifestAfterAll(t *testing.T) {
	dir, c, p := onFullDisk(t, func(error) {})
	release := fillUp(t, filepath.Dir(dir), 0)
	for n := 8; n < 12; n++ {
		require.NoError(t, p.Put(soon(t), kilo(n)))
	}
	_ = c.Close()
	release()
	c = joinSound(t, dir)
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	require.EqualValues(t, 3, g.ID())
	requireRows(t, g, 8)
	require.NoError(t, g.Close())
	require.EqualValues(t, 12, putter(t, c, "p").Next())
}

// TestW17FullDiskRebuild cannot make the control file again for want of room: the files stay.
func TestW17FullDiskRebuild(t *testing.T) {
	dir, c, _ := onFullDisk(t, func(error) {})
	require.NoError(t, c.Close())
	require.NoError(t, os.Truncate(filepath.Join(dir, "control"), 0))
	release := fillUp(t, filepath.Dir(dir), 4<<10)
	_, err := samplecache.Open(soon(t), dircache.Engine{Dir: dir}, samplecache.Options{})
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, namesFile(err))
	release()
	c = joinSound(t, dir)
	require.EqualValues(t, 8, putter(t, c, "p").Next())
}

// namesFile returns an error unless err names a file of the cache.
func namesFile(err error) error {
	if _, ok := errors.AsType[*dircache.Error](err); !ok {
		return fmt.Errorf("the error does not say where: %w", err)
	}
	return nil
}

// TestW17BoundedSpace bounds the bytes on the disk, while generations are held and let go, and
// while others die: 2+Retain+MaxHeld stores, and what does not depend on samples.
func TestW17BoundedSpace(t *testing.T) {
	const fixed = 4 << 20
	top := smallDisk(t, 64<<20)
	used := func() int64 {
		var disk unix.Statfs_t
		require.NoError(t, unix.Statfs(top, &disk))
		return int64(disk.Blocks-disk.Bfree) * disk.Bsize
	}
	for _, cfg := range []samplecache.Config{
		{Samples: 16}, {Samples: 16, Retain: -1, MaxHeld: -1}, {Samples: 16, Retain: 3, MaxHeld: 1}, {Samples: 16, Retain: -1, MaxHeld: 4},
	} {
		t.Run(fmt.Sprintf("retain %d, held %d", cfg.Retain, cfg.MaxHeld), func(t *testing.T) {
			dir := filepath.Join(top, "cache")
			require.NoError(t, dircache.Create(dir, kilo(0), cfg))
			c := joinSound(t, dir)
			p := putter(t, c, "p")
			filled, err := cfg.Filled()
			require.NoError(t, err)
			filled.Retain, filled.MaxHeld = max(filled.Retain, 0), max(filled.MaxHeld, 0)
			limit := int64(2+filled.Retain+filled.MaxHeld)*16*(17<<10) + fixed
			require.Greater(t, used(), int64(2+filled.Retain)*16*(16<<10), "room is set aside")
			var held []*samplecache.Generation
			for n := range 16 * 20 {
				require.NoError(t, p.Put(soon(t), kilo(n)))
				require.LessOrEqual(t, used(), limit)
				if n%16 == 15 {
					g, err := c.Latest(soon(t))
					require.NoError(t, err)
					requireRows(t, g, n-15)
					held = append(held, g)
				}
				if len(held) > filled.MaxHeld+filled.Retain {
					require.NoError(t, held[0].Close())
					held = held[1:]
				}
			}
			require.NoError(t, c.Close())
			require.NoError(t, os.RemoveAll(dir))
			require.Less(t, used(), int64(fixed), "nothing is kept by files that are open still")
		})
	}
}
