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
	mu    sync.Mutex
	rows  map[uint64][]id // by generation
	where map[id]uint64   // the generation
	last  uint64          // the latest
}

func newBook() *book { return &book{rows: map[uint64][]id{}, where: map[id]uint64{}} }

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
	b.rows[generation], b.last = rows, max(b.last, generation)
	return nil
}

// has reports whether a sample was seen.
func (b *book) has(i id) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.where[i] != 0
}

// seen returns which generation was seen last, and how many were.
func (b *book) seen() (last uint64, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last, len(b.rows)
}

// see reads all rows of a generation, checks them, and enters them. It closes the generation.
func (b *book) see(ctx context.Context, g *samplecache.Generation, samples int) error {
	ids, err := whole(ctx, g, samples)
	if err == nil {
		err = b.enter(g.ID(), ids)
	}
	return about(errors.Join(err, g.Close()), "generation %d", g.ID())
}

// whole returns all samples of a generation, which has so many, and whose Info must agree.
func whole(ctx context.Context, g *samplecache.Generation, samples int) ([]id, error) {
	if g.Len() != samples {
		return nil, fmt.Errorf("got %d samples, want %d", g.Len(), samples)
	}
	td, err := g.Fetch(ctx, to(samples), nil)
	if err != nil {
		return nil, err
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

// viewed returns views of rows, or copies if the engine has them not in memory: then no error says
// that they are views.
func viewed(ctx context.Context, g *samplecache.Generation, start, stop int) (td *tdict.TensorDict, views bool, err error) {
	td, err = g.Slice(start, stop)
	if !errors.Is(err, errors.ErrUnsupported) {
		return td, err == nil, err
	}
	td, err = g.Fetch(ctx, to(stop)[start:], nil)
	return td, false, err
}

// seeViews compares the views of all rows with what was fetched.
func seeViews(ctx context.Context, g *samplecache.Generation) error {
	td, err := g.Fetch(ctx, to(g.Len()), nil)
	if err != nil {
		return err
	}
	views, _, err := viewed(ctx, g, 0, g.Len())
	if err != nil {
		return err
	}
	text, err := views.Diff(td)
	if err == nil && text != "" {
		err = fmt.Errorf("views differ from what was fetched: %s", text)
	}
	return err
}

// to returns the numbers from 0 on.
func to(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
