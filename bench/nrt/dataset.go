package main

import (
	"slices"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// names are the fields: dim_1 has a value for each event, the others have one for each code.
var names = []string{"dim_1", "dim_2_1", "dim_2_2"}

// A dataset is the data of one seed.
type dataset struct {
	joint   *joint.Joint
	windows []window // the window of each patient
	extent  extent
}

// A window is the events of a patient that are taken.
type window struct{ start, end int }

// An extent is the size of the data.
type extent struct{ patients, events, codes, mostEvents, mostCodes int64 }

// dense returns the bytes of the padded data: an int64 for each event and two for each code.
func (e extent) dense() int64 {
	return 8 * e.patients * e.mostEvents * (1 + 2*e.mostCodes)
}

// lengths returns the bytes of the lengths that the original's file had besides the bounds.
func (e extent) lengths() int64 { return 8 * (e.patients + e.events) }

// generate makes the data of a seed, drawing in the original's order.
func generate(s spec, seed uint32, patients, most int) (*dataset, error) {
	g := newGenerator(seed)
	events := s.events.draw(g, patients)
	codes := s.codes.draw(g, int(sum(events)))
	l, err := ragged.LayoutOf(shapeops.Shape{patients}, events, codes)
	if err != nil {
		return nil, err
	}
	var fields []joint.Field
	for i, layout := range []*ragged.Layout{l.Outer(), l, l} {
		t, err := hundreds(g, layout)
		if err != nil {
			return nil, err
		}
		fields = append(fields, joint.Field{Name: names[i], Tensor: t})
	}
	j, err := joint.New(fields...)
	if err != nil {
		return nil, err
	}
	all := extent{int64(patients), sum(events), sum(codes), slices.Max(events), slices.Max(codes)}
	return &dataset{j, windows(g, events, most), all}, nil
}

// hundreds draws values from [0, 100) for a layout.
func hundreds(g *generator, l *ragged.Layout) (*ragged.Tensor, error) {
	n, err := l.NumRows(l.Depth())
	if err != nil {
		return nil, err
	}
	values := make([]int64, n)
	for i := range values {
		values[i] = g.below(100)
	}
	x, err := tensor.From(values, n)
	if err != nil {
		return nil, err
	}
	return ragged.New(x, l)
}

// windows draws a window for each patient. most is the maximum number of events.
func windows(g *generator, events []int64, most int) []window {
	out := make([]window, len(events))
	for i, n := range events {
		start := 0
		if n := int(n); n > most {
			start = int(g.below(uint32(n - most)))
		}
		out[i] = window{start, min(int(n), start+most)}
	}
	return out
}

func sum(list []int64) (total int64) {
	for _, v := range list {
		total += v
	}
	return total
}
