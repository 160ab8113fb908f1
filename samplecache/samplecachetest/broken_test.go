package samplecachetest_test

import (
	"context"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
)

// open is samplecachetest.Open of the directory engine.
func open(t testing.TB, place string, schema *tdict.TensorDict, config samplecache.Config) samplecache.Engine {
	t.Helper()
	if schema != nil {
		require.NoError(t, dircache.Create(place, schema, config))
	}
	return dircache.Engine{Dir: place}
}

// A broken engine is one whose sessions do something wrong.
type broken struct {
	samplecache.Engine
	session func(samplecache.Session) samplecache.Session
}

func (b broken) Join(ctx context.Context, opt samplecache.Options) (samplecache.Session, error) {
	s, err := b.Engine.Join(ctx, opt)
	if err != nil {
		return nil, err
	}
	return b.session(s), nil
}

// mixing shows the rows of the generation before, in place of its own, for one of five generations.
type mixing struct{ samplecache.Session }

func (m mixing) Open(ctx context.Context, id uint64) (samplecache.Rows, error) {
	if id > 1 && id%5 == 0 {
		if r, err := m.Session.Open(ctx, id-1); err == nil {
			return r, nil
		}
	}
	return m.Session.Open(ctx, id)
}

// backwards says now and then that the generation before is the latest.
type backwards struct {
	samplecache.Session
	calls *atomic.Int64
}

func (b backwards) Latest(ctx context.Context) (uint64, error) {
	id, err := b.Session.Latest(ctx)
	if id > 1 && b.calls.Add(1)%9 == 0 {
		id--
	}
	return id, err
}

// onClaims changes what Claim returns, and onRows what Reserve does.
type (
	onClaims struct {
		samplecache.Session
		change func(samplecache.Claim) samplecache.Claim
	}
	onRows struct {
		samplecache.Claim
		change func(samplecache.Row) samplecache.Row
	}
)

func (o onClaims) Claim(ctx context.Context, name string) (samplecache.Claim, error) {
	c, err := o.Session.Claim(ctx, name)
	if err != nil {
		return nil, err
	}
	return o.change(c), nil
}

func (o onRows) Reserve(ctx context.Context, number uint64) (samplecache.Row, error) {
	r, err := o.Claim.Reserve(ctx, number)
	if err != nil {
		return nil, err
	}
	return o.change(r), nil
}

// forgetful knows of no number.
type forgetful struct{ samplecache.Claim }

func (forgetful) Window() (samplecache.Window, error) { return samplecache.Window{}, nil }

// losing says of one of seven samples that it was committed, and gives its place back.
type losing struct {
	samplecache.Row
	calls *atomic.Int64
}

func (l losing) Commit(ctx context.Context) error {
	if l.calls.Add(1)%7 == 0 {
		return l.Abort()
	}
	return l.Row.Commit(ctx)
}

// lax hands out all rows that are asked for, and counts one.
type lax struct{ samplecache.Session }

func (l lax) Enter(ctx context.Context, group string, world int) (samplecache.Seat, error) {
	s, err := l.Session.Enter(ctx, group, world)
	if err != nil {
		return nil, err
	}
	return laxSeat{s}, nil
}

type laxSeat struct{ samplecache.Seat }

func (l laxSeat) Begin(ctx context.Context, epoch uint64, want samplecache.Want) (samplecache.Pass, error) {
	p, err := l.Seat.Begin(ctx, epoch, want)
	if err != nil {
		return nil, err
	}
	return laxPass{p}, nil
}

type laxPass struct{ samplecache.Pass }

func (l laxPass) Take(n int) (int, error) {
	_, _ = l.Pass.Take(1)
	return n, nil
}

// leaking leaves a goroutine.
type leaking struct{ samplecache.Session }

func (l leaking) Close() error {
	go func() { select {} }()
	return l.Session.Close()
}

// breakages are what is wrong with engines, the rule that tells it, and what that says.
var breakages = map[string]struct {
	session func(samplecache.Session) samplecache.Session
	rule    string
	says    string
}{
	"other rows": {
		func(s samplecache.Session) samplecache.Session { return mixing{s} },
		"W01", `is in generation \d+ and in generation`,
	},
	"back in time": {
		func(s samplecache.Session) samplecache.Session { return backwards{s, new(atomic.Int64)} },
		"W01", `the latest generation: got \d+ after \d+ was seen`,
	},
	"no memory": {
		func(s samplecache.Session) samplecache.Session {
			return onClaims{s, func(c samplecache.Claim) samplecache.Claim { return forgetful{c} }}
		},
		"W07 each number", `is in generation \d+ and in generation`,
	},
	"a lost sample": {
		func(s samplecache.Session) samplecache.Session {
			calls := new(atomic.Int64)
			return onClaims{s, func(c samplecache.Claim) samplecache.Claim {
				return onRows{c, func(r samplecache.Row) samplecache.Row { return losing{r, calls} }}
			}}
		},
		"W10 nothing", `sample \d+ of producer .* is lost`,
	},
	"no ratio": {
		func(s samplecache.Session) samplecache.Session { return lax{s} },
		"W11 the ratio", `want at least`,
	},
	"a goroutine left": {
		func(s samplecache.Session) samplecache.Session { return leaking{s} },
		"W18 everything", `left when all is closed: \d+ goroutines`,
	},
}

// brokenVariable says which engine a process is to check.
const brokenVariable = "SAMPLECACHETEST_BROKEN"

// TestBroken runs the rules for engines that are broken, each in a process of its own, as a rule
// that is broken fails its test.
func TestBroken(t *testing.T) {
	if b, ok := breakages[os.Getenv(brokenVariable)]; ok {
		samplecachetest.CheckRules(t, func(t testing.TB, place string, schema *tdict.TensorDict, config samplecache.Config) samplecache.Engine {
			return broken{open(t, place, schema, config), b.session}
		}, b.rule)
		return
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	for name, b := range breakages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(exe, "-test.run=^TestBroken$")
			cmd.Env = append(os.Environ(), brokenVariable+"="+name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "nobody has found it: %s", out)
			require.Regexp(t, b.says, string(out))
		})
	}
}
