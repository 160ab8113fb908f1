package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// The places of rows.
const (
	inMemory = "memory"
	warm     = "mapped"
	cold     = "cold"
)

// A result has the measurements of a contender.
type result struct {
	where, name string
	rows, bytes int           // of an epoch, without padding
	epoch, peer time.Duration // medians
	waited      float64       // median share of the time that the loop waited
}

// measureMemory measures tables in memory.
func measureMemory(ctx context.Context, c config) ([]result, error) {
	dense, err := denseTable(c.rows, c.features)
	if err != nil {
		return nil, err
	}
	ragged, err := raggedTable(c.rows, c.features)
	if err != nil {
		return nil, err
	}
	return measureAll(ctx, c, inMemory, dense, ragged)
}

// measureMapped measures tables in mapped files.
func measureMapped(ctx context.Context, c config, f files) (results []result, err error) {
	both, err := f.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, both.close()) }()
	if err := errors.Join(both.dense.view(), both.ragged.view()); err != nil {
		return nil, err
	}
	return measureAll(ctx, c, warm, &both.dense.table, &both.ragged.table)
}

// measureAll measures all contenders.
func measureAll(ctx context.Context, c config, where string, dense, ragged *table) ([]result, error) {
	all, err := contenders(where, dense, ragged, c)
	if err != nil {
		return nil, err
	}
	var results []result
	for _, one := range all {
		r, err := one.measure(ctx, c.reps)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// measure measures some epochs of a contender, and the bare loop of copies of each.
func (c contender) measure(ctx context.Context, reps int) (result, error) {
	l, check, err := c.loaders()
	if err != nil {
		return result{}, err
	}
	var s sample
	for range reps {
		batches, err := checked(ctx, check, c.table.rows())
		if err != nil {
			return result{}, err
		}
		s.addCopies(c.table, batches)
		if err := s.add(ctx, l, c); err != nil {
			return result{}, err
		}
	}
	return s.result(c), nil
}

// loaders returns a loader, and a loader of the same batches with the numbers of their rows.
func (c contender) loaders() (l, check *loader.Loader, err error) {
	if l, err = loader.New(c.table.source, c.opt); err != nil {
		return nil, nil, err
	}
	numbered := c.opt
	numbered.RowsKey = rowKey
	check, err = loader.New(c.table.source, numbered)
	return l, check, err
}

// A sample has the measurements of each epoch.
type sample struct {
	epochs, peers []time.Duration
	waited        []float64
}

// addCopies measures the bare loop of copies.
func (s *sample) addCopies(t *table, batches [][]int) {
	runtime.GC() // frees the garbage of the check
	start := time.Now()
	t.copyAll(batches)
	s.peers = append(s.peers, time.Since(start))
}

// add measures the next epoch of a contender's loader.
func (s *sample) add(ctx context.Context, l *loader.Loader, c contender) error {
	start := time.Now()
	if err := c.epoch(ctx, l); err != nil {
		return err
	}
	s.epochs = append(s.epochs, time.Since(start))
	s.waited = append(s.waited, l.Stats().WaitShare())
	if got, want := l.Stats().Rows, c.table.rows(); got != want {
		return fmt.Errorf("%w: got %d of them, want %d", errRows, got, want)
	}
	return nil
}

// epoch runs the loop over an epoch. It copies batches that are views, which would not be read
// otherwise.
func (c contender) epoch(ctx context.Context, l *loader.Loader) error {
	var buffer []float32
	for batch, err := range l.Batches(ctx) {
		if err == nil && c.views {
			buffer, err = copyOf(batch, buffer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyOf copies the values of a batch into a buffer, which it enlarges if necessary.
func copyOf(batch *tdict.TensorDict, buffer []float32) ([]float32, error) {
	x, err := tdict.Get[*tensor.Tensor](batch, leaf)
	if err != nil {
		return nil, err
	}
	err = tensor.Read(x, func(s []float32) { buffer = append(buffer[:0], s...) })
	return buffer, err
}

// result returns the medians.
func (s *sample) result(c contender) result {
	return result{
		where: c.where, name: c.name, rows: c.table.rows(), bytes: c.table.bytes(),
		epoch: median(s.epochs), peer: median(s.peers), waited: median(s.waited),
	}
}

// median returns the median of at least one number.
func median[T time.Duration | float64](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
