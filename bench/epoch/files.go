package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// files are the directories of saved tables.
type files struct{ dense, ragged string }

// of returns the directory of a table.
func (f files) of(t *table) string {
	if t.dense {
		return f.dense
	}
	return f.ragged
}

// save saves tables below a directory.
func save(dir string, c config) (f files, err error) {
	f = files{filepath.Join(dir, "dense"), filepath.Join(dir, "ragged")}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return f, err
	}
	err = saveTable(f.dense, c, denseTable)
	return f, errors.Join(err, saveTable(f.ragged, c, raggedTable))
}

// saveTable saves a table, and drops it from memory.
func saveTable(dir string, c config, made func(rows, features int) (*table, error)) error {
	t, err := made(c.mappedRows(), c.features)
	if err != nil {
		return err
	}
	return memmap.Save(dir, t.td)
}

// A mappedTable is a table in mapped files.
type mappedTable struct {
	table
	ds *memmap.Dataset
}

// open opens a table. It maps no values; see view.
func open(dir string) (*mappedTable, error) {
	ds, err := memmap.Open(dir)
	if err != nil {
		return nil, err
	}
	t := &mappedTable{table{td: ds.TensorDict}, ds}
	if t.source, err = loader.FromDataset(ds); err == nil {
		err = t.measured()
	}
	if err != nil {
		return nil, errors.Join(err, ds.Close())
	}
	return t, nil
}

// mappedTables has one table of each kind.
type mappedTables struct{ dense, ragged *mappedTable }

// open opens both tables.
func (f files) open() (both mappedTables, err error) {
	if both.dense, err = open(f.dense); err != nil {
		return both, err
	}
	if both.ragged, err = open(f.ragged); err != nil {
		return both, errors.Join(err, both.dense.ds.Close())
	}
	return both, nil
}

// close closes both.
func (t mappedTables) close() error { return errors.Join(t.dense.ds.Close(), t.ragged.ds.Close()) }

// measured sets offsets and dense.
func (t *mappedTable) measured() (err error) {
	if x, err := tdict.Get[*ragged.Tensor](t.td, leaf); err == nil {
		t.offsets, err = x.Layout().Offsets(1)
		return err
	}
	x, err := tdict.Get[*tensor.Tensor](t.td, leaf)
	if err != nil {
		return err
	}
	t.dense = true
	t.offsets = make([]int64, x.Shape()[0]+1)
	for row := range x.Shape()[0] {
		t.offsets[row+1] = int64((row + 1) * x.Shape()[1])
	}
	return nil
}

// view sets values to the values in the mapped file, which stays mapped until it is closed.
func (t *mappedTable) view() error {
	x, err := t.flat()
	if err == nil {
		t.values, err = tensor.Of[float32](x)
	}
	return err
}

// flat returns the values of all rows.
func (t *mappedTable) flat() (*tensor.Tensor, error) {
	if x, err := tdict.Get[*ragged.Tensor](t.td, leaf); err == nil {
		return x.Values()
	}
	return tdict.Get[*tensor.Tensor](t.td, leaf)
}
