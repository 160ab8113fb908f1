package loader

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// From returns a source of the rows of a dictionary along its first batch dim. The dictionary may
// be in memory or in mapped files:
//
//	td [N B...] -> N rows
//
// The source is a [Slicer]: batches of consecutive rows may be views of td, so td must not change
// while it is loaded. From returns [ErrSource] if td is nil and shapeops.ErrDim if it has no batch
// dim. From of a *memmap.Dataset is [FromDataset].
func From(td tdict.Dictionary) (Source, error) {
	if ds, ok := td.(*memmap.Dataset); ok {
		return FromDataset(ds)
	}
	d, err := newDict(tdict.Of(td))
	if err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	return d, nil
}

// FromDataset is [From] for a dataset in mapped files. The source is also a [Prefetcher]: see
// Options.ReadAhead. If the dataset is closed during an epoch, the epoch ends with
// memmap.ErrClosed.
func FromDataset(ds *memmap.Dataset) (Source, error) {
	if ds == nil || ds.TensorDict == nil {
		return nil, fmt.Errorf("from dataset: %w", errNilDict)
	}
	d, err := newDict(ds.TensorDict)
	if err != nil {
		return nil, fmt.Errorf("from dataset: %w", err)
	}
	return mapped{d, ds}, nil
}

// FromTensors is [From] for tensors with the same number of rows, under the keys "0", "1" and so
// on:
//
//	[N F0...], [N F1...] -> N rows
//
// It returns [ErrLen] if they differ in N, shapeops.ErrDim if one is a scalar, and [ErrSource] if
// there are no tensors or one is nil.
func FromTensors(xs ...*tensor.Tensor) (Source, error) {
	td, err := together(xs)
	if err != nil {
		return nil, fmt.Errorf("from tensors: %w", err)
	}
	return From(td)
}

// together returns the dictionary of tensors under their numbers.
func together(xs []*tensor.Tensor) (*tdict.TensorDict, error) {
	if len(xs) == 0 {
		return nil, fmt.Errorf("%w: got no tensors", ErrSource)
	}
	entries := tdict.Entries{}
	for i, x := range xs {
		switch {
		case x == nil:
			return nil, fmt.Errorf("%w: tensor %d is nil", ErrSource, i)
		case len(x.Shape()) == 0:
			return nil, fmt.Errorf("%w: tensor %d is a scalar, want at least one dim", shapeops.ErrDim, i)
		case x.Shape()[0] != xs[0].Shape()[0]:
			return nil, fmt.Errorf("%w: tensor %d has %d rows, want %d as in tensor 0", ErrLen, i, x.Shape()[0], xs[0].Shape()[0])
		}
		entries[nestedkey.Of(strconv.Itoa(i))] = x
	}
	return tdict.FromMap(shapeops.Shape{xs[0].Shape()[0]}, entries)
}

var errNilDict = fmt.Errorf("%w: got a nil dictionary", ErrSource)

// A dict is a source of the rows of a dictionary.
type dict struct {
	td    *tdict.TensorDict
	n     int
	alike []nestedkey.Key // keys of the unbatched leaves

	stacked bool // td has stacked leaves
}

func newDict(td *tdict.TensorDict) (dict, error) {
	if td == nil {
		return dict{}, errNilDict
	}
	if len(td.Shape()) == 0 {
		return dict{}, fmt.Errorf("%w: got batch shape [], want at least one dim", shapeops.ErrDim)
	}
	d := dict{td: td, n: td.Shape()[0]}
	for key, leaf := range td.Leaves() {
		switch leaf.(type) {
		case *tdict.Unbatched:
			d.alike = append(d.alike, key)
		case *tdict.Stacked:
			d.stacked = true
		}
	}
	return d, nil
}

// owns replaces the unbatched tensors of dst by d's, and reports whether dst has them. Unbatched
// tensors of another source must not be overwritten.
func (d dict) owns(dst *tdict.TensorDict) bool {
	return !slices.ContainsFunc(d.alike, func(key nestedkey.Key) bool {
		own, err := tdict.Get[*tdict.Unbatched](d.td, key)
		got, failed := tdict.Get[*tdict.Unbatched](dst, key)
		if err != nil || failed != nil {
			return true
		}
		if got.Tensor() == own.Tensor() {
			return false
		}
		u, err := tdict.NewUnbatched(own.Tensor())
		return err != nil || dst.Set(key, u) != nil
	})
}

// Len implements [Source].
func (d dict) Len() int { return d.n }

