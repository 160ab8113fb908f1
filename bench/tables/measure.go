package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"

	"github.com/go-tensordict/tensordict/bench/internal/contest"
)

// A contender keeps a table in files.
type contender struct {
	name     string
	rewrites bool // it cannot append
	form
}

// A form runs a job on a table.
type form interface {
	do(ctx context.Context, j job) (done, error)
}

// A job is one piece of work, for this process or as JSON for another.
type job struct {
	Form    string `json:"form,omitempty"` // for a process that knows several
	Do      string `json:"do"`             // write, open, batch, epoch, close or append
	Path    string `json:"path"`
	Columns int    `json:"columns"`
	First   int    `json:"first"`  // of the rows to write or append
	Rows    int    `json:"rows"`   // to write or append, or rows of the table
	Batch   int    `json:"batch"`  // rows of a batch of an epoch
	Wanted  []int  `json:"wanted"` // the rows of a batch
	Seed    uint64 `json:"seed"`   // of the order of an epoch
}

// done is the result of a job.
type done struct {
	Seconds float64     `json:"seconds"`
	Columns [][]float64 `json:"columns"` // of a batch
	Rows    int         `json:"rows"`    // of an epoch
	Sum     float64     `json:"sum"`     // of the first column of an epoch
}

// value is the number in a row and column: so each fetched row can be checked.
func value(row, column int) float64 { return float64(row) + float64(column)/1024 }

// check returns an error unless the result of a job is right.
func (j job) check(d done) error {
	switch j.Do {
	case "batch":
		if len(d.Columns) != j.Columns {
			return fmt.Errorf("got %d columns, want %d", len(d.Columns), j.Columns)
		}
		for column, got := range d.Columns {
			if len(got) != len(j.Wanted) {
				return fmt.Errorf("got %d rows, want %d", len(got), len(j.Wanted))
			}
			for i, row := range j.Wanted {
				if got[i] != value(row, column) {
					return fmt.Errorf("row %d of column %d: got %v, want %v", row, column, got[i], value(row, column))
				}
			}
		}
	case "epoch":
		if want := float64(j.Rows) * float64(j.Rows-1) / 2; d.Rows != j.Rows || d.Sum != want {
			return fmt.Errorf("got %d rows with the sum %v, want %d with %v", d.Rows, d.Sum, j.Rows, want)
		}
	}
	return nil
}

// timed are the jobs whose time counts, in order.
var timed = [...]string{"open", "batch", "epoch", "append"}

// measure writes the files and measures all contenders in turn, round by round.
func measure(ctx context.Context, c config, all []contender, dir string) ([]contest.Row, error) {
	rows, times := make([]contest.Row, len(all)), make([][len(timed)]contest.Times, len(all))
	path := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	for i, x := range all {
		if _, err := x.do(ctx, job{Do: "write", Path: path(i), Columns: c.columns, Rows: c.Rows}); err != nil {
			return nil, fmt.Errorf("%s: write: %w", x.name, err)
		}
		n := size(path(i))
		rows[i] = contest.Row{Name: x.name, Ours: i == 0, Cells: []contest.Cell{{Size: float64(n), Text: fmt.Sprintf("%.0f MB", float64(n)/1e6)}}}
	}
	for round := range c.Rounds + 1 {
		r := rand.New(rand.NewPCG(uint64(round), 1))
		j := job{Columns: c.columns, Rows: c.Rows + round*c.more, Batch: c.Batch, Seed: uint64(round)}
		j.Wanted = r.Perm(j.Rows)[:min(c.Batch, j.Rows)]
		for i, x := range all {
			j.Path = path(i)
			seconds, err := x.round(ctx, j, c.more)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.name, err)
			}
			for k, s := range seconds {
				if round > 0 { // round 0 only warms up
					times[i][k] = append(times[i][k], s)
				}
			}
		}
	}
	for i, x := range all {
		var cells []contest.Cell
		for k, t := range times[i] {
			cell := t.Cell()
			if x.rewrites && timed[k] == "append" {
				cell.Text += " *"
			}
			cells = append(cells, cell)
		}
		rows[i].Cells = append(cells, rows[i].Cells...)
	}
	return rows, nil
}

// round returns the seconds of all jobs. Afterwards it looks at the rows that it has appended.
func (x contender) round(ctx context.Context, j job, more int) (seconds [len(timed)]float64, err error) {
	step := func(do string) (s float64) {
		if err == nil {
			runtime.GC() // of the work before
			var d done
			j.Do = do
			if d, err = x.do(ctx, j); err == nil {
				err = j.check(d)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", do, err)
			}
			s = d.Seconds
		}
		return s
	}
	for i, do := range timed[:3] {
		seconds[i] = step(do)
	}
	step("close")
	j.First, j.Rows = j.Rows, more
	seconds[3] = step("append")
	step("open")
	j.Wanted = nil
	for row := range min(more, j.Batch) {
		j.Wanted = append(j.Wanted, j.First+row)
	}
	step("batch")
	step("close")
	return seconds, err
}

// size returns the bytes of a file, or of the files below a directory.
func size(path string) (n int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil // a figure for people
	})
	return n
}
