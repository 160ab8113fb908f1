package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// key returns the name of a column.
func key(column int) nestedkey.Key { return nestedkey.Key(fmt.Sprintf("c%03d", column)) }

// dataset is a dataset of package memmap.
type dataset struct {
	ds   *memmap.Dataset
	keys []nestedkey.Key
}

// dict returns columns as a dictionary.
func dict(values [][]float64) (*tdict.TensorDict, error) {
	td := tdict.New(len(values[0]))
	var err error
	for column, v := range values {
		err = errors.Join(err, td.Set(key(column), tensor.Vector(v...)))
	}
	return td, err
}

func (d *dataset) write(path string, values [][]float64) error {
	td, err := dict(values)
	if err != nil {
		return err
	}
	return memmap.SaveWith(context.Background(), path, td, memmap.SaveOptions{NoSync: true})
}

func (d *dataset) open(path string) (err error) {
	if d.ds, err = memmap.Open(path); err == nil {
		d.keys = slices.Collect(d.ds.Keys())
	}
	return err
}

func (d *dataset) fetch(_ context.Context, rows []int) ([][]float64, error) {
	batch, err := d.ds.Index(ix.Take(rows...))
	if err != nil {
		return nil, err
	}
	return d.slices(batch)
}

// slices returns the columns of a batch.
func (d *dataset) slices(batch *tdict.TensorDict) (out [][]float64, err error) {
	out = make([][]float64, len(d.keys))
	for column, key := range d.keys {
		if out[column], err = tdict.Slice[float64](batch, key); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *dataset) epoch(ctx context.Context, j job, use func([][]float64)) error {
	src, err := loader.FromDataset(d.ds)
	if err != nil {
		return err
	}
	l, err := loader.New(src, loader.Options{Batch: j.Batch, Sampler: sampler.Random(), Seed: j.Seed})
	if err != nil {
		return err
	}
	for batch, err := range l.Batches(ctx) {
		if err != nil {
			return err
		}
		columns, err := d.slices(batch)
		if err != nil {
			return err
		}
		use(columns)
	}
	return nil
}

func (d *dataset) append(path string, values [][]float64) error {
	td, err := dict(values)
	if err != nil {
		return err
	}
	row, err := td.Index(ix.At(0))
	if err != nil {
		return err
	}
	w, err := memmap.NewWriter(path, row, memmap.WriterOptions{Resume: true, NoSync: true})
	if err != nil {
		return err
	}
	if err := w.Append(td); err != nil {
		return errors.Join(err, w.Close())
	}
	return w.Finish()
}

func (d *dataset) close() error { return d.ds.Close() }
