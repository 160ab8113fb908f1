//go:build unix

package dircache

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// joinHere joins a cache without package samplecache.
func joinHere(t *testing.T, dir string) engine.Session {
	t.Helper()
	s, err := Engine{Dir: dir}.Join(t.Context(), engine.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// kept makes a cache of generations of one sample. Number 1 is published, and a group needs it that
// has not opened it.
func kept(t *testing.T, config samplecache.Config) (dir string, s engine.Session, publish func()) {
	t.Helper()
	dir = newDir(t)
	config.Samples = 1
	require.NoError(t, Create(dir, one(0), config))
	p, err := openHere(t, Engine{Dir: dir}).Producer("")
	require.NoError(t, err)
	publish = func() { require.NoError(t, p.Put(soon(t), one(1))) }
	publish()
	s = joinHere(t, dir)
	seat, err := s.Enter(t.Context(), "train", 2)
	require.NoError(t, err)
	pass, err := seat.Begin(t.Context(), 0, engine.Want{})
	require.NoError(t, err)
	require.EqualValues(t, 1, pass.ID())
	return dir, s, publish
}

// atPoints has do called at each crash point, or one of them, but for those that it passes itself.
func atPoints(t *testing.T, point string, do func(point string)) (calls *atomic.Int64) {
	t.Helper()
	var within atomic.Bool
	calls = new(atomic.Int64)
	CrashPoints(func(m string) {
		if (point == "" || m == point) && within.CompareAndSwap(false, true) {
			calls.Add(1)
			do(m)
			within.Store(false)
		}
	})
	t.Cleanup(quiet)
	return calls
}

func quiet() { CrashPoints(nil) }

// TestKeptWhileOthersPublish opens a generation that a group needs at every step of publications,
// which rename it, and publishes at every step of opening it: it is never gone.
func TestKeptWhileOthersPublish(t *testing.T) {
	_, s, publish := kept(t, samplecache.Config{Retain: -1})
	open := func(m string) {
		rows, err := s.Open(t.Context(), 1)
		require.NoError(t, err, m)
		_, err = rows.Info(0)
		require.NoError(t, err, m)
		require.NoError(t, rows.Close())
	}
	calls := atPoints(t, "", open)
	publish()
	publish()
	require.Greater(t, calls.Load(), int64(20))
	for _, m := range []string{"generation found", "generation locked"} {
		quiet()
		_, s, publish = kept(t, samplecache.Config{Retain: -1})
		calls := atPoints(t, m, func(string) { publish() })
		open(m)
		require.NotZero(t, calls.Load())
	}
}

// TestSlotsOfTheDead kills a session that has the last slot of a large generation: the slot is free
// at once.
func TestSlotsOfTheDead(t *testing.T) {
	const samples = 1000
	dir := newDir(t)
	require.NoError(t, Create(dir, one(0), samplecache.Config{Samples: samples}))
	p, err := openHere(t, Engine{Dir: dir}).Producer("")
	require.NoError(t, err)
	dead := joinHere(t, dir)
	claim, err := dead.Claim(t.Context(), "")
	require.NoError(t, err)
	_, err = claim.Reserve(t.Context(), 0)
	require.NoError(t, err)
	for range samples - 1 {
		require.NoError(t, p.Put(soon(t), one(1)))
	}
	require.NoError(t, Vanish(dead))
	require.NoError(t, p.Put(soon(t), one(1)))
	latest, err := joinHere(t, dir).Latest(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, latest)
}

// onlyLatest makes a cache that keeps no generation but the latest, and publishes the first.
func onlyLatest(t *testing.T) (dir string, p *samplecache.Producer) {
	t.Helper()
	dir = newDir(t)
	require.NoError(t, Create(dir, one(0), samplecache.Config{Samples: 1, Retain: -1, MaxHeld: -1}))
	p, err := openHere(t, Engine{Dir: dir}).Producer("")
	require.NoError(t, err)
	require.NoError(t, p.Put(soon(t), one(1)))
	return dir, p
}

// TestReaderDiesDuringASearch kills the reader of a generation that a session, which looks for a
// store, has found held. Another session notices, and cannot get the lock: the next attempt is due
// at once.
func TestReaderDiesDuringASearch(t *testing.T) {
	dir, p := onlyLatest(t)
	reader, other := joinHere(t, dir), joinHere(t, dir).(*session)
	_, err := reader.Open(t.Context(), 1)
	require.NoError(t, err)
	t.Cleanup(quiet)
	again := false
	DoAt("provided", 1, func() {
		quiet()
		require.NoError(t, Vanish(reader))
		other.words[sweptWord].Store(0)
		again, err = other.maintain()
		require.NoError(t, err)
	})
	require.NoError(t, p.Put(soon(t), one(2)))
	require.True(t, again)
	require.True(t, other.due())
	ctx, cancel := context.WithTimeout(t.Context(), searchPause*9/10) // on a busy machine, too
	defer cancel()
	require.NoError(t, p.Put(ctx, one(3)))
}

// TestOpenAndBeginAgree asks for generations that cannot be had: both say the same, and an epoch
// that may have another gets the latest.
func TestOpenAndBeginAgree(t *testing.T) {
	dir, s, publish := kept(t, samplecache.Config{Retain: -1, MaxHold: 50 * time.Millisecond})
	rows, err := s.Open(t.Context(), 1)
	require.NoError(t, err)
	publish()
	publish() // 1 is retired, and needed
	<-rows.Lapsed()
	time.Sleep(50 * time.Millisecond) // 2 was retired later
	seat, err := joinHere(t, dir).Enter(t.Context(), "other", 1)
	require.NoError(t, err)
	for name, id := range map[string]uint64{"not published yet": 4, "gone": 2, "held past MaxHold": 1, "none": 1 << 63} {
		t.Run(name, func(t *testing.T) {
			_, opening := s.Open(t.Context(), id)
			require.ErrorIs(t, opening, engine.ErrGenerationGone)
			_, err := seat.Begin(t.Context(), id, engine.Want{Generation: id})
			require.ErrorIs(t, err, engine.ErrGenerationGone)
			require.Equal(t, opening.Error(), err.Error())
			pass, err := seat.Begin(t.Context(), id, engine.Want{Generation: id, OrLatest: true})
			require.NoError(t, err)
			require.EqualValues(t, 3, pass.ID())
			again, err := seat.Begin(t.Context(), id, engine.Want{})
			require.NoError(t, err)
			require.EqualValues(t, 3, again.ID())
		})
	}
	require.NoError(t, rows.Close())
}

// TestLetGoDuringASearch closes a generation while another session, which has found it held, still
// looks for a store: producers go on at once, not only when a search that fails is due again.
func TestLetGoDuringASearch(t *testing.T) {
	dir, p := onlyLatest(t)
	rows, err := joinHere(t, dir).Open(t.Context(), 1)
	require.NoError(t, err)
	t.Cleanup(quiet)
	DoAt("provided", 1, func() { require.NoError(t, rows.Close()) })
	require.NoError(t, p.Put(soon(t), one(2)))
	require.ErrorIs(t, rows.Close(), engine.ErrClosed)
	ctx, cancel := context.WithTimeout(t.Context(), searchPause*9/10) // on a busy machine, too
	defer cancel()
	require.NoError(t, p.Put(ctx, one(3)))
}

// TestEarlyEndsAreTold ends passes and memberships under a ratio: the rows that nobody takes count
// as taken, and members that have left count for nothing, so producers go on. They are told at
// once.
func TestEarlyEndsAreTold(t *testing.T) {
	dir := foundCache(t, samplecache.Config{Samples: 1, MaxHold: time.Minute,
		Limits: samplecache.Limits{PerInsert: 2, MinSize: 1, MinDiff: -3, MaxDiff: 1}})
	reader, producer := joinHere(t, dir), joinHere(t, dir)
	seat, err := reader.Enter(t.Context(), "g", 1)
	require.NoError(t, err)
	pass, err := seat.Begin(t.Context(), 0, engine.Want{})
	require.NoError(t, err)
	claim, err := producer.Claim(t.Context(), "")
	require.NoError(t, err)
	for _, end := range []func() error{pass.Close, seat.Close} {
		before := producer.(*session).sequence()
		require.NoError(t, end())
		require.NotEqual(t, before, producer.(*session).sequence())
	}
	row, err := claim.Reserve(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, row.Abort())
}

// TestManyPasses begins more passes over a generation than 16 bits count, and no more than
// MaxPasses.
func TestManyPasses(t *testing.T) {
	c := foundCache(t, samplecache.Config{Samples: 1, Limits: samplecache.Limits{MaxPasses: 70_000}})
	s := joinHere(t, c)
	seat, err := s.Enter(t.Context(), "g", 1)
	require.NoError(t, err)
	begin := func(epoch uint64) error {
		p, err := seat.Begin(t.Context(), epoch, engine.Want{})
		if err == nil {
			err = p.Close()
		}
		return err
	}
	require.NoError(t, begin(0))
	in := s.(*session)
	require.NoError(t, in.locked(func() error {
		return in.change(func(g *engine.Groups, _ *engine.Progress) (bool, error) {
			g.List[0].Epochs[0].Pass = 69_998
			return true, nil
		})
	}))
	require.NoError(t, begin(1))
	require.NoError(t, begin(2))
	require.ErrorIs(t, begin(3), engine.ErrBlocked)
}

// foundCache makes a cache whose first generation is published.
func foundCache(t *testing.T, config samplecache.Config) (dir string) {
	t.Helper()
	dir = newDir(t)
	require.NoError(t, Create(dir, one(0), config))
	p, err := openHere(t, Engine{Dir: dir}).Producer("")
	require.NoError(t, err)
	for range config.Samples {
		require.NoError(t, p.Put(soon(t), one(1)))
	}
	return dir
}

// FuzzCounts has any text in place of the counts of groups, with a right sum: it is ErrCorrupt, or
// counts that can be gone on with, and written again.
func FuzzCounts(f *testing.F) {
	g := &engine.Groups{Holders: 3, List: []engine.Group{{Name: "g", World: 2, Taken: 4, Members: []uint64{1},
		Epochs: []engine.Epoch{{Number: 7, Generation: 2, Pass: 1, Open: []uint64{2, 3}}}}}}
	text, err := json.Marshal(g)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, false)
	f.Add(text[:20], true)
	f.Add([]byte("{}"), true)
	f.Add([]byte(`{"list":[{},{"epochs":[{"pass":18446744073709551615},{}]}]}`), true)
	file, err := os.Create(filepath.Join(f.TempDir(), "control"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = file.Close() })
	s := &session{file: file, fixed: &manifest{Config: engine.Config{Samples: 4, Limits: engine.Limits{MinPasses: 1, PerInsert: 1}}}}
	p := &engine.Progress{Config: s.fixed.Config, Latest: 2, Committed: func() int { return 1 }}
	f.Fuzz(func(t *testing.T, text []byte, alive bool) {
		if len(text) > 4096 {
			return // more is only more memory
		}
		b := append(make([]byte, countsHeader), text...)
		binary.LittleEndian.PutUint32(b[4:], uint32(len(text)))
		binary.LittleEndian.PutUint64(b[8:], 1)
		binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
		if _, err := file.WriteAt(b, countsAt); err != nil {
			t.Fatal(err)
		}
		g, err := s.groups()
		if err != nil {
			if !errors.Is(err, engine.ErrCorrupt) {
				t.Fatalf("unclassified error %v", err)
			}
			return
		}
		g.Tidy(p, func(uint64) bool { return alive })
		if _, err := g.Enter(p, "g", 2, 3); err == nil {
			_, _, _ = g.Begin(p, "g", 8, 0) // it may have to wait
			g.Group("g").Take(p, 8, 3)
		}
		_, _, _, _ = g.Stats(p), g.Waits(p), g.Room(p), g.Needs(2)
		if _, err := json.Marshal(g); err != nil {
			t.Fatal(err)
		}
	})
}

// TestMappingsAreKept reads generations of stores that are filled again and again: a session maps
// each store once. One that is damaged is an error.
func TestMappingsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	schema := tensor.Must(tdict.FromMap(nil, tdict.Entries{"n": tensor.Must(tensor.NewMeta(tensor.Int64, 1000))}))
	require.NoError(t, Create(dir, schema, engine.Config{Samples: 1}))
	s, r := joinHere(t, dir).(*session), joinHere(t, dir)
	put := func(s *session) uint64 {
		c, err := s.Claim(t.Context(), "")
		require.NoError(t, err)
		row, err := c.Reserve(t.Context(), 0)
		require.NoError(t, err)
		require.NoError(t, row.Commit(t.Context(), []uint32{0}))
		require.NoError(t, c.Close())
		latest, err := s.Latest(t.Context())
		require.NoError(t, err)
		return latest
	}
	seen := map[*writer]bool{}
	read := func(id uint64) (*writer, error) {
		of, err := r.Open(t.Context(), id)
		if err != nil {
			return nil, err
		}
		lender, _ := of.Place(0)
		b, err := lender.Borrow()
		require.NoError(t, err)
		require.Len(t, b, 8000)
		lender.Return()
		w := of.(*rows).store
		require.NoError(t, of.Close())
		_, err = lender.Borrow()
		require.ErrorIs(t, err, engine.ErrClosed)
		_, err = lender.Pin()
		require.ErrorIs(t, err, engine.ErrClosed)
		return w, nil
	}
	for range 12 {
		w, err := read(put(s))
		require.NoError(t, err)
		seen[w] = true
	}
	require.LessOrEqual(t, len(seen), 3)

	id := put(s)
	at := filepath.Join(dir, storeName(id), "n.memmap")
	b, err := os.ReadFile(at)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(at, 100))
	_, err = read(id)
	require.ErrorIs(t, err, engine.ErrCorrupt)
	require.NoError(t, os.WriteFile(at, b, 0o644))
	_, err = read(id)
	require.NoError(t, err)
}

