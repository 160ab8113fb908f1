package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A result has the measurements of a contender, over all seeds.
type result struct {
	batches  []batch
	getitems []time.Duration // for each seed, the mean over many items
	collates []time.Duration // for each batch
	epochs   []time.Duration // for each seed
	firsts   []time.Duration // first epochs, which allocate the memory for batches
}

// measure adds measurements of c for a seed to r: two epochs of the same batches, and many items.
func measure[Item any](r *result, c contender[Item], seed uint32, patients, size int) error {
	order := rand.New(rand.NewPCG(uint64(seed), 0)).Perm(patients)
	var first result
	for _, to := range []*result{&first, r} {
		if err := epoch(to, c, order, size); err != nil {
			return err
		}
	}
	r.firsts = append(r.firsts, first.epochs...)
	took, err := getitem(c, order)
	r.getitems = append(r.getitems, took)
	return err
}

// epoch makes batches of all patients in the given order.
func epoch[Item any](r *result, c contender[Item], order []int, size int) (err error) {
	start := time.Now()
	items := make([]Item, size)
	for patients := range slices.Chunk(order, size) {
		for i, patient := range patients {
			if items[i], err = c.item(patient); err != nil {
				return err
			}
		}
		collating := time.Now()
		made, err := c.collate(items[:len(patients)])
		if err != nil {
			return err
		}
		r.collates, r.batches = append(r.collates, time.Since(collating)), append(r.batches, made)
	}
	r.epochs = append(r.epochs, time.Since(start))
	return nil
}

// getitem returns the mean time for an item, over at least ten thousand items.
func getitem[Item any](c contender[Item], order []int) (time.Duration, error) {
	rounds := 1 + 10_000/len(order)
	start := time.Now()
	for range rounds {
		for _, patient := range order {
			if _, err := c.item(patient); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(start) / time.Duration(rounds*len(order)), nil
}
