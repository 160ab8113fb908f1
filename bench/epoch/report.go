package main

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// head prints the configuration and the machine.
func head(w io.Writer, c config) {
	rowBytes := valueBytes * c.features
	fmt.Fprintf(w, "%s %s/%s, GOMAXPROCS %d, %d workers\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), c.workers)
	fmt.Fprintf(w, "%d rows in memory, %sB; %d in mapped files, %sB; rows of %d float32, padded: of 1 to %d\n",
		c.rows, scaled(float64(c.rows*rowBytes)), c.mappedRows(), scaled(float64(c.mappedRows()*rowBytes)),
		c.features, 2*c.features-1)
	fmt.Fprintf(w, "batches of %d rows, grouped: of %d groups of %d rows on average; medians of %d epochs\n",
		c.batch, max(1, c.batch/groupRows), groupRows, c.reps)
}

// report prints a table. Its bytes are the bytes of rows, without padding.
func report(w io.Writer, results []result) {
	fmt.Fprintf(w, "\n%-7s %-15s %10s %11s %11s %11s %7s\n",
		"", "", "epoch", "rows", "bytes", "vs bare", "waited")
	for _, r := range results {
		fmt.Fprintf(w, "%-7s %-15s %10s %9s/s %9sB/s %10.2fx %6.0f%%\n",
			r.where, r.name, milliseconds(r.epoch), scaled(perSecond(r.rows, r.epoch)),
			scaled(perSecond(r.bytes, r.epoch)), r.ratio(), 100*r.waited)
	}
}

// ratio returns the speed of an epoch relative to its peer.
func (r result) ratio() float64 { return float64(r.peer) / float64(max(1, r.epoch)) }

// perSecond returns n per second.
func perSecond(n int, took time.Duration) float64 { return float64(n) / max(1, took).Seconds() }

// foot explains the columns, and says how close to uniform the shuffling of blocks is.
func foot(w io.Writer, c config, dir string) error {
	fmt.Fprint(w, `
vs bare: speed; 1 is the speed of a bare loop that copies the same rows in the same order into one
buffer. sequential: batches are views, which the loop copies. padded: bytes without padding.
`)
	if evicts(dir) {
		fmt.Fprintln(w, "cold: mapped files, evicted before each epoch; 1 is the speed of plain reads of the files.")
	} else {
		fmt.Fprintln(w, "cold mapped files are left out: pages can be evicted on Linux only, and not on a tmpfs.")
	}
	s, err := spreadOf(c.mappedRows(), valueBytes*c.features)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "block-shuffled, mapped:", s)
	return err
}

// milliseconds returns a text like "12.3 ms".
func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", 1000*d.Seconds()) }

// scaled returns a number with an SI prefix, such as "1.53 M".
func scaled(x float64) string {
	prefixes := []string{"", "k", "M", "G", "T"}
	for len(prefixes) > 1 && x >= 999.5 {
		x, prefixes = x/1000, prefixes[1:]
	}
	return fmt.Sprintf("%.3g %s", x, prefixes[0])
}
