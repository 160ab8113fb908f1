package samplecachetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/loadertest"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// facade are promises that samplecache keeps by itself, whichever engine it has.
var facade = []rule{
	{"W07 numbers reach 64 beyond the first that is not committed", numbersReach},
	{"W11 what waits returns when its context ends", contextsEnd},
	{"W16 samples that differ from the schema are refused", schemaRefused},
	{"W18 Close ends what waits", closeEndsWaits},
	{"W18 everything is ErrClosed after Close", closedUsers},
	{"W19 ranks share an epoch", ranksShare},
	{"W19 a generation is a loader's source", isSource},
}

func TestFacade(t *testing.T) { newSuite(t, InMemory(nil)).check(t, facade) }

// CheckFacade checks samplecache with the engine of a driver.
func CheckFacade(t *testing.T, d Driver) {
	t.Helper()
	newSuite(t, d).check(t, facade)
}

// numbersReach checks W07: Reserve beyond the window waits for the first number.
func numbersReach(k *kit) {
	p := k.create(samplecache.Config{Samples: 100}).join().producer("gen")
	first := got(p.Reserve(k.ctx))(k)
	k.puts(p, samplecache.WindowSize-1)
	k.waits("Reserve beyond the window", reserving(p))
	k.waits("PutAt beyond the window", func(ctx context.Context) error {
		return p.PutAt(ctx, samplecache.WindowSize, id(0).sample())
	})
	crew := k.crew()
	crew.start(func(k *kit) { k.puts(p, 1) })
	k.commit(first, "gen")
	crew.finish()
	equal(k, "Next", p.Next(), samplecache.WindowSize+1)
}

// waitings make a cache and a call that waits.
var waitings = map[string]func(k *kit) (m *member, call func(ctx context.Context) error){
	"Wait": func(k *kit) (*member, func(ctx context.Context) error) {
		c := k.create(samplecache.Config{Samples: 2}).join()
		return c, func(ctx context.Context) error { _, err := c.Wait(ctx, 0); return err }
	},
	"Epoch": func(k *kit) (*member, func(ctx context.Context) error) {
		c := k.create(samplecache.Config{Samples: 2}).join()
		return c, func(ctx context.Context) error { _, err := c.Group("train", 1).Epoch(ctx, 0); return err }
	},
	"Fetch": func(k *kit) (*member, func(ctx context.Context) error) {
		c := k.create(samplecache.Config{Samples: 2, MaxHold: time.Hour, Limits: ratioed}).join()
		c.fill(c.producer("gen"), 1)
		g := got(c.Group("train", 1).Epoch(k.ctx, 0))(k)
		return c, func(ctx context.Context) error { _, err := g.Fetch(ctx, make([]int, 100), nil); return err }
	},
	"Reserve": func(k *kit) (*member, func(ctx context.Context) error) {
		place := k.create(samplecache.Config{Samples: 1})
		_ = got(place.join().producer("other").Reserve(k.ctx))(k)
		c := place.join()
		p := c.producer("gen")
		return c, reserving(p)
	},
	"Reserve under limits": func(k *kit) (*member, func(ctx context.Context) error) {
		c := k.create(samplecache.Config{Samples: 2, MaxHold: time.Hour, Limits: ratioed}).join()
		p := c.producer("gen")
		c.fill(p, 1)
		_ = got(c.Group("train", 1).Epoch(k.ctx, 0))(k)
		k.puts(p, 3)
		return c, reserving(p)
	},
	"Reserve beyond the window": func(k *kit) (*member, func(ctx context.Context) error) {
		c := k.create(samplecache.Config{Samples: 100}).join()
		p := c.producer("gen")
		_ = got(p.Reserve(k.ctx))(k)
		k.puts(p, samplecache.WindowSize-1)
		return c, reserving(p)
	},
}

// contextsEnd checks W11: what waits returns soon after its context has ended.
func contextsEnd(k *kit) {
	for what, make := range waitings {
		k.Run(what, func(t *testing.T) {
			k := newKit(t, k.suite)
			_, call := make(k)
			k.waits(what, call)
		})
	}
}

// closeEndsWaits checks W18: what waits returns when its cache is closed.
func closeEndsWaits(k *kit) {
	for what, make := range waitings {
		k.Run(what, func(t *testing.T) {
			k := newKit(t, k.suite)
			c, call := make(k)
			returned := k.crew()
			returned.start(func(k *kit) { k.wants("when the cache is closed", call(k.ctx), samplecache.ErrClosed) })
			k.waits(what, call) // so does the other, by now or soon
			began := time.Now()
			k.must(c.Close())
			returned.finish()
			k.soon(began, k.grace, "returning, after Close had begun,")
		})
	}
}

