// Epoch measures epochs of package loader: rows in order, shuffled, shuffled in blocks, in whole
// groups, and padded, in memory and in mapped files. For each it also measures a bare loop that
// copies the same rows in the same order into one buffer.
//
//	go run -C bench ./epoch [-rows N] [-features N] [-batch N] [-workers N]
//		[-mb N] [-dir DIR] [-reps N] [-svg FILE]
//
// On Linux it also measures mapped files whose pages are not in memory, next to plain reads of the
// files. Before an epoch is measured, a checked run makes sure that every row comes exactly once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
)

// A config has the values of the flags.
type config struct {
	rows, features, batch, workers, mb, reps int
	dir, svg                                 string
}

func main() {
	log.SetFlags(0)
	var c config
	flag.IntVar(&c.rows, "rows", 100_000, "rows in memory")
	flag.IntVar(&c.features, "features", 250, "float32 values of a row, or their average if rows differ in length")
	flag.IntVar(&c.batch, "batch", 64, "rows of a batch")
	flag.IntVar(&c.workers, "workers", 0, "goroutines that make batches ahead of the loop; 0: the loop makes them")
	flag.IntVar(&c.mb, "mb", 128, "size of the mapped file in megabytes; its rows are made in memory first")
	flag.StringVar(&c.dir, "dir", "", "where to make a directory for the mapped files, which is removed at the end; \"\": the directory for temporary files")
	flag.IntVar(&c.reps, "reps", 5, "number of epochs; times are their medians")
	flag.StringVar(&c.svg, "svg", "", "a file to draw a bar chart into; \"\": none")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, c); err != nil {
		log.Fatal("epoch: ", err)
	}
}

// check returns an error if a flag is invalid.
func (c config) check() error {
	if min(c.rows, c.features, c.batch, c.mb, c.reps) < 1 || c.workers < 0 {
		return fmt.Errorf("got %+v, want numbers of at least 1, and workers of at least 0", c)
	}
	return nil
}

// mappedRows returns the number of rows of dense values in the mapped file.
func (c config) mappedRows() int { return max(1, c.mb*1_000_000/(valueBytes*c.features)) }

// run measures everything, prints a table and draws a chart.
func run(ctx context.Context, w io.Writer, c config) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(c.dir, "epoch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	head(w, c)
	results, err := measure(ctx, c, dir)
	if err != nil {
		return err
	}
	report(w, results)
	if err := foot(w, c, dir); err != nil || c.svg == "" {
		return err
	}
	return drawSVG(c.svg, results)
}

// measure measures tables in memory, in mapped files, and in mapped files that were evicted.
func measure(ctx context.Context, c config, dir string) ([]result, error) {
	memory, err := measureMemory(ctx, c)
	if err != nil {
		return nil, err
	}
	f, err := save(filepath.Join(dir, "mapped"), c)
	if err != nil {
		return nil, err
	}
	warm, err := measureMapped(ctx, c, f)
	if err != nil || !evicts(dir) {
		return append(memory, warm...), err
	}
	cold, err := measureCold(ctx, c, f)
	return append(append(memory, warm...), cold...), err
}
