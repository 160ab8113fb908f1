// Dataloader times shuffled epochs of one directory of mapped files, with package loader and with
// torch's DataLoader.
//
//	go run -C bench ./dataloader -python PYTHON [-rows N] [-features N] [-batch N]
//		[-rounds N] [-dir DIR] [-svg FILE]
//
// PYTHON is a command with torch and tensordict. In each round every contender runs an epoch, in
// turn; some of torch's run two, of which the faster one counts. A result is the least time of all
// rounds. The files are in the page cache.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

// A config holds the flags.
type config struct {
	python, dir, svg              string
	rows, features, batch, rounds int
}

func main() {
	log.SetFlags(0)
	var c config
	flag.StringVar(&c.python, "python", "", "a Python with torch and tensordict; \"\": measure only package loader")
	flag.StringVar(&c.dir, "dir", "", "where to make a directory for the files, which is removed at the end; \"\": the directory for temporary files")
	flag.StringVar(&c.svg, "svg", "", "a file to draw a bar chart into; \"\": none")
	flag.IntVar(&c.rows, "rows", 200_000, "rows")
	flag.IntVar(&c.features, "features", 1000, "float32 values of a row")
	flag.IntVar(&c.batch, "batch", 64, "rows of a batch")
	flag.IntVar(&c.rounds, "rounds", 5, "number of epochs; times are their minimum")
	flag.Parse()
	if err := run(context.Background(), c); err != nil {
		log.Fatal("dataloader: ", err)
	}
}

// run measures everything, prints a table and draws a chart.
func run(ctx context.Context, c config) (err error) {
	if min(c.rows, c.features, c.batch, c.rounds) < 1 {
		return fmt.Errorf("got %+v, want numbers of at least 1", c)
	}
	dir, err := os.MkdirTemp(c.dir, "dataloader-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	data := filepath.Join(dir, "data")
	if err := save(data, c); err != nil {
		return err
	}
	all, err := measure(ctx, c, data)
	if err != nil {
		return err
	}
	for _, r := range all {
		fmt.Printf("%-34s %6.1f ms an epoch, %7.0f rows/s\n", r.name, 1000*r.seconds, c.perSecond(r))
	}
	if c.svg == "" {
		return nil
	}
	return os.WriteFile(c.svg, []byte(chart(c, all)), 0o644)
}

// perSecond returns how many rows per second a contender read.
func (c config) perSecond(r result) float64 { return float64(c.rows) / r.seconds }
