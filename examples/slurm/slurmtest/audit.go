package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A Ledger has the numbers of the samples that were published of each producer.
type Ledger map[string][]uint64

// Audit reads the generations of a cache until it is removed or ctx ends. It is a group, so that
// none is published before it has read the one before.
func Audit(ctx context.Context, e samplecache.Engine) (Ledger, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := samplecache.Open(ctx, e, samplecache.Options{})
	for (errors.Is(err, fs.ErrNotExist) || errors.Is(err, samplecache.ErrUnavailable)) && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond) // Await looks less often, and the cache of a short job may be gone then
		c, err = samplecache.Open(ctx, e, samplecache.Options{})
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	all, last := Ledger{}, uint64(0)
	for n := uint64(0); ; n++ {
		g, err := c.Group("audit", 1).Epoch(ctx, n)
		if err != nil {
			return all, err
		}
		if last > 0 && g.ID() > last+1 {
			return all, fmt.Errorf("got generation %d after %d", g.ID(), last)
		}
		last = g.ID()
		for row := range g.Len() {
			info, err := g.Info(row)
			if err != nil {
				return all, err
			}
			all[info.Producer] = append(all[info.Producer], info.Number)
		}
		if err := g.Close(); err != nil {
			return all, err
		}
		next, err := c.Wait(ctx, last)
		if err != nil {
			return all, err
		}
		if err := next.Close(); err != nil {
			return all, err
		}
	}
}

// RequireOnce wants each number once, without gaps.
func (l Ledger) RequireOnce(t testing.TB) {
	t.Helper()
	for name, numbers := range l {
		slices.Sort(numbers)
		for i, n := range numbers {
			require.Equal(t, numbers[0]+uint64(i), n, "samples of %s: %v", name, numbers)
		}
	}
}
