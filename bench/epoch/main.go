// Epoch measures epochs of package loader: rows in their order, shuffled, shuffled in blocks,
// in whole groups, and padded, in memory and in mapped files. Beside each it measures a bare loop
// of copies of the same rows in the same order into one buffer.
//
//	go run -C bench ./epoch [-rows N] [-features N] [-batch N] [-workers N]
//		[-mb N] [-dir DIR] [-reps N] [-svg FILE]
//
// On Linux it also measures mapped files whose pages are not in memory, beside plain reads of the
// files. Before an epoch is measured it is made once to check that every row comes, once.
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

// A config is what the flags say.
type config struct {
	rows, features, batch, workers, mb, reps int
	dir, svg                                 string
}

func main() {
	log.SetFlags(0)
	var c config
	flag.IntVar(&c.rows, "rows", 100_000, "rows in memory")
	flag.IntVar(&c.features, "features", 250, "float32 values of a row; on average, where rows differ in length")
	flag.IntVar(&c.batch, "batch", 64, "rows of a batch")
	flag.IntVar(&c.workers, "workers", 0, "goroutines that make batches ahead; 0: the loop makes them")
	flag.IntVar(&c.mb, "mb", 128, "megabytes of the mapped file, which is made in memory first")
	flag.StringVar(&c.dir, "dir", "", "where the mapped files are made, in a new directory that is removed in the end; \"\": where temporary files are")
	flag.IntVar(&c.reps, "reps", 5, "epochs that times are the medians of")
	flag.StringVar(&c.svg, "svg", "", "a file to draw a bar chart into; \"\": none")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, c); err != nil {
		log.Fatal("epoch: ", err)
	}
}

// check returns an error if numbers cannot be used.
func (c config) check() error {
	if min(c.rows, c.features, c.batch, c.mb, c.reps) < 1 || c.workers < 0 {
		return fmt.Errorf("got %+v, want numbers of at least 1, and workers of at least 0", c)
	}
	return nil
}

// mappedRows returns how many rows of dense values the mapped file has.
func (c config) mappedRows() int { return max(1, c.mb*1_000_000/(valueBytes*c.features)) }

// run measures all, prints a table and draws a chart.
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

// measure measures what is in memory, in mapped files, and in mapped files that were evicted.
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
