// Tables compares ways to keep a table for training: a dataset of package memmap, an Arrow file and
// a Parquet file; with Python also a directory of tensordict, npz and HDF5 files, and with Node.js
// a DuckDB database.
//
//	go run -C bench ./tables [-rows N] [-columns N] [-batch N] [-append N] [-rounds N]
//		[-python PYTHON] [-node DIR] [-dir DIR] [-svg FILE]
//
// It measures how long it takes to open the table, to fetch one batch of random rows right after,
// to fetch all rows once in random order, batch by batch, and to append rows, and the bytes on disk
// before. Who cannot append writes the whole table again. PYTHON has torch, tensordict and h5py,
// DIR of -node the package @duckdb/node-api.
//
// In each round every contender does all of it, in turn, with the same rows, so that the tables
// grow alike. Each number of a batch is checked, and the sum of a column of an epoch. Nobody waits
// for the disk but DuckDB, which does when it appends. The files are in the page cache.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/go-tensordict/tensordict/bench/internal/contest"
)

// A config holds the flags.
type config struct {
	contest.Flags
	node          string
	columns, more int
}

func main() {
	log.SetFlags(0)
	c := config{Flags: contest.Flags{Rows: 1_000_000, Batch: 256, Rounds: 10}}
	flag.StringVar(&c.node, "node", "", "a directory with node_modules/@duckdb/node-api; \"\": without DuckDB")
	flag.IntVar(&c.columns, "columns", 20, "columns of float64")
	flag.IntVar(&c.more, "append", 1000, "rows to append in a round")
	c.Parse("torch, tensordict and h5py")
	if err := run(context.Background(), c); err != nil {
		log.Fatal("tables: ", err)
	}
}

// run measures everything, prints a table and draws a chart.
func run(ctx context.Context, c config) error {
	return c.Run(os.Stdout, func(dir string) (contest.Chart, error) {
		chart := contest.Chart{
			Title: "One table in several files",
			Notes: []string{
				fmt.Sprintf("%d rows of %d float64, batches of %d random rows, %d rows appended. Less is better.", c.Rows, c.columns, c.Batch, c.more),
				fmt.Sprintf("Bars of times are logarithmic, and the least of %d rounds; a line is the median.", c.Rounds),
				"* cannot append: rewrites the file",
			},
			Less: true,
		}
		for _, name := range []string{"open", "random batch", "shuffled epoch", "append"} {
			chart.Columns = append(chart.Columns, contest.Column{Name: name, Log: true})
		}
		chart.Columns = append(chart.Columns, contest.Column{Name: "bytes on disk"})
		all, end, err := contenders(ctx, c)
		if err != nil {
			return chart, err
		}
		chart.Rows, err = measure(ctx, c, all, dir)
		return chart, errors.Join(err, end())
	}, c.columns, c.more)
}
