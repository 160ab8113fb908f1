package samplecachetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A broken engine is memcache's with sessions that do something wrong.
type broken struct {
	*memcache.Engine
	session func(engine.Session) engine.Session
}

func (b broken) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	s, err := b.Engine.Join(ctx, opt)
	if err != nil {
		return nil, err
	}
	return b.session(s), nil
}

// A wrong session changes what it returns. Fields that are nil change nothing.
type wrong struct {
	engine.Session
	about   func(engine.About) engine.About
	changed func() <-chan struct{}
	latest  func(uint64) uint64
	stats   func(*engine.Stats)
	claim   func(ctx context.Context, name string) (engine.Claim, error)
	claims  func(engine.Claim) engine.Claim
	forget  func(ctx context.Context, name string) error
	enter   func(ctx context.Context, group string, world int) (engine.Seat, error)
	seats   func(engine.Seat) engine.Seat
	open    func(ctx context.Context, id uint64) (engine.Rows, error)
	rows    func(engine.Rows) engine.Rows
	close   func() error
}

// or returns f if it is given, and the other function if not.
func or[F any](given bool, f, other F) F {
	if given {
		return f
	}
	return other
}

func (w *wrong) About() engine.About {
	if w.about == nil {
		return w.Session.About()
	}
	return w.about(w.Session.About())
}

func (w *wrong) Changed() <-chan struct{} {
	return or(w.changed != nil, w.changed, w.Session.Changed)()
}

func (w *wrong) Latest(ctx context.Context) (uint64, error) {
	id, err := w.Session.Latest(ctx)
	if w.latest != nil {
		id = w.latest(id)
	}
	return id, err
}

func (w *wrong) Stats(ctx context.Context) (engine.Stats, error) {
	s, err := w.Session.Stats(ctx)
	if w.stats != nil {
		w.stats(&s)
	}
	return s, err
}

func (w *wrong) Claim(ctx context.Context, name string) (engine.Claim, error) {
	c, err := or(w.claim != nil, w.claim, w.Session.Claim)(ctx, name)
	if err == nil && w.claims != nil {
		c = w.claims(c)
	}
	return c, err
}

func (w *wrong) Forget(ctx context.Context, name string) error {
	return or(w.forget != nil, w.forget, w.Session.Forget)(ctx, name)
}

func (w *wrong) Enter(ctx context.Context, group string, world int) (engine.Seat, error) {
	s, err := or(w.enter != nil, w.enter, w.Session.Enter)(ctx, group, world)
	if err == nil && w.seats != nil {
		s = w.seats(s)
	}
	return s, err
}

func (w *wrong) Open(ctx context.Context, id uint64) (engine.Rows, error) {
	r, err := or(w.open != nil, w.open, w.Session.Open)(ctx, id)
	if err == nil && w.rows != nil {
		r = w.rows(r)
	}
	return r, err
}

func (w *wrong) Close() error { return or(w.close != nil, w.close, w.Session.Close)() }

// The parts of a wrong session.
type (
	wrongClaim struct {
		engine.Claim
		window  func() engine.Window
		reserve func(ctx context.Context, number uint64) (engine.Row, error)
	}
	wrongRow struct {
		engine.Row
		commit func(ctx context.Context, sums []uint32) error
		abort  func() error
	}
	wrongRows struct {
		engine.Rows
		place  func(leaf int) (tensor.Lender, int)
		lapsed func() <-chan struct{}
		close  func() error
	}
	wrongSeat struct {
		engine.Seat
		begin func(ctx context.Context, epoch uint64, want engine.Want) (engine.Pass, error)
	}
	wrongPass struct {
		engine.Pass
		take  func(ctx context.Context, n int) (int, error)
		close func() error
	}
)

func (w *wrongClaim) Window() engine.Window { return or(w.window != nil, w.window, w.Claim.Window)() }
func (w *wrongClaim) Reserve(ctx context.Context, number uint64) (engine.Row, error) {
	return or(w.reserve != nil, w.reserve, w.Claim.Reserve)(ctx, number)
}

func (w *wrongRow) Abort() error { return or(w.abort != nil, w.abort, w.Row.Abort)() }
func (w *wrongRow) Commit(ctx context.Context, sums []uint32) error {
	return or(w.commit != nil, w.commit, w.Row.Commit)(ctx, sums)
}

