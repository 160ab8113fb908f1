package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// errRows says that an epoch does not have every row once, with the right values.
var errRows = errors.New("wrong rows")

// rowKey is the key of the row numbers in checked batches.
const rowKey = "row"

// A checker checks the batches of an epoch, and records their rows.
type checker struct {
	seen    []bool
	sum     int // sum of the row numbers
	batches [][]int
}

// checked makes the next epoch of a loader that returns row numbers, and returns the rows of its
// batches.
func checked(ctx context.Context, l *loader.Loader, rows int) ([][]int, error) {
	c := checker{seen: make([]bool, rows)}
	for batch, err := range l.Batches(ctx) {
		if err == nil {
			err = c.add(batch)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.batches, c.end()
}

// add checks a batch.
func (c *checker) add(td *tdict.TensorDict) error {
	rows, err := numbers(td)
	if err != nil {
		return err
	}
	c.batches = append(c.batches, rows)
	return errors.Join(c.note(rows), compare(td, rows))
}

// numbers returns the numbers of the rows of a batch.
func numbers(td *tdict.TensorDict) (rows []int, err error) {
	x, err := tdict.Get[*tensor.Tensor](td, rowKey)
	if err != nil {
		return nil, err
	}
	err = tensor.Read(x, func(s []int64) {
		for _, row := range s {
			rows = append(rows, int(row))
		}
	})
	return rows, err
}

// note records rows.
func (c *checker) note(rows []int) error {
	for _, row := range rows {
		if uint(row) >= uint(len(c.seen)) || c.seen[row] {
			return fmt.Errorf("%w: got row %d of %d, want each once", errRows, row, len(c.seen))
		}
		c.seen[row] = true
		c.sum += row
	}
	return nil
}

// compare compares the first value of each row with its number.
func compare(td *tdict.TensorDict, rows []int) error {
	x, err := tdict.Get[*tensor.Tensor](td, leaf)
	if err != nil {
		return err
	}
	wrong := error(nil)
	err = tensor.Read(x, func(s []float32) {
		width := len(s) / len(rows)
		for i, row := range rows {
			if s[i*width] != numberOf(row) {
				wrong = fmt.Errorf("%w: row %d begins with %v, want %v", errRows, row, s[i*width], numberOf(row))
			}
		}
	})
	return errors.Join(err, wrong)
}

// end returns an error unless all rows were seen.
func (c *checker) end() error {
	n := len(c.seen)
	if want := n * (n - 1) / 2; c.sum != want {
		return fmt.Errorf("%w: got row numbers with the sum %d, want %d for all %d rows", errRows, c.sum, want, n)
	}
	return nil
}
