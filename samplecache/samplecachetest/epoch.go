package samplecachetest

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/loadertest"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/samplecache"
)

// ranksShare checks W19: the ranks of an epoch load disjoint rows, in an order that a seed fixes,
// and all rows together.
func ranksShare(k *kit) {
	const world, samples = 3, 24
	place := k.create(samplecache.Config{Samples: samples})
	writer := place.join()
	k.fill(writer, k.producer(writer, "gen"), 2)
	all := map[id]bool{}
	for rank, c := range place.joins(world) {
		g := got(c.Group("train", world).Epoch(k.ctx, 0))(k)
		rows := k.load(g, sampler.Share{Rank: rank, World: world})
		equal(k, "rows of a rank", len(rows), samples/world)
		if again := k.load(g, sampler.Share{Rank: rank, World: world}); !slices.Equal(rows, again) {
			k.Fatalf("got rows %v, and %v when the same is loaded again", rows, again)
		}
		if slices.IsSortedFunc(rows, func(i, j id) int { return int(i.number) - int(j.number) }) {
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
		rows = append(rows, got(read(batch))(k)...)
	}
	return rows
}

// isSource checks that a generation keeps what loader.Source promises, in an epoch and without one.
func isSource(k *kit) {
	place := k.create(samplecache.Config{Samples: 7})
	writer := place.join()
	k.fill(writer, k.producer(writer, "gen"), 1)
	c := place.join()
	for what, g := range map[string]*samplecache.Generation{
		"Latest": got(c.Latest(k.ctx))(k),
		"Epoch":  got(c.Group("train", 1).Epoch(k.ctx, 0))(k),
	} {
		k.must(about(loadertest.TestSource(k.ctx, g), "a generation of %s", what))
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
