package main

import (
	"context"
	"fmt"
	"time"
)

// local is a form in this process.
type local struct{ table }

// A table keeps a table in files. Values are columns.
type table interface {
	write(path string, values [][]float64) error
	open(path string) error
	fetch(ctx context.Context, rows []int) ([][]float64, error)
	// epoch calls use with each batch of the rows in random order.
	epoch(ctx context.Context, j job, use func(batch [][]float64)) error
	close() error
	// append appends to a table that is not open.
	append(path string, values [][]float64) error
}

func (l local) do(ctx context.Context, j job) (d done, err error) {
	var values [][]float64
	if j.Do == "write" || j.Do == "append" {
		values = make([][]float64, j.Columns)
		for column := range values {
			for i := range j.Rows {
				values[column] = append(values[column], value(j.First+i, column))
			}
		}
	}
	start := time.Now()
	switch j.Do {
	case "write":
		err = l.write(j.Path, values)
	case "open":
		err = l.open(j.Path)
	case "batch":
		d.Columns, err = l.fetch(ctx, j.Wanted)
	case "epoch":
		err = l.epoch(ctx, j, func(batch [][]float64) {
			for _, v := range batch[0] {
				d.Sum += v
			}
			d.Rows += len(batch[0])
		})
	case "close":
		err = l.close()
	case "append":
		err = l.append(j.Path, values)
	default:
		err = fmt.Errorf("got the job %q", j.Do)
	}
	d.Seconds = time.Since(start).Seconds()
	return d, err
}
