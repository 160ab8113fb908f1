package samplecachetest

import (
	"errors"
	"os"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// heldStays checks W04: a generation that is held does not change, while many more are published.
func heldStays(k *kit) {
	place := k.create(samplecache.Config{Samples: 3})
	writer, reader := place.join(), place.join()
	p := writer.producer("gen")
	writer.fill(p, 1)
	g := reader.latest()
	k.must(got(reader.session.Open(k.ctx, 1))(k).Close()) // the session still holds it
	want := got(g.Fetch(k.ctx, to(3), nil))(k)
	views := k.views(g, 0, 3)
	for generation := uint64(2); generation < 20; generation++ {
		writer.fill(p, generation)
		k.same("views", views, want)
		k.same("rows", got(g.Fetch(k.ctx, to(3), nil))(k), want)
	}
	for _, gone := range []uint64{0, 2, 17, 20, 1 << 40} {
		k.refuses("At of a generation that is not kept", samplecache.ErrGenerationGone)(reader.At(k.ctx, gone))
	}
	equal(k, "generations that are held", len(writer.stats().Held), 1)
	for _, h := range writer.stats().Holders { // not all engines know them
		equal(k, "the generation of a holder", h.Generation, 1)
		equal(k, "the pid of a holder", h.PID, os.Getpid())
	}
	k.must(g.Close())
	writer.fill(p, 20)
	k.refuses("At once nobody holds it", samplecache.ErrGenerationGone)(reader.At(k.ctx, 1))
}

// tooManyHeld checks W04: MaxHeld bounds the generations that are kept for readers only.
func tooManyHeld(k *kit) {
	place := k.create(samplecache.Config{Samples: 2, MaxHeld: 2})
	writer, reader, b := place.join(), place.join(), newBook(2)
	p := writer.producer("gen")
	var held []*samplecache.Generation
	for generation := uint64(1); generation <= 5; generation++ {
		writer.fill(p, generation)
		held = append(held, reader.latest())
	}
	k.waits("Reserve while too many generations are held", reserving(p))
	if s := writer.stats(); s.PublishWaits == "" || len(s.Held) != 3 {
		k.fatalf("got PublishWaits %q and generations %v held, want three and a reason", s.PublishWaits, s.Held)
	}
	b.see(k, held[0])
	writer.fill(p, 6)
	for _, g := range held[1:] {
		b.see(k, g)
	}
}

// heldTooLong checks W04: with MaxHold, a held generation lapses some time after it was retired. It
// cannot be opened again then, although a session still holds it.
func heldTooLong(k *kit) {
	place := k.create(samplecache.Config{Samples: 2, MaxHold: 50 * time.Millisecond})
	writer, holder, reader := place.join(), place.join(), place.join()
	p := writer.producer("gen")
	writer.fill(p, 1)
	reader.pass("train", 2, 0)
	rows, old := got(holder.session.Open(k.ctx, 1))(k), reader.latest()
	writer.fill(p, 2)
	kept := reader.latest()
	writer.fill(p, 3)
	k.eventually("a generation that is held for too long is gone", func() bool {
		_, err := old.Fetch(k.ctx, to(2), nil)
		return errors.Is(err, samplecache.ErrGenerationGone)
	})
	select {
	case <-rows.Lapsed():
	case <-k.ctx.Done():
		k.fatalf("Lapsed: not closed after MaxHold")
	}
	k.refuses("At", samplecache.ErrGenerationGone)(reader.At(k.ctx, 1))
	k.refuses("Epoch", samplecache.ErrGenerationGone)(writer.Group("train", 2).Epoch(k.ctx, 0))
	seat := got(unblocked(k, func() (engine.Seat, error) { return reader.session.Enter(k.ctx, "again", 1) }))(k)
	for _, gone := range []uint64{1, 9} { // 9 was not published yet
		begin := func(want engine.Want) (engine.Pass, error) {
			return unblocked(k, func() (engine.Pass, error) { return seat.Begin(k.ctx, gone, want) })
		}
		k.refuses("Begin", samplecache.ErrGenerationGone)(begin(engine.Want{Generation: gone}))
		pass := got(begin(engine.Want{Generation: gone, OrLatest: true}))(k)
		equal(k, "the generation of Begin, OrLatest", pass.ID(), 3)
		k.must(pass.Close())
	}
	k.must(old.Close())
	k.must(rows.Close())
	newBook(2).see(k, kept) // it is retained
	writer.fill(p, 6)
}
