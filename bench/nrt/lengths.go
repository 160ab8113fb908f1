package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

// A table has a distribution of lengths.
type table struct {
	lengths []int64
	sums    []float64 // cumulative shares; the last is 1
}

// newTable returns the table of lengths with weights.
func newTable(lengths []int64, weights []float64) (table, error) {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	if len(lengths) != len(weights) || !(total > 0) {
		return table{}, fmt.Errorf("got %d lengths and %d weights with sum %v", len(lengths), len(weights), total)
	}
	sums := make([]float64, len(weights))
	last := 0.0
	for i, w := range weights {
		last += w / total
		sums[i] = last
	}
	for i := range sums {
		sums[i] /= last
	}
	return table{lengths, sums}, nil
}

// draw draws n lengths, as NumPy's Generator.choice with weights does.
func (t table) draw(g *generator, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		u := g.float64()
		out[i] = t.lengths[sort.Search(len(t.sums)-1, func(k int) bool { return t.sums[k] > u })]
	}
	return out
}

// A spec says how the data of the benchmark are made: the numbers of events of patients, and of
// codes of events.
type spec struct {
	events, codes table
	origin        string
}

// specOf returns the spec with a name or, if path is not empty, the spec of a file.
func specOf(name, path string) (s spec, err error) {
	switch {
	case path != "":
		return readSpec(path)
	case name == "mimic":
		return mimic()
	case name == "sample":
		s.origin = "lengths drawn as NumPy does"
		s.events, err = newTable([]int64{1, 20, 33, 4, 5}, []float64{1, 2, 1, 3, 4})
		if err == nil {
			s.codes, err = newTable([]int64{1, 2, 3, 10, 5}, []float64{1, 1, 1, 1, 1})
		}
		return s, err
	}
	return s, fmt.Errorf("got spec %q, want mimic or sample", name)
}

// mimic returns a spec that approximates the original's tables by their quantiles.
func mimic() (s spec, err error) {
	s.origin = "lengths drawn by quantiles of the original's: sizes differ somewhat"
	s.events, err = between(
		[]int64{22, 62, 103, 163, 279, 615, 1021, 1667, 2998},
		[]float64{0, .05, .25, .5, .75, .95, .99, .999, 1})
	if err != nil {
		return s, err
	}
	s.codes, err = between(
		[]int64{2, 5, 17, 28, 46, 97, 151, 235, 357, 1626},
		[]float64{0, .05, .25, .5, .75, .95, .99, .999, .9999, 1})
	return s, err
}

// between returns the table of all lengths after the first quantile. Between two quantiles the
// weight of a length is inversely proportional to its square.
func between(quantiles []int64, shares []float64) (table, error) {
	var lengths []int64
	var weights []float64
	for i, upper := range quantiles[1:] {
		lower := quantiles[i]
		first, total := len(weights), 0.0
		for v := lower + 1; v <= upper; v++ {
			w := 1 / float64(v*v)
			lengths, weights, total = append(lengths, v), append(weights, w), total+w
		}
		for k := range weights[first:] {
			weights[first+k] *= (shares[i+1] - shares[i]) / total
		}
	}
	return newTable(lengths, weights)
}

// readSpec returns the spec of a YAML file of the original: names of tables, each with a list X of
// lengths and a list freq of weights.
func readSpec(path string) (s spec, err error) {
	lists, err := readLists(path)
	if err != nil {
		return s, err
	}
	s.origin = "lengths drawn from the file as NumPy does"
	for _, part := range []struct {
		name string
		to   *table
	}{{"num_events_per_subject", &s.events}, {"num_measurements_per_event", &s.codes}} {
		var lengths []int64
		for _, v := range lists[part.name+" X"] {
			if v != float64(int64(v)) || v < 0 {
				return s, fmt.Errorf("%s: %s: got length %v", path, part.name, v)
			}
			lengths = append(lengths, int64(v))
		}
		if *part.to, err = newTable(lengths, lists[part.name+" freq"]); err != nil {
			return s, fmt.Errorf("%s: %s: %w", path, part.name, err)
		}
	}
	return s, nil
}

// readLists returns the lists of numbers in a file, under names such as "num_events X".
func readLists(path string) (map[string][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	lists := map[string][]float64{}
	section, list := "", ""
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return lists, lines.Err()
		}
		text, _, _ := strings.Cut(lines.Text(), "#")
		if name, rest, ok := strings.Cut(text, ":"); ok {
			if !strings.HasPrefix(name, " ") {
				section = name
			}
			list, text = section+" "+strings.TrimSpace(name), rest
		}
		for _, field := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,[]", r) }) {
			if v, err := strconv.ParseFloat(field, 64); err == nil {
				lists[list] = append(lists[list], v)
			}
		}
	}
}
