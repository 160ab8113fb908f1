package main

import (
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A contender is a way to store the data. An item is a window of a patient.
type contender[Item any] interface {
	// item returns the window of a patient.
	item(patient int) (Item, error)
	// collate makes a padded batch of items. The batch is valid until the next call.
	collate(items []Item) (batch, error)
}

// A batch has the sizes of the parts of a batch, in bytes, by name.
type batch map[string]int

// A raggedSet keeps the data in a collection, in memory or mapped.
type raggedSet struct {
	joint   *joint.Joint
	windows []window
	buffer  ragged.Buffer
}

func (s *raggedSet) item(patient int) (*joint.Joint, error) {
	row, err := s.joint.Row(patient)
	if err != nil {
		return nil, err
	}
	w := s.windows[patient]
	return row.Range(w.start, w.end)
}

func (s *raggedSet) collate(items []*joint.Joint) (batch, error) {
	dense, err := joint.Collate(items, ragged.DensifyOptions{Buffer: &s.buffer, Masks: "masks"})
	if err != nil {
		return nil, err
	}
	out := batch{}
	for _, name := range names {
		x, err := dense.Tensor(nestedkey.Of(name))
		if err != nil {
			return nil, err
		}
		out[name] = x.ByteSize()
	}
	for i, level := range []string{"1", "2"} {
		mask, err := dense.Tensor(nestedkey.Join("masks", nestedkey.Of(names[2]), nestedkey.Of(level)))
		if err != nil {
			return nil, err
		}
		out[masks[i]] = mask.ByteSize()
	}
	return out, nil
}

// masks are the names of the masks of events and codes.
var masks = []string{"mask of events", "mask of codes"}

// A denseSet keeps the data padded to the longest row: [N L] and [N L M]. It has no masks.
type denseSet struct {
	fields  []*tensor.Tensor
	batches []*tensor.Tensor // memory of batches
	windows []window
	longest int // longest window
}

// newDenseSet pads the data.
func newDenseSet(d *dataset) (*denseSet, error) {
	dense, err := d.joint.Densify(ragged.DensifyOptions{})
	if err != nil {
		return nil, err
	}
	s := &denseSet{windows: d.windows}
	for _, name := range names {
		x, err := dense.Tensor(nestedkey.Of(name))
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, x)
	}
	for _, w := range d.windows {
		s.longest = max(s.longest, w.end-w.start)
	}
	return s, nil
}

func (s *denseSet) item(patient int) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(s.fields))
	start := s.windows[patient].start
	for i, x := range s.fields {
		var err error
		if out[i], err = x.Index(ix.At(patient), ix.Range(start, start+s.longest)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *denseSet) collate(items [][]*tensor.Tensor) (batch, error) {
	out := batch{}
	column := make([]*tensor.Tensor, len(items))
	for i, name := range names {
		for k, item := range items {
			column[k] = item[i]
		}
		x, err := s.stack(i, column)
		if err != nil {
			return nil, err
		}
		out[name] = x.ByteSize()
	}
	return out, nil
}

// stack stacks the items of a field, in the memory of the last batch if that has the same size.
func (s *denseSet) stack(field int, column []*tensor.Tensor) (*tensor.Tensor, error) {
	if field == len(s.batches) {
		x, err := shapeops.Stack(column, 0)
		s.batches = append(s.batches, x)
		return x, err
	}
	if x := s.batches[field]; x.Shape()[0] == len(column) {
		return x, shapeops.StackInto(x, column, 0)
	}
	return shapeops.Stack(column, 0)
}
