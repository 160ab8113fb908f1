package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// errRows says that an epoch does not have every row once, with the values that it should have.
var errRows = errors.New("wrong rows")

// rowKey is where batches that are checked have the numbers of their rows.
const rowKey = "row"

// A checker looks at batches of an epoch, and notes which rows they have.
type checker struct {
	seen    []bool
	sum     int // of the numbers of rows
	batches [][]int
}

// checked makes the next epoch of a loader, which says the numbers of rows, and returns the rows of
// its batches.
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

// add looks at a batch.
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

// note notes rows that have come.
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

// end returns an error unless all rows have come.
func (c *checker) end() error {
	n := len(c.seen)
	if want := n * (n - 1) / 2; c.sum != want {
		return fmt.Errorf("%w: got rows with the sum %d, want %d of all %d", errRows, c.sum, want, n)
	}
	return nil
}
