// Nrt repeats the benchmark of the Python package nested_ragged_tensors. Patients have events, and
// events have codes, with the numbers of the MIMIC data. The benchmark collates windows of patients
// to padded batches, for an epoch. It compares padded tensors with ragged tensors in memory and
// mapped from a .nrt file, and prints the published figures of the original next to them.
//
//	go run -C bench ./nrt [-spec mimic|sample] [-lengths FILE] [-seeds N]
//		[-patients N] [-batch N] [-max-events N]
//
// With a file of the original's tables, dataset_spec/mimic.yaml of its repository, it draws the
// same numbers as the original with NumPy, so that sizes are the published ones.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
)

// A config has the values of the flags.
type config struct {
	spec, lengths                      string
	patients, batch, seeds, mostEvents int
}

func main() {
	log.SetFlags(0)
	var c config
	flag.StringVar(&c.spec, "spec", "mimic", "numbers of events and codes: mimic or sample")
	flag.StringVar(&c.lengths, "lengths", "", "a YAML file with tables of lengths, instead of the spec's")
	flag.IntVar(&c.patients, "patients", 1250, "number of patients")
	flag.IntVar(&c.batch, "batch", 64, "patients in a batch")
	flag.IntVar(&c.seeds, "seeds", 1, "number of seeds; the first is 0")
	flag.IntVar(&c.mostEvents, "max-events", 256, "maximum number of events in a window")
	flag.Parse()
	if err := run(os.Stdout, c); err != nil {
		log.Fatal("nrt: ", err)
	}
}

// compares reports whether the original's figures are for the same data, except for seeds.
func (c config) compares() bool {
	return c.spec == "mimic" && c.patients == 1250 && c.batch == 64 && c.mostEvents == 256
}

// run runs the benchmark for each seed and prints what it measured.
func run(w io.Writer, c config) error {
	if min(c.patients, c.batch, c.seeds, c.mostEvents) < 1 {
		return fmt.Errorf("got %+v, want numbers of at least 1", c)
	}
	s, err := specOf(c.spec, c.lengths)
	if err != nil {
		return err
	}
	var r results
	for seed := range c.seeds {
		if err := r.add(s, uint32(seed), c); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%s: %d patients, %s\n", c.spec, c.patients, s.origin)
	fmt.Fprintf(w, "seeds: %d, batches of %d, windows of at most %d events\n", c.seeds, c.batch, c.mostEvents)
	r.print(w, c.compares())
	return nil
}

// results are the results of all contenders.
type results struct {
	extents               []extent
	dense, memory, mapped result
	saved                 []float64 // sizes of files, in bytes
	skipped               bool      // padded data were too large for a seed
}

// densest is the maximum size of padded data, in bytes.
const densest = 1 << 30

// add adds the results of a seed.
func (r *results) add(s spec, seed uint32, c config) error {
	d, err := generate(s, seed, c.patients, c.mostEvents)
	if err != nil {
		return err
	}
	r.extents = append(r.extents, d.extent)
	if err := r.addDense(d, seed, c); err != nil {
		return err
	}
	if err := measure(&r.memory, &raggedSet{joint: d.joint, windows: d.windows}, seed, c.patients, c.batch); err != nil {
		return err
	}
	return r.addMapped(d, seed, c)
}

// addDense measures padded tensors, unless they are too large.
func (r *results) addDense(d *dataset, seed uint32, c config) error {
	if d.extent.dense() > densest {
		r.skipped = true
		return nil
	}
	set, err := newDenseSet(d)
	if err != nil {
		return err
	}
	return measure(&r.dense, set, seed, c.patients, c.batch)
}
