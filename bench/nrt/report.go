package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// A row is a line of a section: either values or a text.
type row struct {
	name   string
	values []float64
	text   string
}

// print prints a section for each measure, with the original's figures if they are for the same
// data.
func (r *results) print(w io.Writer, compare bool) {
	old := published{}
	if compare {
		old = originals
	}
	section(w, "size of the file", size, r.files(), old.file)
	if !r.skipped {
		section(w, "sizes of a batch, dense", size, batchRows(&r.dense, names))
	}
	section(w, "sizes of a batch, ragged", size, batchRows(&r.memory, slices.Concat(names, masks)))
	section(w, "time of getitem, the mean of many", duration, r.rows(func(m *result) []time.Duration { return m.getitems }), old.getitem)
	section(w, "time of collate", duration, r.rows(func(m *result) []time.Duration { return m.collates }), old.collate)
	section(w, "time of the first epoch, which makes the memory of batches", duration,
		r.rows(func(m *result) []time.Duration { return m.firsts }), old.epoch)
	section(w, "time of the second, which has it", duration, r.rows(func(m *result) []time.Duration { return m.epochs }))
}

// published are figures of the original. The figures of version 0.3.0 were measured again later,
// with seed 0, on two cores of 2.5 GHz.
type published struct{ file, getitem, collate, epoch []row }

var originals = published{
	file: []row{
		{"original, dense", nil, "52.6 GB ± 18.3 GB (29.7 GB - 81.6 GB)"},
		{"original, ragged, with lengths", nil, "173.0 MB ± 3.3 MB (168.8 MB - 178.1 MB)"},
	},
	getitem: []row{
		{"original, ragged", nil, "115.1 µs"},
		{"0.3.0, ragged in memory", nil, "95 µs"}, {"0.3.0, ragged from disk", nil, "293 µs"},
	},
	collate: []row{
		{"original, ragged", nil, "130 ms"}, {"0.3.0, ragged", nil, "80 ms"},
	},
	epoch: []row{
		{"original, dense", nil, "1.7 s"},
		{"original, ragged", nil, "3.1 s"}, {"0.3.0, ragged", nil, "1.72 s"},
		{"original, named_safetensors", nil, "12.5 s"}, {"original, direct_pickle", nil, "11.6 s"},
	},
}

// files returns the rows for sizes of files. The original's published file also had the lengths of
// rows, besides their bounds.
func (r *results) files() []row {
	var dense, old []float64
	for i, e := range r.extents {
		dense = append(dense, float64(e.dense()))
		old = append(old, r.saved[i]+float64(e.lengths()))
	}
	return []row{
		{"dense, computed", dense, ""}, {"ragged", r.saved, ""}, {"ragged, with lengths, computed", old, ""},
	}
}

// batchRows returns the rows for the sizes of the parts of a batch.
func batchRows(m *result, names []string) (rows []row) {
	for _, name := range names {
		var values []float64
		for _, b := range m.batches {
			values = append(values, float64(b[name]))
		}
		rows = append(rows, row{name, values, ""})
	}
	return rows
}

// rows returns a row of times for each contender.
func (r *results) rows(times func(m *result) []time.Duration) []row {
	var rows []row
	for _, c := range []struct {
		name string
		*result
	}{{"dense", &r.dense}, {"ragged in memory", &r.memory}, {"ragged from disk", &r.mapped}} {
		var values []float64
		for _, t := range times(c.result) {
			values = append(values, float64(t))
		}
		rows = append(rows, row{c.name, values, ""})
	}
	if r.skipped {
		rows[0] = row{"dense", nil, "not run: too large"}
	}
	return rows
}

// section prints rows under a title.
func section(w io.Writer, title string, unit func(v float64) string, rows ...[]row) {
	fmt.Fprintf(w, "\n%s\n", title)
	for _, r := range slices.Concat(rows...) {
		text := r.text
		if len(r.values) > 0 {
			text = summary(r.values, unit)
		}
		fmt.Fprintf(w, "  %-31s %s\n", r.name, text)
	}
}

// summary returns the mean. For several values it adds the standard deviation, and the range from
// the 5 % to the 95 % quantile.
func summary(values []float64, unit func(v float64) string) string {
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean) / float64(len(values))
	}
	if len(values) == 1 {
		return unit(mean)
	}
	sorted := slices.Sorted(slices.Values(values))
	return fmt.Sprintf("%s ± %s (%s - %s)", unit(mean), unit(math.Sqrt(squares)), unit(quantile(sorted, .05)), unit(quantile(sorted, .95)))
}

// quantile returns a quantile of sorted values, interpolated as NumPy does.
func quantile(sorted []float64, share float64) float64 {
	whole, part := math.Modf(share * float64(len(sorted)-1))
	i := int(whole)
	return sorted[i] + part*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
}

// size returns a text like "173.0 MB".
func size(bytes float64) string { return scaled(bytes, "B", "kB", "MB", "GB", "TB") }

// duration returns a text like "115.1 µs".
func duration(nanoseconds float64) string { return scaled(nanoseconds, "ns", "µs", "ms", "s") }

// scaled returns v in the largest unit in which it is at least 1. Each unit is a thousand times the
// one before.
func scaled(v float64, units ...string) string {
	for len(units) > 1 && v >= 999.95 {
		v, units = v/1000, units[1:]
	}
	return fmt.Sprintf("%.1f %s", v, units[0])
}
