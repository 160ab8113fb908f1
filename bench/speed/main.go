// Command speed measures what memory limits: copies of permuted tensors, reductions, gathers of
// rows, and CSV. It prints each time as a number of plain copies of the same bytes in the same run.
//
//	go run -C bench ./speed -mb 64 -rounds 9
//	go run -C bench ./speed -python PYTHON
//
// With an interpreter that has torch, and pandas for CSV, it also runs them.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

func main() {
	mb := flag.Int("mb", 64, "megabytes of a tensor")
	rounds := flag.Int("rounds", 9, "rounds; each measures everything once")
	python := flag.String("python", "", "an interpreter with torch, and pandas if it has it")
	flag.Parse()
	if err := run(os.Stdout, *mb<<20, *rounds, *python); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

// A row is work to measure beside a plain copy of the same bytes.
type row struct {
	name  string
	bytes int
	work  func() error
	copy  func() // nil: the row has no copy, and prints its time
}

func run(w io.Writer, bytes, rounds int, python string) error {
	fmt.Fprintf(w, "%s, %d cores, the median of %d rounds, as a multiple of a plain copy of the same bytes\n", runtime.GOARCH, runtime.GOMAXPROCS(0), rounds)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "work\tMB\tcopy ms\tms\tcopies\tleast\tGB/s\t")
	dir, err := os.MkdirTemp("", "speed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	saving := func(int) ([]row, error) { return saves(dir) }
	for _, section := range []func(bytes int) ([]row, error){permutes, reductions, rows, tables, saving} {
		all, err := section(bytes)
		if err != nil {
			return err
		}
		for _, r := range all {
			if err := r.measure(table, rounds); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	if err := table.Flush(); err != nil || python == "" {
		return err
	}
	return peers(w, python, bytes, rounds)
}

// measure measures a row and its copy in turn, and prints the medians and the least ratio.
func (r *row) measure(w io.Writer, rounds int) error {
	var times, copies, ratios []float64
	for range rounds {
		runtime.GC()
		took, err := spent(r.work)
		if err != nil {
			return err
		}
		times = append(times, took)
		if r.copy == nil {
			continue
		}
		plain, _ := spent(func() error { r.copy(); return nil })
		copies, ratios = append(copies, plain), append(ratios, took/plain)
	}
	took := median(times)
	fmt.Fprintf(w, "%s\t%.1f\t", r.name, float64(r.bytes)/(1<<20))
	if r.copy == nil {
		fmt.Fprintf(w, "\t%.2f\t\t\t", 1e3*took)
	} else {
		fmt.Fprintf(w, "%.3f\t%.3f\t%.2f\t%.2f\t", 1e3*median(copies), 1e3*took, median(ratios), slices.Min(ratios))
	}
	_, err := fmt.Fprintf(w, "%.1f\t\n", float64(r.bytes)/took/1e9)
	return err
}

// spent returns the seconds of one call: the mean of calls that take 5 ms together, at least one.
func spent(work func() error) (float64, error) {
	began, n := time.Now(), 0
	for ; n == 0 || time.Since(began) < 5*time.Millisecond; n++ {
		if err := work(); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds() / float64(n), nil
}

func median(s []float64) float64 {
	slices.Sort(s)
	return s[len(s)/2]
}
