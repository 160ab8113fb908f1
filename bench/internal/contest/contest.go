// Package contest has the common parts of programs that time contenders in turn: flags, times, and
// a chart.
package contest

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

// Flags are the flags that the programs share. Their values before Parse are the defaults.
type Flags struct {
	Python, Dir, SVG    string
	Rows, Batch, Rounds int
}

// Parse parses the command line, together with the flags that a program has defined itself.
func (f *Flags) Parse(packages string) {
	flag.StringVar(&f.Python, "python", f.Python, "a Python with "+packages+"; \"\": without Python")
	flag.StringVar(&f.Dir, "dir", f.Dir, "where to make a directory for the files, which is removed at the end; \"\": the directory for temporary files")
	flag.StringVar(&f.SVG, "svg", f.SVG, "a file to draw a chart into; \"\": none")
	flag.IntVar(&f.Rows, "rows", f.Rows, "rows")
	flag.IntVar(&f.Batch, "batch", f.Batch, "rows of a batch")
	flag.IntVar(&f.Rounds, "rounds", f.Rounds, "number of rounds")
	flag.Parse()
}

// Run calls measure with a directory, which it removes at the end, prints the chart to w and draws
// it. It returns an error if a number is not positive; more are the program's own numbers.
func (f *Flags) Run(w io.Writer, measure func(dir string) (Chart, error), more ...int) (err error) {
	if slices.Min(append(more, f.Rows, f.Batch, f.Rounds)) < 1 {
		return fmt.Errorf("got %+v and %v, want numbers of at least 1", *f, more)
	}
	dir, err := os.MkdirTemp(f.Dir, "bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := measure(dir)
	if err != nil {
		return err
	}
	if f.Python == "" {
		c.Notes = append(c.Notes, "without the contenders in Python: see -python")
	}
	if err := c.print(w); err != nil || f.SVG == "" {
		return err
	}
	return os.WriteFile(f.SVG, c.svg(), 0o644)
}

// Times are the seconds that one piece of work took, one for each round.
type Times []float64

// Least returns the least time.
func (t Times) Least() float64 { return slices.Min(t) }

// Median returns the median.
func (t Times) Median() float64 {
	sorted := slices.Sorted(slices.Values(t))
	return (sorted[(len(t)-1)/2] + sorted[len(t)/2]) / 2
}

// Cell returns a cell with the least time, and the median as its mark.
func (t Times) Cell() Cell {
	return Cell{Size: t.Least(), Mark: t.Median(), Text: Seconds(t.Least())}
}

// Seconds returns a time for people, such as "1.5 ms".
func Seconds(s float64) string {
	switch {
	case s >= 1:
		return fmt.Sprintf("%.2f s", s)
	case s >= 0.0995:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case s >= 1e-3:
		return fmt.Sprintf("%.2g ms", s*1e3)
	}
	return fmt.Sprintf("%.0f µs", s*1e6)
}
