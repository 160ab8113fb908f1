package samplecachetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
)

// heldStays checks W04: a generation that somebody holds stays as it is, while many more are
// published.
func heldStays(k *kit) {
	p := k.create(samplecache.Config{Samples: 3})
	writer, reader := p.join(), p.join()
	producer := k.producer(writer, "gen")
	k.fill(writer, producer, 1)
	g := got(reader.Latest(k.ctx))(k)
	want := got(g.Fetch(k.ctx, to(3), nil))(k)
	views, inMemory, err := viewed(k.ctx, g, 0, 3)
	k.must(err)
	for generation := uint64(2); generation < 30; generation++ {
		k.fill(writer, producer, generation)
		k.same("views", views, want)
		k.same("rows", got(g.Fetch(k.ctx, to(3), nil))(k), want)
	}
	for _, gone := range []uint64{0, 2, 27, 30, 1 << 40} {
		k.refuses("At of a generation that is not kept", samplecache.ErrGenerationGone)(reader.At(k.ctx, gone))
	}
	equal(k, "generations that are held", len(k.stats(writer).Held), 1)
	k.must(g.Close())
	if inMemory {
		k.refuses("views after Close", samplecache.ErrClosed)(views.Clone())
	}
	k.refuses("Fetch after Close", samplecache.ErrClosed)(g.Fetch(k.ctx, to(3), nil))
	k.fill(writer, producer, 30)
	k.refuses("At once nobody holds it", samplecache.ErrGenerationGone)(reader.At(k.ctx, 1))
}

// same ends the test unless two dictionaries are equal.
func (k *kit) same(what string, td, want *tdict.TensorDict) {
	k.Helper()
	if text := got(td.Diff(want))(k); text != "" {
		k.Fatalf("%s differ: got (and other, want) %s", what, text)
	}
}

// retained checks W04: Retain says how many generations are kept that nobody holds.
func retained(k *kit) {
	for retain, kept := range map[int]int{-1: 0, 0: 1, 1: 1, 3: 3} {
		c := k.create(samplecache.Config{Samples: 2, Retain: retain}).join()
		equal(k, "Config().Retain", max(c.Config().Retain, 0), kept)
		k.fill(c, k.producer(c, "gen"), 9)
		for id := uint64(1); id <= 9; id++ {
			g, err := c.At(k.ctx, id)
			if id < 9-uint64(kept) {
				k.wants("At of a generation that is not retained", err, samplecache.ErrGenerationGone)
				continue
			}
			k.must(err)
			equal(k, "ID of the generation", g.ID(), id)
			k.must(newBook().see(k.ctx, g, 2))
		}
	}
}

// tooManyHeld checks W04: MaxHeld bounds the generations that are kept for readers only.
func tooManyHeld(k *kit) {
	p := k.create(samplecache.Config{Samples: 2, MaxHeld: 2})
	writer, reader := p.join(), p.join()
	producer := k.producer(writer, "gen")
	var held []*samplecache.Generation
	for generation := uint64(1); generation <= 5; generation++ {
		k.fill(writer, producer, generation)
		held = append(held, got(reader.Latest(k.ctx))(k))
	}
	k.waits("Reserve while too many generations are held", func(ctx context.Context) error {
		_, err := producer.Reserve(ctx)
		return err
	})
	if s := k.stats(writer); s.PublishWaits == "" || len(s.Held) != 3 {
		k.Fatalf("got PublishWaits %q and generations %v held, want three and a reason", s.PublishWaits, s.Held)
	}
	crew := k.crew()
	crew.start(func(ctx context.Context) error { return puts(ctx, producer, 2) })
	k.must(held[0].Close())
	k.must(crew.finish())
	equal(k, "the generation published last", k.stats(writer).Latest, 6)
	for _, g := range held[1:] {
		k.must(newBook().see(k.ctx, g, 2))
	}
}

// briefly is how long generations of some caches may be held.
const briefly = 50 * time.Millisecond

// heldTooLong checks W04: MaxHold ends what is held, once it is not retained any more.
func heldTooLong(k *kit) {
	p := k.create(samplecache.Config{Samples: 2, MaxHold: briefly})
	writer, reader := p.join(), p.join()
	producer := k.producer(writer, "gen")
	k.fill(writer, producer, 1)
	old := got(reader.Latest(k.ctx))(k)
	views, inMemory, err := viewed(k.ctx, old, 0, 2)
	k.must(err)
	k.fill(writer, producer, 2)
	kept := got(reader.Latest(k.ctx))(k)
	k.fill(writer, producer, 3)
	k.eventually("a generation that is held for too long is gone", func() bool {
		_, err := old.Fetch(k.ctx, to(2), nil)
		return errors.Is(err, samplecache.ErrGenerationGone)
	})
	if inMemory {
		k.refuses("views of it", samplecache.ErrGenerationGone)(views.Clone())
	}
	k.refuses("Slice of it", samplecache.ErrGenerationGone)(old.Slice(0, 1))
	k.refuses("Info of it", samplecache.ErrGenerationGone)(old.Info(0))
	k.must(old.Close())
	k.must(newBook().see(k.ctx, kept, 2)) // it is retained
	k.fill(writer, producer, 6)
}

// lapsedIsGone checks W04: what was retired MaxHold ago cannot be opened, though it is still held,
// nor a generation that was not published yet.
func lapsedIsGone(k *kit) {
	p := k.create(samplecache.Config{Samples: 2, MaxHold: briefly})
	writer, holder, reader := p.join(), p.member(), p.join()
	producer := k.producer(writer, "gen")
	k.fill(writer, producer, 1)
	k.must(got(reader.Group("train", 2).Epoch(k.ctx, 0))(k).Close())
	state := loader.State{Source: got(got(reader.Latest(k.ctx))(k).Describe())(k).Version}
	rows := got(holder.session.Open(k.ctx, 1))(k)
	k.fill(writer, producer, 3)
	select {
	case <-rows.Lapsed():
	case <-k.ctx.Done():
		k.Fatal("Lapsed: not closed after MaxHold")
	}
	unpublished := loader.State{Source: state.Source[:len(state.Source)-1] + "9"}
	time.Sleep(moment) // what the reader itself holds lapses then, too
	k.refuses("At", samplecache.ErrGenerationGone)(reader.At(k.ctx, 1))
	k.refuses("Epoch", samplecache.ErrGenerationGone)(writer.Group("train", 2).Epoch(k.ctx, 0))
	for i, s := range []loader.State{state, unpublished} {
		_, _, err := reader.Resume(k.ctx, s, samplecache.ResumeOptions{})
		k.wants("Resume", err, samplecache.ErrGenerationGone)
		group := reader.Group(fmt.Sprint("again-", i), 1)
		_, _, err = group.Resume(k.ctx, 0, s, samplecache.ResumeOptions{})
		k.wants("Group.Resume", err, samplecache.ErrGenerationGone)
		g, _, err := group.Resume(k.ctx, 0, s, samplecache.ResumeOptions{OrLatest: true})
		k.must(err)
		equal(k, "the generation of Group.Resume, OrLatest", g.ID(), 3)
		k.must(g.Close())
	}
	k.must(rows.Close())
}
