package transform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A tally computes the moments of columns, block by block of rows. It drops a row without a number
// that counts before it divides rows into blocks. So padding and hidden rows do not change a bit of
// the result.
type tally struct {
	all, part *moments
	factor    float64   // of all values
	block     int       // rows in a block
	buffer    []float64 // rows of an incomplete block
	waiting   int       // number of these rows
}

// blockElements is the approximate number of elements in a block.
const blockElements = 1 << 17

func newTally(columns int) *tally {
	return &tally{all: newMoments(columns), part: newMoments(columns), factor: 1, block: max(1, blockElements/max(1, columns))}
}

func (t *tally) columns() int { return len(t.all.mean) }

// dense adds the rows of x that mask, if not nil, does not hide. x is [B... F...], with dims batch
// dims; mask is over leading dims.
func (t *tally) dense(x, mask *tensor.Tensor, dims int) error {
	rows := x.Shape()[1:dims].Size()
	if rows <= t.block || dims == 1 {
		return t.add(x, rows, hiding(mask))
	}
	for i := range x.Shape()[0] {
		part, err := x.Index(ix.At(i))
		if err != nil {
			return err
		}
		hidden := mask
		if mask != nil && len(mask.Shape()) > 0 {
			if hidden, err = mask.Index(ix.At(i)); err != nil {
				return err
			}
		}
		if err := t.dense(part, hidden, dims-1); err != nil {
			return err
		}
	}
	return nil
}

// lists adds the values of x that mask, if not nil, does not hide.
func (t *tally) lists(x, mask *ragged.Tensor) error {
	values, err := x.ValuesView()
	var hide hider
	if err == nil && mask != nil {
		hide, err = hidingLists(x.Layout(), mask)
	}
	switch {
	case err == nil:
		return t.add(values, 1, hide)
	case errors.Is(err, tensor.ErrLayout) && len(x.Shape()) > 0:
		return t.scattered(x, mask, 0, x.Shape()[0])
	}
	return err
}

// fewRows is the number of rows of a view that are copied at a time.
const fewRows = 1 << 10

// scattered adds the values of n rows of the first batch dim, from row first on, whose values are
// not consecutive, as after a permutation. It copies parts with few rows and values, and divides
// others.
func (t *tally) scattered(x, mask *ragged.Tensor, first, n int) error {
	part, bits, err := both(x, mask, func(x *ragged.Tensor) (*ragged.Tensor, error) { return x.Index(ix.Range(first, first+n)) })
	if err != nil {
		return err
	}
	into := func(x *ragged.Tensor) (*ragged.Tensor, error) { return x.Index(ix.At(0)) }
	switch {
	case part.Shape().Size() <= fewRows && part.NumValues() <= t.block:
		into = (*ragged.Tensor).Clone
	case n > 1:
		if err := t.scattered(x, mask, first, n/2); err != nil {
			return err
		}
		return t.scattered(x, mask, first+n/2, n-n/2)
	}
	if part, bits, err = both(part, bits, into); err == nil {
		err = t.lists(part, bits)
	}
	if err != nil {
		return fmt.Errorf("rows from %d: %w", first, err)
	}
	return nil
}

// both returns fn(x), and fn(mask) if mask is not nil.
func both(x, mask *ragged.Tensor, fn func(*ragged.Tensor) (*ragged.Tensor, error)) (y, bits *ragged.Tensor, err error) {
	if y, err = fn(x); err == nil && mask != nil {
		bits, err = fn(mask)
	}
	return y, bits, err
}

// add adds the rows of x that hide, if not nil, does not hide. x has rows rows at each position of
// its first dim.
func (t *tally) add(x *tensor.Tensor, rows int, hide hider) error {
	n, step := x.Shape()[0], max(1, t.block/max(1, rows))
	if x.Size() == 0 {
		n = 0
	}
	for start := 0; start < n; start += step {
		stop := min(start+step, n)
		part, err := x.Index(ix.Range(start, stop))
		if err != nil {
			return err
		}
		copied, err := t.load(part)
		if err != nil {
			return err
		}
		if hide != nil {
			if err := hide(copied, start, stop); err != nil {
				return fmt.Errorf("present: %w", err)
			}
		}
		t.keep()
	}
	return nil
}

// load copies rows to the buffer, after the waiting ones, and returns the copy.
func (t *tally) load(part *tensor.Tensor) (*tensor.Tensor, error) {
	from := t.waiting * t.columns()
	t.buffer = slices.Grow(t.buffer[:from], part.Size())[:from+part.Size()]
	copied, err := tensor.From(t.buffer[from:], part.Shape()...)
	if err != nil {
		return nil, err
	}
	if err := part.CastInto(copied); err != nil || t.factor == 1 {
		return copied, err
	}
	for i := range t.buffer[from:] {
		t.buffer[from+i] *= t.factor
	}
	return copied, nil
}

// keep drops rows without a number from the loaded rows, and computes the moments of full blocks.
func (t *tally) keep() {
	width := t.columns()
	loaded := t.buffer[t.waiting*width:]
	if width == 1 {
		t.waiting += keepNumbers(loaded)
	} else {
		t.keepRows(loaded)
	}
	for t.waiting >= t.block {
		t.take(t.block)
	}
}

// keepNumbers moves the numbers among values to the front, and returns their count.
func keepNumbers(values []float64) (n int) {
	for n < len(values) && isNumber(values[n]) {
		n++
	}
	for _, v := range values[n:] {
		values[n] = v
		if isNumber(v) {
			n++
		}
	}
	return n
}

// keepRows adds the loaded rows that have a number to the waiting rows.
func (t *tally) keepRows(loaded []float64) {
	for row := range slices.Chunk(loaded, t.columns()) {
		if !slices.ContainsFunc(row, isNumber) {
			continue
		}
		if to := t.buffer[t.waiting*len(row):]; &to[0] != &row[0] {
			copy(to, row)
		}
		t.waiting++
	}
}

func isNumber(v float64) bool { return v == v }

// take adds the moments of the first waiting rows.
func (t *tally) take(rows int) {
	size := rows * t.columns()
	t.part.of(t.buffer[:size])
	t.all.join(t.part)
	t.waiting -= rows
	copy(t.buffer, t.buffer[size:size+t.waiting*t.columns()])
}

// done returns the moments of all rows added.
func (t *tally) done() *moments {
	if t.waiting > 0 {
		t.take(t.waiting)
	}
	return t.all
}

// statistics returns means and deviations, each of the given shape. again returns the moments of
// the same values times a factor.
func (t *tally) statistics(columns shapeops.Shape, again func(factor float64) (*moments, error)) (mean, std *tensor.Tensor, err error) {
	m := t.done()
	stds, err := m.deviations(again)
	if err != nil {
		return nil, nil, err
	}
	if mean, err = tensor.From(m.mean, columns...); err != nil {
		return nil, nil, err
	}
	std, err = tensor.From(stds, columns...)
	return mean, std, err
}
