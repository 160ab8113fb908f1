package samplecachetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
)

// A book says what was seen of each generation. Safe for concurrent use.
type book struct {
	samples int // of a generation
	mu      sync.Mutex
	rows    map[uint64][]id // by generation
	where   map[id]uint64   // the generation
	last    uint64          // the latest that was opened
}

func newBook(samples int) *book {
	return &book{samples: samples, rows: map[uint64][]id{}, where: map[id]uint64{}}
}

// open notes that a generation was opened, and returns the latest one that was.
func (b *book) open(generation uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, generation)
	return b.last
}

// enter enters a generation. It is an error if others saw something else, or one of the samples in
// another generation, or in the same one twice.
func (b *book) enter(generation uint64, rows []id) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.rows[generation]; ok {
		if !slices.Equal(rows, known) {
			return fmt.Errorf("generation %d: got samples %v, and others %v", generation, rows, known)
		}
		return nil
	}
	for _, i := range rows {
		if other, ok := b.where[i]; ok {
			return fmt.Errorf("sample %v is in generation %d and in generation %d", i, other, generation)
		}
		b.where[i] = generation
	}
	b.rows[generation] = rows
	return nil
}

// seen returns how many generations were seen, and the one in which a sample is; 0 if in none.
func (b *book) seen(i id) (generations int, where uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rows), b.where[i]
}

// look looks at the latest generation, which is not older than one that anybody saw before.
func (b *book) look(ctx context.Context, c *samplecache.Cache) (uint64, error) {
	least := b.open(0)
	g, err := c.Latest(ctx)
	if err != nil {
		return 0, fmt.Errorf("the latest generation, after %d was seen: %w", least, err)
	}
	if g.ID() < least {
		return 0, fmt.Errorf("the latest generation: got %d after %d was seen", g.ID(), least)
	}
	return g.ID(), b.see(ctx, g)
}

// see reads a generation, checks it, and enters it. It closes the generation.
func (b *book) see(ctx context.Context, g *samplecache.Generation) error {
	b.open(g.ID())
	ids, err := b.read(ctx, g)
	if err == nil {
		err = b.enter(g.ID(), ids)
	}
	if err = errors.Join(err, g.Close()); err != nil {
		return fmt.Errorf("generation %d: %w", g.ID(), err)
	}
	return nil
}

// read returns all samples of a generation, which must be the same in copies, in views and as Info
// says.
func (b *book) read(ctx context.Context, g *samplecache.Generation) ([]id, error) {
	if g.Len() != b.samples {
		return nil, fmt.Errorf("got %d samples, want %d", g.Len(), b.samples)
	}
	td, err := g.Fetch(ctx, to(b.samples), nil)
	if err != nil {
		return nil, err
	}
	views, _, err := viewed(ctx, g, 0, b.samples)
	if err != nil {
		return nil, err
	}
	if text, err := views.Diff(td); err != nil || text != "" {
		return nil, fmt.Errorf("views differ from copies: %s (%w)", text, err)
	}
	ids, err := read(td)
	for row := 0; row < len(ids) && err == nil; row++ {
		err = informed(g, row, ids[row])
	}
	return ids, err
}

// informed returns an error unless Info says of a row which sample it is.
func informed(g *samplecache.Generation, row int, want id) error {
	info, err := g.Info(row)
	if err != nil {
		return err
	}
	if idOf(info.Producer, info.Number) != want || info.Time.IsZero() || len(info.Sums) != 4 {
		return fmt.Errorf("row %d: got %+v, want sample %v", row, info, want)
	}
	return nil
}

// viewed returns views of rows, or copies if the engine does not have them in memory.
func viewed(ctx context.Context, g *samplecache.Generation, start, stop int) (td *tdict.TensorDict, views bool, err error) {
	td, err = g.Slice(start, stop)
	if !errors.Is(err, errors.ErrUnsupported) {
		return td, err == nil, err
	}
	td, err = g.Fetch(ctx, to(stop)[start:], nil)
	return td, false, err
}

// to returns the numbers from 0 on.
func to(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