// TestNumbersOfDirectoriesAreUsedAgain fills a store that has the number of one that was removed,
// as disks give numbers of removed files to new ones. A session has mapped the removed one: what it
// commits is in the new one nevertheless.
func TestNumbersOfDirectoriesAreUsedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	schema := tensor.Must(tdict.FromMap(nil, tdict.Entries{"n": tensor.Must(tensor.NewMeta(tensor.Int64, 1))}))
	require.NoError(t, Create(dir, schema, engine.Config{Samples: 1, Retain: -1}))
	s := joinHere(t, dir)
	put := func() {
		c, err := s.Claim(t.Context(), "")
		require.NoError(t, err)
		row, err := c.Reserve(t.Context(), 0)
		require.NoError(t, err)
		require.NoError(t, row.Commit(t.Context(), []uint32{0}))
	}
	put()
	at := filepath.Join(dir, storeName(1))
	for _, name := range []string{recordsName, "n.memmap", "meta.json"} {
		b, err := os.ReadFile(filepath.Join(at, name))
		require.NoError(t, err)
		require.NoError(t, os.Remove(filepath.Join(at, name)))
		require.NoError(t, os.WriteFile(filepath.Join(at, name), b, 0o666))
	}
	put()
	put() // fills what was the store of 1
	latest, err := joinHere(t, dir).Latest(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, latest)
	r, err := joinHere(t, dir).Open(t.Context(), 3)
	require.NoError(t, err, "the records are those of the store")
	_, err = r.Info(0)
	require.NoError(t, err)
}

// TestLateReserveGetsNothing goes on with a Reserve of a generation that was published meanwhile,
// whose store a later one fills: its slots look free, and the session does not get one.
func TestLateReserveGetsNothing(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, Create(dir, one(0), engine.Config{Samples: 2, Retain: -1}))
	s := joinHere(t, dir).(*session)
	s.mu.Lock()
	st, err := s.writer(1)
	s.mu.Unlock()
	require.NoError(t, err)
	p, err := openHere(t, Engine{Dir: dir}).Producer("")
	require.NoError(t, err)
	for n := range 4 {
		require.NoError(t, p.Put(soon(t), one(int64(n))))
	}
	other, err := p.Reserve(soon(t))
	require.NoError(t, err)
	s.mu.Lock()
	require.Same(t, s.stores[tensor.Must(s.storeID(storeName(3)))], st)
	_, ok, err := s.reserve(st, 1, 2)
	s.mu.Unlock()
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, other.Commit(soon(t)))
	require.NoError(t, p.Put(soon(t), one(5)))
	latest, err := s.Latest(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, latest)
}
