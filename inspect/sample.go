package inspect

import (
	"sort"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	sampleBlocks = 64      // blocks of a sample
	blockBytes   = 1 << 16 // bytes of a block
	mostOfRun    = 1 << 17 // bytes that are read of a run of rows, or of one long row
)

// A source has the positions for one tally: one run or, for a sample, several runs.
type source []run

// A run is the positions from <= i < stop of a series.
type run struct {
	series
	from, stop int
}

// A part is the positions from <= i < stop of a run, which one goroutine reads. The first of them
// is number at of all positions of the source.
type part struct{ run, from, stop, at int }

// size returns the number of positions.
func (s source) size() int {
	n := 0
	for _, r := range s {
		n += r.stop - r.from
	}
	return n
}

// parts returns the parts of size positions, the last of each run being smaller.
func (s source) parts(size int) []part {
	var all []part
	at := 0
	for i, r := range s {
		for from := r.from; from < r.stop; from += size {
			stop := min(from+size, r.stop)
			all = append(all, part{run: i, from: from, stop: stop, at: at})
			at += stop - from
		}
	}
	return all
}

// flattened returns s with vectors in place of contiguous tensors.
func (s source) flattened() (source, error) {
	flat := make(source, len(s))
	for i, r := range s {
		tensors, err := flattened(r.series...)
		if err != nil {
			return nil, err
		}
		flat[i] = run{tensors, r.from, r.stop}
	}
	return flat, nil
}

// sampled reports whether a leaf is sampled, given its size in bytes.
func (d *describer) sampled(bytes int) bool {
	return d.profile != nil && d.profile.MaxBytes > 0 && int64(bytes) > d.profile.MaxBytes
}

// dense returns the positions of a tensor that are read: all, or a sample of blocks of block
// positions. bytes is the size of the leaf.
func (d *describer) dense(s series, bytes, block int) source {
	n := s[0].Size()
	if !d.sampled(bytes) || n <= sampleBlocks*block {
		return source{{s, 0, n}}
	}
	all := make(source, sampleBlocks)
	for i := range all {
		from := spaced(n-block, i)
		all[i] = run{s, from, from + block}
	}
	return all
}

// spaced returns number i of sampleBlocks numbers, evenly spaced from 0 to last.
func spaced(last, i int) int {
	const steps = sampleBlocks - 1
	return last/steps*i + last%steps*i/steps // last*i/steps, which could overflow
}

// A rowRun is consecutive batch rows of a ragged leaf, and their mask.
type rowRun struct {
	rows *ragged.Tensor
	mask tdict.Value
}

// rowRuns returns the batch rows of a ragged leaf that are read: all in one run or, of a sample,
// sampleBlocks runs, evenly spaced by bytes. Runs end with the row in which they exceed blockBytes.
func (d *describer) rowRuns(v *ragged.Tensor, mask tdict.Value) ([]rowRun, error) {
	whole := []rowRun{{v, mask}}
	if d.profile == nil || d.profile.MaxBytes == 0 || v.Shape().Size() == 0 {
		return whole, nil
	}
	before, err := bytesBefore(v)
	if err != nil || !d.sampled(before(v.Shape().Size())) {
		return whole, err
	}
	if v, mask, err = vectorOfRows(v, mask); err != nil {
		return nil, err
	}
	n := v.Shape()[0]
	var all []rowRun
	stop := 0
	for i := range sampleBlocks {
		at := spaced(max(0, before(n)-blockBytes), i)
		start := max(stop, sort.Search(n, func(row int) bool { return before(row+1) > at }))
		if start == n {
			break
		}
		stop = start + 1 + sort.Search(n-start-1, func(more int) bool { return before(start+1+more)-before(start) >= blockBytes })
		r, err := rowsOf(v, mask, start, stop)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// rowsOf returns the batch rows start <= row < stop.
func rowsOf(v *ragged.Tensor, mask tdict.Value, start, stop int) (r rowRun, err error) {
	if r.rows, err = v.Range(start, stop); err != nil {
		return r, err
	}
	switch m := mask.(type) {
	case *tensor.Tensor:
		r.mask, err = m.Narrow(0, start, stop-start)
	case *ragged.Tensor:
		r.mask, err = m.Range(start, stop)
	}
	return r, err
}

// bytesBefore returns a function that returns the bytes of the offsets and values of the batch rows
// before a row.
func bytesBefore(v *ragged.Tensor) (before func(row int) int, err error) {
	offsets := make([][]int64, v.Depth())
	for level := range offsets {
		if offsets[level], err = v.Layout().Offsets(level + 1); err != nil {
			return nil, err
		}
	}
	const offset = 8
	value := v.Features().Size() * v.DType().Size()
	return func(row int) int {
		bytes := 0
		for _, level := range offsets {
			bytes += offset * row
			row = int(level[row])
		}
		return bytes + value*row
	}, nil
}

// vectorOfRows returns a ragged leaf and its mask with one batch dim.
func vectorOfRows(v *ragged.Tensor, mask tdict.Value) (*ragged.Tensor, tdict.Value, error) {
	if m, ok := mask.(*tensor.Tensor); ok {
		wide, err := expanded(m, v.Shape())
		if err != nil {
			return nil, nil, err
		}
		mask = wide
	}
	if len(v.Shape()) == 1 {
		return v, mask, nil
	}
	rows, err := asVector(v)
	if err == nil && mask != nil {
		mask, err = asVector(mask)
	}
	if err != nil {
		return nil, nil, err
	}
	return rows.(*ragged.Tensor), mask, nil
}

// asVector returns a value with one batch dim.
func asVector(v tdict.Value) (tdict.Value, error) {
	td := tdict.New(v.Shape()...)
	if err := td.Set("x", v); err != nil {
		return nil, err
	}
	td, err := td.Reshape(v.Shape().Size())
	if err != nil {
		return nil, err
	}
	return td.Get("x")
}
