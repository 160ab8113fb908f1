package main

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A ledger has the numbers of the volumes that each generator has drawn, in those generations that
// the trainer has read.
type ledger map[string][]uint64

// enter enters a generation.
func (l ledger) enter(g *samplecache.Generation) error {
	for row := range g.Len() {
		info, err := g.Info(row)
		if err != nil {
			return err
		}
		l[info.Producer] = append(l[info.Producer], info.Number)
	}
	return nil
}

// story says how it went on with a generator that was killed and started again. It returns an error
// if a volume of any generator is missing, or is there twice.
func (l ledger) story(p *process) (string, error) {
	total := 0
	for name, numbers := range l {
		slices.Sort(numbers)
		for i, n := range numbers {
			if n != numbers[0]+uint64(i) {
				return "", fmt.Errorf("volume %d of %s is missing, or is there twice", numbers[0]+uint64(i), name)
			}
		}
		total += len(numbers)
	}
	return fmt.Sprintf("gen-0 was killed on the way and went on with its volume %s.\nThe trainer got %d volumes of %d generators: none is missing, none came twice.",
		p.from, total, len(l)), nil
}
