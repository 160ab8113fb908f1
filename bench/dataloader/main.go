// Dataloader times shuffled epochs of one directory of mapped files, with package loader, through
// package feed, and with torch's DataLoader.
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
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/bench/internal/contest"
)

// A config holds the flags.
type config struct {
	contest.Flags
	pkg      string
	features int
}

func main() {
	log.SetFlags(0)
	c := config{Flags: contest.Flags{Rows: 200_000, Batch: 64, Rounds: 5}}
	flag.StringVar(&c.pkg, "package", "../python/src", "the directory of the Python package tdict")
	flag.IntVar(&c.features, "features", 1000, "float32 values of a row")
	c.Parse("torch and tensordict")
	if err := run(context.Background(), c); err != nil {
		log.Fatal("dataloader: ", err)
	}
}

// run measures everything, prints a table and draws a chart.
func run(ctx context.Context, c config) error {
	return c.Run(os.Stdout, func(dir string) (contest.Chart, error) {
		chart := contest.Chart{
			Title:   "Shuffled epochs of mapped files: rows a second",
			Notes:   []string{fmt.Sprintf("%d rows of %d float32, batches of %d; more is better", c.Rows, c.features, c.Batch)},
			Columns: []contest.Column{{Name: "rows a second, and the time of an epoch"}},
		}
		data := filepath.Join(dir, "data")
		if err := save(data, c); err != nil {
			return chart, err
		}
		all, err := measure(ctx, c, data)
		for _, r := range all {
			least := r.seconds.Least()
			speed := float64(c.Rows) / least
			chart.Rows = append(chart.Rows, contest.Row{Name: r.name, Ours: r.ours, Cells: []contest.Cell{{
				Size: speed, Text: fmt.Sprintf("%.0f k rows/s, %s", speed/1e3, contest.Seconds(least)),
			}}})
		}
		return chart, err
	}, c.features)
}
