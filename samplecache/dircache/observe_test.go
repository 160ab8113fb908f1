//go:build unix

package dircache_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// bytesOf returns what each file of a directory contains, with its mode and the time of its last
// change. It leaves out the word that members change when they look for dead ones.
func bytesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		var data []byte
		if !d.IsDir() {
			data, err = os.ReadFile(path)
			require.NoError(t, err)
		}
		if d.Name() == "control" {
			clear(data[dircache.Words()["swept"]:][:8])
		}
		files[path] = fmt.Sprintf("%v %v %x", info.Mode(), info.ModTime(), sha256.Sum256(data))
		return nil
	}))
	return files
}

// joinMany joins a cache so many times.
func joinMany(t testing.TB, dir string, members int) (sessions []engine.Session) {
	t.Helper()
	for range members {
		s, err := dircache.Engine{Dir: dir}.Join(context.Background(), engine.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		sessions = append(sessions, s)
	}
	return sessions
}

// timeless returns stats without what depends on the time of the call.
func timeless(s engine.Stats) engine.Stats {
	for i := range s.Slots {
		s.Slots[i].For = 0
	}
	for i := range s.Members {
		s.Members[i].For = 0
	}
	return s
}

// TestObserve looks at a cache with members, producers, a group, reserved slots and a generation
// that is held: it sees what a member sees, and changes nothing.
func TestObserve(t *testing.T) {
	s := newSite(t, samplecache.Config{Samples: 3, Retain: -1, MaxHeld: 1})
	s.open()
	p, err := s.c.Producer("gen")
	require.NoError(t, err)
	for g := range uint64(3) {
		for n := range uint64(3) {
			require.NoError(t, p.PutAt(s.ctx, 3*g+n, stamp{1, int64(3*g + n)}.marked()))
		}
		held, err := s.c.Latest(s.ctx)
		require.NoError(t, err)
		if g == 0 {
			defer held.Close()
		} else {
			require.NoError(t, held.Close())
		}
	}
	require.NoError(t, p.PutAt(s.ctx, 9, stamp{1, 9}.marked()))
	slot, err := p.Reserve(s.ctx)
	require.NoError(t, err)
	defer slot.Abort()
	g, err := s.c.Group("train", 1).Epoch(s.ctx, 0)
	require.NoError(t, err)
	defer g.Close()

	member := joinMany(t, s.dir, 1)[0]
	want, err := member.Stats(s.ctx)
	require.NoError(t, err)
	before, changed := bytesOf(t, s.dir), member.Changed()
	about, got, err := dircache.Engine{Dir: s.dir}.Observe(s.ctx)
	require.NoError(t, err)
	require.Equal(t, timeless(want), timeless(got))
	require.Equal(t, member.About().ID, about.ID)
	require.Equal(t, member.About().Config, about.Config)
	require.Equal(t, before, bytesOf(t, s.dir))
	select {
	case <-changed:
		t.Error("a member was woken")
	default:
	}
	require.Equal(t, []uint64{1}, got.Held)
	require.Len(t, got.Members, 2)
	require.Equal(t, 1, got.Reserved)
	require.Equal(t, []engine.GroupStats{{Name: "train", World: 1, Members: 1}}, got.Groups)
	require.Equal(t, os.Getpid(), got.Producers[0].PID)
	for _, h := range got.Holders { // the system may not know them
		require.Equal(t, engine.HolderStats{Generation: 1, PID: os.Getpid()}, h)
	}
}

// TestObserveACrowd looks at a cache that has all the members that it may have.
func TestObserveACrowd(t *testing.T) {
	dir := newCache(t, small)
	sessions := joinMany(t, dir, 1024)
	require.ErrorIs(t, opened(dir), samplecache.ErrConfig, "one more cannot join")
	before := bytesOf(t, dir)
	_, st, err := dircache.Engine{Dir: dir}.Observe(t.Context())
	require.NoError(t, err)
	require.Len(t, st.Members, 1024)
	require.Equal(t, before, bytesOf(t, dir))
	require.NoError(t, dircache.Vanish(sessions[0]))
	_, st, err = dircache.Engine{Dir: dir}.Observe(t.Context())
	require.NoError(t, err)
	require.Len(t, st.Members, 1023, "the first one was killed")
}

// TestObserveWhilePublishing looks at a cache again and again while others publish.
func TestObserveWhilePublishing(t *testing.T) {
	dir := newCache(t, samplecache.Config{Samples: 3})
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 2 {
		p := putter(t, joinSound(t, dir), fmt.Sprint("gen", i))
		all.Go(func() {
			for n := uint64(0); ctx.Err() == nil; n++ {
				if err := p.PutAt(context.Background(), n, stamp{int64(i), int64(n)}.marked()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	last := uint64(0)
	for n := 0; n < 200 || last < 50; n++ {
		_, st, err := dircache.Engine{Dir: dir}.Observe(t.Context())
		require.NoError(t, err)
		require.GreaterOrEqual(t, st.Latest, last)
		require.Equal(t, st.Latest+1, st.Filling)
		require.LessOrEqual(t, st.Committed+st.Reserved, st.Samples)
		require.Equal(t, st.Latest == 0, st.LastSwap.IsZero())
		require.Len(t, st.Members, 2)
		put := uint64(0)
		for _, p := range st.Producers {
			put += p.Window.Floor
		}
		require.GreaterOrEqual(t, put, 3*st.Latest, "numbers of published samples are counted")
		last = st.Latest
	}
	stop()
	all.Wait()
}

// TestObserveRefuses looks at what is not a sound cache. Join repairs some of it, and then Observe
// works.
func TestObserveRefuses(t *testing.T) {
	control := func(dir string) string { return filepath.Join(dir, "control") }
	for _, tt := range []struct {
		rule     string
		how      func(dir string) error
		want     error
		says     string
		repaired bool
	}{
		{"nothing", os.RemoveAll, fs.ErrNotExist, "no such file", false},
		{"not a cache", func(dir string) error { return os.Remove(filepath.Join(dir, "MANIFEST")) }, fs.ErrNotExist, "it is not a cache", false},
		{"another start of the machine", dircache.Reboot, dircache.ErrRestarted, "control: the machine was restarted: the next program that opens the cache rebuilds the file", true},
		{"another machine", func(dir string) error { return dircache.Rehost(dir, "x", "y") }, samplecache.ErrOtherHost, "open it with Adopt", false},
		{"a short control file", func(dir string) error { return os.Truncate(control(dir), 5000) }, samplecache.ErrCorrupt, "the next program that opens the cache rebuilds it", true},
		{"an empty control file", func(dir string) error { return os.Truncate(control(dir), 0) }, samplecache.ErrCorrupt, "its header is damaged: the next program", true},
		{"no control file", func(dir string) error { return os.Remove(control(dir)) }, samplecache.ErrCorrupt, "the file is missing", false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			dir := newCache(t, small)
			require.NoError(t, tt.how(dir))
			e := dircache.Engine{Dir: dir}
			_, _, err := e.Observe(t.Context())
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.says)
			if tt.repaired {
				require.NoError(t, opened(dir))
				_, _, err = e.Observe(t.Context())
				require.NoError(t, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := dircache.Engine{Dir: newCache(t, small)}.Observe(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// BenchmarkObserve looks at a cache with as many members as there may be, which are producers with
// names, too.
func BenchmarkObserve(b *testing.B) {
	dir := newCache(b, samplecache.Config{Samples: 1024})
	for i, s := range joinMany(b, dir, 1024) {
		claim, err := s.Claim(b.Context(), fmt.Sprintf("gen-%d", i))
		require.NoError(b, err)
		row, err := claim.Reserve(b.Context(), 0)
		require.NoError(b, err)
		require.NoError(b, row.Commit(b.Context(), make([]uint32, 3)))
	}
	b.ResetTimer()
	for range b.N {
		_, st, err := dircache.Engine{Dir: dir}.Observe(b.Context())
		require.NoError(b, err)
		require.Len(b, st.Members, 1024)
		require.Len(b, st.Producers, 1024)
	}
}