// otherSamples are samples that differ from the usual ones.
func otherSamples(k *kit) map[string]*tdict.TensorDict {
	k.Helper()
	with := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := id(0).sample()
		k.must(td.Set(key, v))
		return td
	}
	less := id(0).sample()
	k.must(less.Delete("from/number"))
	empty := id(0).sample()
	k.must(empty.Delete("from/nothing"))
	batch := got(id(0).sample().Unsqueeze(0))(k)
	return map[string]*tdict.TensorDict{
		"nil":                           nil,
		"a key less":                    less,
		"a key less, without elements":  empty,
		"a key more":                    with("from/more", tensor.Scalar(uint8(1))),
		"another dtype":                 with("from/number", tensor.Scalar(int32(1))),
		"another shape":                 with("body", tensor.Must(tensor.Zeros[uint8](bodyBytes))),
		"another shape, of no elements": with("from/nothing", tensor.Must(tensor.Zeros[float32](0, 3))),
		"a dictionary for a tensor":     with("body", tdict.New()),
		"data for a tensor":             with("body", tensor.Must(tdict.NewData("text"))),
		"rows of several lengths":       with("body", tensor.Must(ragged.From[uint8]([][]uint8{{1}, {2, 3}}))),
		"a batch shape":                 batch,
	}
}

// schemaRefused checks that samples like no other are ErrSchema, before anything is reserved.
func schemaRefused(k *kit) {
	c := k.create(samplecache.Config{Samples: 1}).join()
	p := c.producer("gen")
	for what, td := range otherSamples(k) {
		k.wants("Put of "+what, p.Put(k.ctx, td), samplecache.ErrSchema)
		k.wants("PutAt of "+what, p.PutAt(k.ctx, 0, td), samplecache.ErrSchema)
	}
	s := c.stats()
	equal(k, "slots reserved or committed", s.Reserved+s.Committed, 0)
	equal(k, "Next", p.Next(), 0)
	k.must(p.Put(k.ctx, idOf("gen", 0).sample()))
	newBook(1).see(k, c.latest())
}

// A left is what somebody has still in hands when the cache is closed.
type left struct {
	cache    *samplecache.Cache
	producer *samplecache.Producer
	nameless *samplecache.Producer
	slot     *samplecache.Slot
	at, of   *samplecache.Generation // the latter of an epoch
	group    *samplecache.Group
}

// closedCalls are calls of all that a cache gives out.
var closedCalls = map[string]func(ctx context.Context, l *left) error{
	"Close":              func(_ context.Context, l *left) error { return l.cache.Close() },
	"Latest":             func(ctx context.Context, l *left) error { _, err := l.cache.Latest(ctx); return err },
	"At":                 func(ctx context.Context, l *left) error { _, err := l.cache.At(ctx, 1); return err },
	"Wait":               func(ctx context.Context, l *left) error { _, err := l.cache.Wait(ctx, 0); return err },
	"Wait for another":   func(ctx context.Context, l *left) error { _, err := l.cache.Wait(ctx, 9); return err },
	"Keep":               func(ctx context.Context, l *left) error { return l.cache.Keep(ctx, 1, "kept") },
	"Forget":             func(ctx context.Context, l *left) error { return l.cache.Forget(ctx, "other") },
	"Stats":              func(_ context.Context, l *left) error { _, err := l.cache.Stats(); return err },
	"Producer":           func(_ context.Context, l *left) error { _, err := l.cache.Producer("new"); return err },
	"Producer, no name":  func(_ context.Context, l *left) error { _, err := l.cache.Producer(""); return err },
	"Reserve":            func(ctx context.Context, l *left) error { _, err := l.producer.Reserve(ctx); return err },
	"Reserve, no name":   func(ctx context.Context, l *left) error { _, err := l.nameless.Reserve(ctx); return err },
	"ReserveAt":          func(ctx context.Context, l *left) error { _, err := l.producer.ReserveAt(ctx, 9); return err },
	"Put":                func(ctx context.Context, l *left) error { return l.producer.Put(ctx, id(0).sample()) },
	"Commit":             func(ctx context.Context, l *left) error { return l.slot.Commit(ctx) },
	"Abort":              func(_ context.Context, l *left) error { return l.slot.Abort() },
	"Sample":             func(_ context.Context, l *left) error { _, err := l.slot.Sample().Clone(); return err },
	"Fetch":              func(ctx context.Context, l *left) error { _, err := l.at.Fetch(ctx, []int{0}, nil); return err },
	"Fetch of an epoch":  func(ctx context.Context, l *left) error { _, err := l.of.Fetch(ctx, []int{0}, nil); return err },
	"Slice":              func(_ context.Context, l *left) error { _, err := l.at.Slice(0, 1); return err },
	"Info":               func(_ context.Context, l *left) error { _, err := l.at.Info(0); return err },
	"Generation.Close":   func(_ context.Context, l *left) error { return l.at.Close() },
	"Close of an epoch":  func(_ context.Context, l *left) error { return l.of.Close() },
	"Epoch":              func(ctx context.Context, l *left) error { _, err := l.group.Epoch(ctx, 1); return err },
	"Epoch of a new one": func(ctx context.Context, l *left) error { _, err := l.cache.Group("new", 1).Epoch(ctx, 0); return err },
	"Group.Close":        func(_ context.Context, l *left) error { return l.group.Close() },
}