func (w *wrongRows) Lapsed() <-chan struct{} { return or(w.lapsed != nil, w.lapsed, w.Rows.Lapsed)() }
func (w *wrongRows) Close() error            { return or(w.close != nil, w.close, w.Rows.Close)() }
func (w *wrongRows) Place(leaf int) (tensor.Lender, int) {
	return or(w.place != nil, w.place, w.Rows.Place)(leaf)
}

func (w *wrongSeat) Begin(ctx context.Context, epoch uint64, want engine.Want) (engine.Pass, error) {
	return or(w.begin != nil, w.begin, w.Seat.Begin)(ctx, epoch, want)
}

func (w *wrongPass) Close() error { return or(w.close != nil, w.close, w.Pass.Close)() }
func (w *wrongPass) Take(ctx context.Context, n int) (int, error) {
	return or(w.take != nil, w.take, w.Pass.Take)(ctx, n)
}

// onReserve returns sessions that reserve otherwise.
func onReserve(reserve func(ctx context.Context, c engine.Claim, number uint64) (engine.Row, error)) func(engine.Session) engine.Session {
	return func(s engine.Session) engine.Session {
		return &wrong{Session: s, claims: func(c engine.Claim) engine.Claim {
			return &wrongClaim{Claim: c, reserve: func(ctx context.Context, number uint64) (engine.Row, error) { return reserve(ctx, c, number) }}
		}}
	}
}

// onRow returns sessions whose rows are changed.
func onRow(change func(engine.Row) engine.Row) func(engine.Session) engine.Session {
	return onReserve(func(ctx context.Context, c engine.Claim, number uint64) (engine.Row, error) {
		r, err := c.Reserve(ctx, number)
		if err != nil {
			return nil, err
		}
		return change(r), nil
	})
}

// onRows returns sessions whose generations are changed.
func onRows(change func(engine.Rows) engine.Rows) func(engine.Session) engine.Session {
	return func(s engine.Session) engine.Session { return &wrong{Session: s, rows: change} }
}

// onBegin returns sessions that begin otherwise.
func onBegin(begin func(ctx context.Context, st engine.Seat, epoch uint64, want engine.Want) (engine.Pass, error)) func(engine.Session) engine.Session {
	return func(s engine.Session) engine.Session {
		return &wrong{Session: s, seats: func(st engine.Seat) engine.Seat {
			return &wrongSeat{st, func(ctx context.Context, epoch uint64, want engine.Want) (engine.Pass, error) {
				return begin(ctx, st, epoch, want)
			}}
		}}
	}
}

// onPass returns sessions whose parts in epochs are changed.
func onPass(change func(engine.Pass) engine.Pass) func(engine.Session) engine.Session {
	return onBegin(func(ctx context.Context, st engine.Seat, epoch uint64, want engine.Want) (engine.Pass, error) {
		p, err := st.Begin(ctx, epoch, want)
		if err != nil {
			return nil, err
		}
		return change(p), nil
	})
}

// onStats returns sessions that say otherwise.
func onStats(change func(*engine.Stats)) func(engine.Session) engine.Session {
	return func(s engine.Session) engine.Session { return &wrong{Session: s, stats: change} }
}

// A breakage is a mistake of an engine.
type breakage struct {
	rule    string // that finds it: the first words
	says    string // what the rule says
	session func(engine.Session) engine.Session
	config  func(*engine.Config) // the cache is made with
	network *faults              // of an engine behind a network
	waits   bool                 // the rule waits in vain
	slow    bool                 // calls hang, for tooLong
	alone   bool                 // other processes cannot join, and it does not say so
}

// forgetful sessions know of no number.
func forgetful(s engine.Session) engine.Session {
	return &wrong{Session: s, claims: func(c engine.Claim) engine.Claim {
		return &wrongClaim{Claim: c, window: func() engine.Window { return engine.Window{} }}
	}}
}

// apart has each session begin epochs of its own.
func apart() func(engine.Session) engine.Session {
	var sessions atomic.Uint64
	return func(s engine.Session) engine.Session {
		own := sessions.Add(1) << 50
		return onBegin(func(ctx context.Context, st engine.Seat, epoch uint64, want engine.Want) (engine.Pass, error) {
			return st.Begin(ctx, epoch+own, want)
		})(s)
	}
}

// gone closes sessions in name only.
func gone(s engine.Session) engine.Session {
	return &wrong{Session: s, close: func() error { return nil }}
}

