// Synth trains on volumes that are drawn as it goes. Generator processes draw them into a cache,
// and the trainer reads each generation of the cache again and again until the next is full,
// instead of waiting for every volume. It compares that with drawing in line, and kills a generator
// on the way, which loses nothing.
//
//	go run ./examples/synth [-procs N] [-seconds S] [-samples N] [-dir DIR]
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"time"
)

var (
	procs     = flag.Int("procs", 4, "the most generator processes to try, after 1 and 2")
	seconds   = flag.Float64("seconds", 1.5, "how long to train each time")
	samples   = flag.Int("samples", 32, "volumes in a generation")
	dir       = flag.String("dir", "", "where to make the cache; by default in memory, if there is /dev/shm")
	generator = flag.Int("generator", -1, "be the generator of this number, of the cache at -dir; the program starts such itself")
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("synth: ")
	flag.Parse()
	if *procs < 1 || *samples < 1 {
		log.Fatal("-procs and -samples must be at least 1")
	}
	err := error(nil)
	if *generator >= 0 {
		err = generate(*dir, *generator)
	} else {
		err = compare(os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// compare trains with volumes that are drawn in line, and with those of 1, 2 and more processes. Of
// the most, one is killed.
func compare(w io.Writer) error {
	d := time.Duration(*seconds * float64(time.Second))
	fmt.Fprintf(w, "volumes of %d^3 voxels with %d labels, %d in a generation, %v of training each\n\n", side, labels, *samples, d)
	fmt.Fprintln(w, "drawn by       drawn/s   read/s   passes   trainer waits   generators wait   voxels guessed right")
	row := func(by string, r result) {
		fmt.Fprintf(w, "%-12s %9.0f %8.0f %8.1f %13.0f %% %15.0f %% %20.1f %%\n", by, r.perSecond(r.drawn), r.perSecond(r.read),
			float64(r.read)/float64(max(r.drawn, 1)), 100*r.share(r.waited), 100*r.share(r.idle), 100*r.model.accuracy())
	}
	r, err := drawInLine(d)
	if err != nil {
		return err
	}
	row("the trainer", r)
	counts := []int{1, 2, *procs}
	slices.Sort(counts)
	for _, n := range slices.Compact(counts) {
		r, err := withProcesses(n, n == *procs, d)
		if err != nil {
			return err
		}
		row(fmt.Sprintf("processes: %d", n), r)
		if r.story != "" {
			fmt.Fprintf(w, "\n%s\n", r.story)
		}
	}
	return nil
}