// closedUsers checks W18: whatever is used after Close is ErrClosed.
func closedUsers(k *kit) {
	place := k.create(samplecache.Config{Samples: 2})
	other := place.join()
	other.fill(other.producer("other"), 1)
	c := place.join()
	l := &left{cache: c.Cache, producer: c.producer("gen"), nameless: c.producer(""), group: c.Group("train", 1)}
	l.slot = got(l.producer.Reserve(k.ctx))(k)
	l.at, l.of = c.latest(), got(l.group.Epoch(k.ctx, 0))(k)
	k.must(c.Close())
	for what, call := range closedCalls {
		k.wants(what+" after Close", call(k.ctx, l), samplecache.ErrClosed)
	}
	other.fill(other.producer("more"), 2) // others go on
}

// ranksShare checks W19: the ranks of an epoch load disjoint rows, in an order that a seed fixes,
// and all rows together.
func ranksShare(k *kit) {
	const world, samples = 3, 24
	place := k.create(samplecache.Config{Samples: samples})
	writer := place.join()
	writer.fill(writer.producer("gen"), 2)
	all := map[id]bool{}
	for rank, c := range place.joins(world) {
		g := got(c.Group("train", world).Epoch(k.ctx, 0))(k)
		rows := k.load(g, sampler.Share{Rank: rank, World: world})
		equal(k, "rows of a rank", len(rows), samples/world)
		if again := k.load(g, sampler.Share{Rank: rank, World: world}); !slices.Equal(rows, again) {
			k.fatalf("got rows %v, and %v when the same is loaded again", rows, again)
		}
		if slices.IsSortedFunc(rows, func(i, j id) int { return int(i) - int(j) }) {
			k.Errorf("rank %d: got rows in order, want a random one", rank)
		}
		for _, i := range rows {
			if all[i] {
				k.Errorf("rank %d: sample %v is another rank's, too", rank, i)
			}
			all[i] = true
		}
		k.must(g.Close())
	}
	equal(k, "rows of all ranks", len(all), samples)
}

// load loads a share of the rows in a random order.
func (k *kit) load(g *samplecache.Generation, share sampler.Share) (rows []id) {
	k.Helper()
	l := got(loader.New(g, loader.Options{Batch: 2, Sampler: sampler.Random(), Seed: 5, Share: share, Workers: 2}))(k)
	for batch, err := range l.Batches(k.ctx) {
		k.must(err)
		rows = append(rows, k.read(batch)...)
	}
	return rows
}

// isSource checks that a generation keeps what loader.Source promises, in an epoch and without one.
func isSource(k *kit) {
	place := k.create(samplecache.Config{Samples: 7})
	writer := place.join()
	writer.fill(writer.producer("gen"), 1)
	c := place.join()
	for what, g := range map[string]*samplecache.Generation{
		"Latest": c.latest(),
		"Epoch":  got(c.Group("train", 1).Epoch(k.ctx, 0))(k),
	} {
		k.wants("a generation of "+what, loadertest.TestSource(k.ctx, g), nil)
		d := got(g.Describe())(k)
		if d.Schema == "" || d.RowBytes < bodyBytes {
			k.Errorf("Describe: got %+v, want a schema and a size", d)
		}
		for _, rows := range [][2]int{{-1, 2}, {3, 2}, {0, 8}} {
			if _, err := g.Slice(rows[0], rows[1]); err == nil {
				k.Error(fmt.Sprint("Slice of rows ", rows, " of 7: got no error"))
			}
		}
		if _, err := g.Info(7); err == nil {
			k.Error("Info of row 7 of 7: got no error")
		}
		k.must(g.Close())
		k.wants("Close again", g.Close(), samplecache.ErrClosed)
	}
}