// Fetch implements [Source].
func (d dict) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	if err := checkFetch(ctx, rows, d.n); err != nil {
		return nil, err
	}
	take := ix.Take(rows...)
	if d.stacked {
		return ownMembers(d.td.Index(take))
	}
	if dst != nil && d.owns(dst) && d.td.IndexInto(dst, take) == nil {
		return dst, nil
	}
	return d.td.Index(take) // dst does not fit; any other error occurs here again
}

// ownMembers replaces stacked leaves of td by copies. Their members are shared with the source, and
// their sizes differ, so they cannot be copied into memory that is reused.
func ownMembers(td *tdict.TensorDict, err error) (*tdict.TensorDict, error) {
	if err != nil {
		return nil, err
	}
	for key, leaf := range td.Leaves() {
		if s, ok := leaf.(*tdict.Stacked); ok {
			own, err := s.Clone()
			if err == nil {
				err = td.Set(key, own) // in the place of another
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return td, nil
}

// checkFetch returns an error if ctx ended, if rows is empty, or if a row is not below n.
func checkFetch(ctx context.Context, rows []int, n int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(rows) == 0 {
		return fmt.Errorf("%w: got no rows, want at least one", shapeops.ErrShape)
	}
	return checkExist(rows, n)
}

// checkExist returns an error if a row is not from 0 to n-1.
func checkExist(rows []int, n int) error {
	for _, row := range rows {
		if uint(row) >= uint(n) {
			return fmt.Errorf("%w: got row %d of a source with %d rows", shapeops.ErrIndex, row, n)
		}
	}
	return nil
}

// Slice implements [Slicer].
func (d dict) Slice(start, stop int) (*tdict.TensorDict, error) {
	if start < 0 || stop < start || stop > d.n {
		return nil, fmt.Errorf("%w: got rows %d:%d of a source with %d rows", shapeops.ErrIndex, start, stop, d.n)
	}
	return d.td.Index(ix.Range(start, stop))
}

// Describe implements [Describer].
func (d dict) Describe() (Description, error) {
	var lines []string
	bytes := 0.
	for key, leaf := range d.td.Leaves() {
		text, size := describeLeaf(leaf)
		lines = append(lines, strconv.Quote(string(key))+" "+text)
		bytes += float64(size)
	}
	if more := d.td.Shape()[1:]; len(more) > 0 {
		lines = append(lines, fmt.Sprint("batch ", more))
	}
	slices.Sort(lines) // the schema does not depend on the order of entries
	return Description{RowBytes: perRow(bytes, d.n), Schema: strings.Join(lines, "\n")}, nil
}

// describeLeaf returns a description of a leaf without its number of rows, and the bytes of all
// rows.
func describeLeaf(leaf tdict.Leaf) (text string, bytes int) {
	switch x := leaf.(type) {
	case *tensor.Tensor:
		return fmt.Sprint(x.DType(), " ", x.Shape()[1:]), x.ByteSize()
	case *ragged.Tensor:
		return fmt.Sprint("ragged ", x.DType(), " ", x.Shape()[1:], " depth ", x.Depth(), " ", x.Features()), x.ByteSize()
	case *tdict.Unbatched:
		return fmt.Sprint("unbatched ", x.Tensor().DType(), " ", x.Tensor().Shape()), 0
	case *tdict.Stacked:
		return describeStacked(x)
	}
	return "data", 0
}

// describeStacked is describeLeaf of stacked members, described by the first member that exists.
func describeStacked(x *tdict.Stacked) (text string, bytes int) {
	text = "stacked"
	if x.Dim() > 0 {
		text = fmt.Sprint(text, " along dim ", x.Dim())
	}
	for i := range x.Len() {
		m, err := x.Member(i)
		if err != nil { // there is none
			continue
		}
		bytes += sizeOf(m)
	}
	if d := x.DType(); d != 0 {
		text += fmt.Sprint(" ", d)
	}
	return text, bytes
}

// sizeOf returns the bytes of the elements of a member, which may have no dims.
func sizeOf(m tdict.Leaf) (bytes int) {
	switch x := m.(type) {
	case *tensor.Tensor:
		return x.ByteSize()
	case *ragged.Tensor:
		return x.ByteSize()
	case *tdict.Stacked:
		_, bytes = describeStacked(x)
	}
	return bytes
}

// A mapped is a dict in mapped files.
type mapped struct {
	dict
	ds *memmap.Dataset
}

// Prefetch implements [Prefetcher].
func (m mapped) Prefetch(rows ...int) error {
	if err := m.ds.Prefetch(rows...); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	return nil
}

// Slice implements [Slicer]. It returns an error if the dataset is closed, since its views could
// not be read.
func (m mapped) Slice(start, stop int) (*tdict.TensorDict, error) {
	if err := m.Prefetch(); err != nil {
		return nil, err
	}
	return m.dict.Slice(start, stop)
}
