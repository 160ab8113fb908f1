//go:build unix

package dircache

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A user has one of all that a session gives out.
type user struct {
	dir   string
	ctx   context.Context
	s     engine.Session
	claim engine.Claim
	row   engine.Row
	rows  engine.Rows
	seat  engine.Seat
	pass  engine.Pass
}

// newUser returns a user of a cache that half could have made, but for limits.
func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{dir: newDir(t), ctx: soon(t)}
	require.NoError(t, Create(u.dir, one(0), samplecache.Config{Samples: 4, MaxHold: time.Hour,
		Limits: samplecache.Limits{PerInsert: 1, MinSize: 1, MinDiff: -50, MaxDiff: 50}}))
	c := openHere(t, Engine{Dir: u.dir})
	p, err := c.Producer("p")
	require.NoError(t, err)
	for n := range int64(6) {
		require.NoError(t, p.Put(u.ctx, one(n)))
	}
	require.NoError(t, c.Close())
	u.s, err = Engine{Dir: u.dir}.Join(u.ctx, engine.Options{})
	require.NoError(t, err)
	u.claim, err = u.s.Claim(u.ctx, "q")
	require.NoError(t, err)
	u.row, err = u.claim.Reserve(u.ctx, 0)
	require.NoError(t, err)
	u.rows, err = u.s.Open(u.ctx, 1)
	require.NoError(t, err)
	u.seat, err = u.s.Enter(u.ctx, "g", 2)
	require.NoError(t, err)
	u.pass, err = u.seat.Begin(u.ctx, 0, engine.Want{})
	require.NoError(t, err)
	return u
}

// uses are all that can be done with a session.
var uses = map[string]func(u *user) error{
	"Latest":      func(u *user) error { _, err := u.s.Latest(u.ctx); return err },
	"Stats":       func(u *user) error { _, err := u.s.Stats(u.ctx); return err },
	"Claim":       func(u *user) error { _, err := u.s.Claim(u.ctx, "r"); return err },
	"Forget":      func(u *user) error { return u.s.Forget(u.ctx, "p") },
	"Enter":       func(u *user) error { _, err := u.s.Enter(u.ctx, "g", 2); return err },
	"Open":        func(u *user) error { _, err := u.s.Open(u.ctx, 1); return err },
	"Keep":        func(u *user) error { return u.s.(engine.Keeper).Keep(u.ctx, 1, u.dir+"-kept") },
	"Join":        func(u *user) error { return joinAndLeave(u.dir) },
	"Reserve":     func(u *user) error { _, err := u.claim.Reserve(u.ctx, 1); return err },
	"Claim.Close": func(u *user) error { return u.claim.Close() },
	"Commit":      func(u *user) error { return u.row.Commit(u.ctx, []uint32{0}) },
	"Abort":       func(u *user) error { return u.row.Abort() },
	"Info":        func(u *user) error { _, err := u.rows.Info(3); return err },
	"Rows.Close":  func(u *user) error { return u.rows.Close() },
	"Begin":       func(u *user) error { _, err := u.seat.Begin(u.ctx, 1, engine.Want{Generation: 1}); return err },
	"Seat.Close":  func(u *user) error { return u.seat.Close() },
	"Take":        func(u *user) error { _, err := u.pass.Take(u.ctx, 2); return err },
	"Pass.Close":  func(u *user) error { return u.pass.Close() },
	"Publish": func(u *user) error {
		other, err := u.claim.Reserve(u.ctx, 1)
		if err == nil {
			err = errors.Join(other.Commit(u.ctx, []uint32{0}), u.row.Commit(u.ctx, []uint32{0}))
		}
		return err
	},
	"Changed": func(u *user) error { <-u.s.Changed(); return nil },
	"Close":   func(u *user) error { return u.s.Close() },
}

func joinAndLeave(dir string) error {
	s, err := Engine{Dir: dir}.Join(context.Background(), engine.Options{})
	if err == nil {
		err = s.Close()
	}
	return err
}

// TestFilesThatAreCut cuts the control file, and records, before all that can be done with a
// session and at the first crash points within: an error, or nothing, but no fault, and no stop.
func TestFilesThatAreCut(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector does atomic operations in C, where a fault ends the process")
	}
	cuts := map[string]int64{
		"control": 0, "control/words": headerBytes + 4096, "control/counts": countsAt + 4,
		"gen-0000000001/.samples": 0, "gen-0000000002/.samples": 0,
	}
	crashPoints := []int{0, 2}
	if full := flag.Lookup("flips"); full != nil && full.Value.String() == "full" {
		crashPoints = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	}
	for name, use := range uses {
		for file, size := range cuts {
			for _, nth := range crashPoints {
				if nth > 0 && file != "control" && len(crashPoints) == 2 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/point %d", name, file, nth), func(t *testing.T) {
					if nth == 0 {
						t.Parallel()
					} else {
						t.Cleanup(quiet)
					}
					u := newUser(t)
					path := filepath.Join(u.dir, file)
					if size > 0 {
						path = filepath.Dir(path)
					}
					cut := func() { require.NoError(t, os.Truncate(path, size)) }
					if nth == 0 {
						cut()
					} else {
						DoAt("", nth, cut)
					}
					done := make(chan error, 1)
					go func() { done <- use(u) }()
					select {
					case err := <-done:
						requireNamed(t, err)
					case <-time.After(time.Minute):
						require.Fail(t, "it hangs")
					}
					_ = u.s.Close()
				})
			}
		}
	}
}

// requireNamed checks that an error says what is wrong.
func requireNamed(t *testing.T, err error) {
	t.Helper()
	if err == nil || errors.Is(err, engine.ErrBlocked) {
		return
	}
	for _, one := range []error{engine.ErrCorrupt, engine.ErrChecksum, engine.ErrGenerationGone, samplecache.ErrProducer, os.ErrNotExist, engine.ErrClosed, mapping.ErrFault} {
		if errors.Is(err, one) {
			return
		}
	}
	require.NoError(t, err)
}

// TestControlCutByACommit cuts the control file once the record is written: Commit fails, and Abort
// says that the sample is committed.
func TestControlCutByACommit(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, Create(dir, one(0), engine.Config{Samples: 1}))
	claim, err := joinHere(t, dir).Claim(t.Context(), "p")
	require.NoError(t, err)
	row, err := claim.Reserve(t.Context(), 0)
	require.NoError(t, err)
	t.Cleanup(quiet)
	DoAt("recorded", 1, func() { require.NoError(t, os.Truncate(filepath.Join(dir, controlName), 0)) })
	require.ErrorIs(t, row.Commit(t.Context(), make([]uint32, 1)), engine.ErrCorrupt)
	require.ErrorIs(t, row.Abort(), engine.ErrCommitted)
}
