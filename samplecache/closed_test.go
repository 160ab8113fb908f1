package samplecache_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A made holds a value of each type that a cache gives out.
type made struct {
	cache      *samplecache.Cache
	producer   *samplecache.Producer
	slot       *samplecache.Slot
	generation *samplecache.Generation
	group      *samplecache.Group
}

// makeAll makes one of each in a cache in which a generation was published.
func makeAll(t *testing.T) *made {
	t.Helper()
	c := join(t, memory(t, samplecache.Config{Samples: 1, Limits: samplecache.Limits{MinPasses: 1}}))
	m := &made{cache: c, producer: producer(t, c, "p"), group: c.Group("g", 1)}
	fill(t, m.producer, 1)
	m.slot = reserved(t, m.producer)
	var err error
	m.generation, err = m.group.Epoch(soon(t), 0)
	require.NoError(t, err)
	return m
}

// callAll calls every method with odd arguments, and returns the errors by the name of the method.
func (m *made) callAll(ctx context.Context) map[string]error {
	state := loader.State{Source: "x/1"}
	resume := samplecache.ResumeOptions{OrLatest: true}
	errs := map[string]error{}
	for name, fn := range map[string]func() error{
		"Latest": func() error { return errOf(m.cache.Latest(ctx)) },
		"At":     func() error { return errOf(m.cache.At(ctx, math.MaxUint64)) },
		"Wait":   func() error { return errOf(m.cache.Wait(ctx, math.MaxUint64)) },
		"Keep":   func() error { return m.cache.Keep(ctx, 1, "no/such/dir") },
		"Forget": func() error { return m.cache.Forget(ctx, "x") },
		"Stats":  func() error { return errOf(m.cache.Stats()) },
		"Producer": func() error {
			return errOf(m.cache.Producer("x"))
		},
		"Group":            func() error { return errOf(m.cache.Group("x", -1).Epoch(ctx, 0)) },
		"Resume":           func() error { return errOf2(m.cache.Resume(ctx, state, resume)) },
		"Close":            func() error { return m.cache.Close() },
		"Reserve":          func() error { return errOf(m.producer.Reserve(ctx)) },
		"ReserveAt":        func() error { return errOf(m.producer.ReserveAt(ctx, math.MaxUint64)) },
		"Put":              func() error { return m.producer.Put(ctx, marked(1)) },
		"Put of nil":       func() error { return m.producer.Put(ctx, nil) },
		"PutAt":            func() error { return m.producer.PutAt(ctx, math.MaxUint64, marked(1)) },
		"Producer.Close":   func() error { return m.producer.Close() },
		"Commit":           func() error { return m.slot.Commit(ctx) },
		"Abort":            func() error { return m.slot.Abort() },
		"Sample":           func() error { return errOf(m.slot.Sample().Clone()) },
		"Fetch":            func() error { return errOf(m.generation.Fetch(ctx, []int{0}, nil)) },
		"Fetch of none":    func() error { return errOf(m.generation.Fetch(ctx, nil, nil)) },
		"Fetch to itself":  func() error { return errOf(m.generation.Fetch(ctx, []int{math.MaxInt}, tdict.New(3))) },
		"Slice":            func() error { return errOf(m.generation.Slice(0, 1)) },
		"Slice of none":    func() error { return errOf(m.generation.Slice(math.MinInt, math.MaxInt)) },
		"Info":             func() error { return errOf(m.generation.Info(math.MinInt)) },
		"Describe":         func() error { return errOf(m.generation.Describe()) },
		"Generation.Close": func() error { return m.generation.Close() },
		"Epoch":            func() error { return errOf(m.group.Epoch(ctx, math.MaxUint64)) },
		"Group.Resume":     func() error { return errOf2(m.group.Resume(ctx, 1, state, resume)) },
		"Group.Close":      func() error { return m.group.Close() },
		"what cannot fail": func() error {
			_, _ = m.cache.Config(), m.cache.Schema()
			_, _, _ = m.producer.Name(), m.producer.Next(), m.producer.Window()
			_, _, _ = m.slot.Number(), m.generation.ID(), m.generation.Len()
			return samplecache.ErrClosed
		},
	} {
		errs[name] = fn()
	}
	return errs
}

// TestNobodyPanics calls everything on zero values, and after each thing that can be closed was:
// some calls may succeed, none panics or waits.
func TestNobodyPanics(t *testing.T) {
	endings := map[string]func(m *made) error{
		"nothing":    func(*made) error { return nil },
		"cache":      func(m *made) error { return m.cache.Close() },
		"slot":       func(m *made) error { return m.slot.Abort() },
		"committed":  func(m *made) error { return m.slot.Commit(t.Context()) },
		"generation": func(m *made) error { return m.generation.Close() },
		"group":      func(m *made) error { return m.group.Close() },
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, end := range endings {
		for range 20 { // calls come in any order
			m := makeAll(t)
			require.NoError(t, end(m), name)
			m.callAll(ended)
		}
	}
	fromClosed := []string{"Latest", "At", "Wait", "Stats", "Producer", "Group", "Resume", "Close", "Reserve", "Put", "Commit", "Fetch", "Slice", "Epoch", "Group.Resume"}
	for name, m := range map[string]*made{
		"zero values": {new(samplecache.Cache), new(samplecache.Producer), new(samplecache.Slot), new(samplecache.Generation), new(samplecache.Group)},
		"closed":      closed(t),
	} {
		errs := m.callAll(none)
		for call, err := range errs {
			if slices.Contains(fromClosed, call) && !(name == "zero values" && (call == "Fetch" || call == "Slice")) {
				require.ErrorIs(t, err, samplecache.ErrClosed, "%s: %s", name, call)
			}
		}
	}
}

// closed returns values of a cache that is closed.
func closed(t *testing.T) *made {
	t.Helper()
	m := makeAll(t)
	require.NoError(t, m.cache.Close())
	return m
}

// TestNilEngines opens caches of engines that are nil behind an interface, or that nobody has set
// up.
func TestNilEngines(t *testing.T) {
	for _, e := range []samplecache.Engine{nil, (*memcache.Engine)(nil), new(memcache.Engine), (*dircache.Engine)(nil), dircache.Engine{}, engineFunc(nil)} {
		require.Error(t, errOf(samplecache.Open(none, e, samplecache.Options{})), "%T", e)
	}
}

// An engineFunc is an engine that is a function.
type engineFunc func() (engine.Session, error)

func (j engineFunc) Join(context.Context, engine.Options) (engine.Session, error) { return j() }

// TestOddSchemas has schemas with no leaves, and with leaves that have no bytes.
func TestOddSchemas(t *testing.T) {
	for _, schema := range []*tdict.TensorDict{
		tdict.New(),
		tensor.Must(tdict.FromMap(nil, tdict.Entries{"none": tensor.Must(tensor.New(tensor.Float32, 0, 3))})),
	} {
		e, err := memcache.New(schema, samplecache.Config{Samples: 2})
		require.NoError(t, err)
		c := join(t, e)
		p := producer(t, c, "p")
		require.NoError(t, p.Put(none, schema))
		require.NoError(t, p.Put(none, schema))
		g, err := c.Latest(none)
		require.NoError(t, err)
		require.NoError(t, errOf(g.Fetch(none, []int{1}, nil)))
		require.NoError(t, errOf(g.Slice(0, 2)))
	}
}