// once holds each generation once, for all of a session who open it.
func once(s engine.Session) engine.Session {
	var held sync.Map
	return &wrong{Session: s, open: func(ctx context.Context, id uint64) (engine.Rows, error) {
		if r, ok := held.Load(id); ok {
			return r.(engine.Rows), nil
		}
		r, err := s.Open(ctx, id)
		if err == nil {
			held.Store(id, r)
		}
		return r, err
	}}
}

// mixed shows the rows of the generation before for every other generation.
func mixed(s engine.Session) engine.Session {
	return &wrong{Session: s, open: func(ctx context.Context, id uint64) (engine.Rows, error) {
		if id > 1 && id%2 == 0 {
			if r, err := s.Open(ctx, id-1); err == nil {
				return r, nil
			}
		}
		return s.Open(ctx, id)
	}}
}

var breakages = func() map[string]breakage {
	var calls atomic.Int64
	every := func(n int64) bool { return calls.Add(1)%n == 0 }
	var known sync.Map // rows by generation
	lossy := func(r engine.Row) engine.Row {
		return &wrongRow{Row: r, commit: func(ctx context.Context, sums []uint32) error {
			if every(7) {
				return r.Abort()
			}
			return r.Commit(ctx, sums)
		}}
	}
	return map[string]breakage{
		"other rows":      {rule: "W01", says: `is in generation \d+ and in generation`, session: mixed},
		"ahead of itself": {rule: "W01", says: `the generation published last: got`, session: onStats(func(s *engine.Stats) { s.Latest++ })},
		"back in time": {rule: "W01", says: `the latest generation: got \d+ after \d+ was seen`, session: func(s engine.Session) engine.Session {
			return &wrong{Session: s, latest: func(id uint64) uint64 {
				if id > 1 && every(9) {
					id--
				}
				return id
			}}
		}},
		"nothing is held": {rule: "W04 a generation that is held does not", says: `generations that are held: got 0`, session: onRows(func(r engine.Rows) engine.Rows {
			_ = r.Close()
			return &wrongRows{Rows: r, close: func() error { return nil }}
		})},
		"held once":        {rule: "W04 a generation that is held does not", says: `generations that are held: got 0`, session: once},
		"more is retained": {rule: "W04 W08", says: `not retained: got error <nil>`, config: func(c *engine.Config) { c.Retain += 2 }},
		"more is held":     {rule: "W04 Reserve waits", says: `Reserve while too many generations are held: got error <nil>`, config: func(c *engine.Config) { c.MaxHeld = 64 }},
		"nothing lapses": {waits: true, rule: "W04 a generation that is held for too long", says: `is gone: not after`, session: onRows(func(r engine.Rows) engine.Rows {
			return &wrongRows{Rows: r, lapsed: func() <-chan struct{} { return nil }}
		})},
		"what lapsed is opened": {rule: "W04 a generation that is held for too long", says: `At: got error <nil>`, session: func(s engine.Session) engine.Session {
			return &wrong{Session: s, open: func(ctx context.Context, id uint64) (engine.Rows, error) {
				r, err := s.Open(ctx, id)
				if err == nil {
					known.Store(id, r)
				} else if old, ok := known.Load(id); ok {
					return &wrongRows{Rows: old.(engine.Rows), lapsed: func() <-chan struct{} { return nil }, close: func() error { return nil }}, nil
				}
				return r, err
			}}
		}},
		"no window":     {rule: "W07 a name", says: `Window, in another session`, session: forgetful},
		"no memory":     {rule: "W07 W10", says: `committed numbers of gen-0: got {0 0}`, session: forgetful},
		"kept by Abort": {rule: "W10 Reserve", says: `slots reserved, after Abort: got 4`, session: onRow(func(r engine.Row) engine.Row { return &wrongRow{Row: r, abort: func() error { return nil }} })},
		"no name is a name": {rule: "W07 a name", says: `producer is in use`, session: func(s engine.Session) engine.Session {
			return &wrong{Session: s, claim: func(ctx context.Context, name string) (engine.Claim, error) { return s.Claim(ctx, name+"!") }}
		}},
		"names are shared": {rule: "W07 a name", says: `a name in use: got error <nil>`, session: func(s engine.Session) engine.Session {
			return &wrong{Session: s, claim: func(ctx context.Context, _ string) (engine.Claim, error) { return s.Claim(ctx, "") }}
		}},
		"nothing is forgotten": {rule: "W07 a name", says: `Forget`, session: func(s engine.Session) engine.Session {
			return &wrong{Session: s, forget: func(context.Context, string) error { return nil }}
		}},
		"the outcome is forgotten": {rule: "W07 a sample is stored once", says: `is in generation \d+ and in generation`, network: &faults{forgetsOutcome: true}},
		"two publications":         {rule: "W04 W08", says: `generations published: got`, session: onStats(func(s *engine.Stats) { s.Swaps *= 2 })},
		"no lease":                 {waits: true, rule: "W09 what a silent", says: `deadline exceeded`, network: &faults{keepsSilent: true}},
		"no return":                {waits: true, rule: "W09 a session goes on", says: `not available|deadline exceeded`, network: &faults{staysCut: true}},
		"no timeout":               {slow: true, rule: "W09 a session goes on", says: `of a session that is cut off took`, network: &faults{hangs: true}},
		"alone, and held":          {waits: true, rule: "W09 what a killed", says: `a process holds all: not after`, alone: true},
		"twice the room":           {rule: "W10 Reserve", says: `Reserve without room: got error <nil>`, config: func(c *engine.Config) { c.Samples *= 2 }},
		"a lost sample":            {rule: "W07 W10", says: `committed numbers of .*: got|published is false`, session: onRow(lossy)},
		"no wake-up": {waits: true, rule: "W10 Reserve", says: `deadline exceeded`, session: func(s engine.Session) engine.Session {
			return &wrong{Session: s, changed: func() <-chan struct{} { return nil }}
		}},
		"no ratio": {rule: "W11 the ratio", says: `want at least`, session: onPass(func(p engine.Pass) engine.Pass {
			return &wrongPass{Pass: p, take: func(ctx context.Context, n int) (int, error) {
				_, _ = p.Take(ctx, 1)
				return n, nil
			}}
		})},
		"slow to return": {slow: true, rule: "W11 what cannot", says: `what is blocked took`, session: onBegin(func(ctx context.Context, st engine.Seat, epoch uint64, want engine.Want) (engine.Pass, error) {
			p, err := st.Begin(ctx, epoch, want)
			if errors.Is(err, engine.ErrBlocked) {
				time.Sleep(tooLong)
			}
			return p, err
		})},
		"Reserve that waits": {waits: true, rule: "W11 what cannot", says: `Reserve beyond the limits: got error context deadline exceeded`, session: onReserve(func(ctx context.Context, c engine.Claim, number uint64) (engine.Row, error) {
			r, err := c.Reserve(ctx, number)
			if errors.Is(err, engine.ErrBlocked) {
				<-ctx.Done()
				err = ctx.Err()
			}
			return r, err
		})},
		"any passes": {rule: "W12 a group makes", says: `epoch 2 of the generation: got error <nil>`, config: func(c *engine.Config) { c.Limits.MaxPasses = 0 }},
		"many passes": {rule: "W12 a group makes", says: `epoch (300|65636) of the generation: got error <nil>`, config: func(c *engine.Config) {
			if c.Limits.MaxPasses > 255 {
				c.Limits.MaxPasses = 0
			}
		}},
		"no passes": {rule: "W12 publishing", says: `generation 3, before .*: got error <nil>`, config: func(c *engine.Config) { c.Limits.MinPasses = 0 }},
		"endless passes": {waits: true, rule: "W12 publishing", says: `deadline exceeded`, session: onPass(func(p engine.Pass) engine.Pass {
			return &wrongPass{Pass: p, close: func() error { return nil }}
		})},
		"ranks apart": {rule: "W12 the ranks", says: `the generation of the second rank: got 9`, session: apart()},
		"epochs of 24 bits": {rule: "W12 the ranks", says: `generation 21: generation is gone`, session: onBegin(func(ctx context.Context, st engine.Seat, epoch uint64, want engine.Want) (engine.Pass, error) {
			return st.Begin(ctx, epoch%(1<<24), want)
		})},
		"512 seats": {rule: "W12 an epoch can", says: `invalid group`, session: onBegin(func(ctx context.Context, st engine.Seat, epoch uint64, want engine.Want) (engine.Pass, error) {
			if calls.Add(1) > 512 {
				return nil, engine.ErrGroup
			}
			return st.Begin(ctx, epoch, want)
		})},
		"any ranks": {rule: "W12 the ranks", says: `Epoch with another number of ranks: got error <nil>`, session: func(s engine.Session) engine.Session {
			return &wrong{Session: s, enter: func(ctx context.Context, group string, world int) (engine.Seat, error) {
				return s.Enter(ctx, fmt.Sprint(group, world), world)
			}}
		}},
		"ranks apart, at once": {rule: "W13 groups", says: `got generation \d+ after \d+, and another rank|deadline exceeded`, session: apart()},
		"a wrong bit": {rule: "W16 every", says: `checksum differs`, session: onRows(func(r engine.Rows) engine.Rows {
			return &wrongRows{Rows: r, place: func(leaf int) (tensor.Lender, int) {
				lender, offset := r.Place(leaf)
				if lender == nil {
					return nil, 0
				}
				b, _ := lender.Borrow()
				b = slices.Clone(b)
				b[len(b)-1] ^= 1
				return &testkit.Lender{Bytes: b, Locked: true}, offset
			}}
		})},
		"nobody is there":  {rule: "W18 sessions", says: `members: got 0`, session: onStats(func(s *engine.Stats) { s.Members = nil })},
		"nothing is freed": {waits: true, rule: "W18 Close frees", says: `deadline exceeded`, session: gone},
		"open after Close": {rule: "W18 Close frees", says: `Claim: got error <nil>`, session: func(s engine.Session) engine.Session {
			return &wrong{Session: s, claim: func(ctx context.Context, name string) (engine.Claim, error) {
				c, err := s.Claim(ctx, name)
				if errors.Is(err, engine.ErrClosed) {
					err = nil
				}
				return c, err
			}}
		}},
		"a goroutine left": {waits: true, rule: "W18 Close frees", says: `left after everything was closed: \d+ goroutines`, session: func(s engine.Session) engine.Session {
			return &wrong{Session: s, close: func() error {
				go func() { select {} }()
				return s.Close()
			}}
		}},
		"it lapses at once": {rule: "W16 every", says: `generation is gone`, session: onRows(func(r engine.Rows) engine.Rows {
			over := make(chan struct{})
			close(over)
			return &wrongRows{Rows: r, lapsed: func() <-chan struct{} { return over }}
		})},
		"alone": {waits: true, rule: "processes", says: `processes publish: not after`, alone: true},
	}
}()

// driver returns the driver of a broken engine.
func (b breakage) driver() samplecachetest.Driver {
	d := samplecachetest.InMemory(func(e *memcache.Engine) engine.Engine {
		switch {
		case b.network != nil:
			return &server{e, *b.network}
		case b.session != nil:
			return broken{e, b.session}
		}
		return e
	})
	create := d.Create
	d.Create = func(t testing.TB, place string, schema *tdict.TensorDict, config engine.Config) error {
		if b.config != nil {
			b.config(&config)
		}
		return create(t, place, schema, config)
	}
	d.OneProcess = !b.alone
	return d
}

// brokenVariable says which engine a process is to check.
const brokenVariable = "SAMPLECACHETEST_BROKEN"

// TestBroken runs the rules for engines that are broken, each in a process of its own, as a rule
// that is broken fails its test.
func TestBroken(t *testing.T) {
	if b, ok := breakages[os.Getenv(brokenVariable)]; ok {
		patience, grace := time.Minute, 2*time.Second
		if b.waits {
			patience = 1500 * time.Millisecond
		}
		if b.slow {
			grace = tooLong / 10
		}
		samplecachetest.CheckRules(t, b.driver(), patience, grace, b.rule)
		return
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	for _, rule := range samplecachetest.Rules() {
		broken := slices.ContainsFunc(slices.Collect(maps.Values(breakages)), func(b breakage) bool { return strings.HasPrefix(rule, b.rule) })
		require.True(t, broken, "no engine breaks the rule %q", rule)
	}
	room, found := make(chan struct{}, 8), map[string]func() ([]byte, error){}
	for name := range breakages {
		found[name] = started(room, exec.Command(exe, "-test.run=^TestBroken$"), name)
	}
	for name, b := range breakages {
		t.Run(name, func(t *testing.T) {
			out, err := found[name]()
			require.Error(t, err, "nobody has found it: %s", out)
			require.Regexp(t, b.says, string(out))
		})
	}
}

// started starts a process for a broken engine when there is room, and returns a function that
// waits for its end.
func started(room chan struct{}, cmd *exec.Cmd, name string) func() (out []byte, err error) {
	var out []byte
	var err error
	done := make(chan struct{})
	go func() {
		room <- struct{}{}
		defer func() { <-room; close(done) }()
		cmd.Env = append(os.Environ(), brokenVariable+"="+name)
		out, err = cmd.CombinedOutput()
	}()
	return func() ([]byte, error) {
		<-done
		return out, err
	}
}
