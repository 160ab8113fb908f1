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

// A tally takes the moments of rows of columns, block by block. A row without a number that counts
// is dropped before rows are cut into blocks. So padding, or rows that a mask hides, change no bit
// of the result.
type tally struct {
	all, part *moments
	block     int       // rows of a block
	room      []float64 // rows that wait for their block to be full
	waiting   int
}

// blockElements is about how many elements a block has.
const blockElements = 1 << 17

func newTally(columns int) *tally {
	return &tally{all: newMoments(columns), part: newMoments(columns), block: max(1, blockElements/max(1, columns))}
}

func (t *tally) columns() int { return len(t.all.mean) }

// dense adds the rows of x that mask, if it is not nil, does not hide: x [B... F...], with the
// given number of batch dims, mask over leading dims.
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

// lists adds the values of x that mask, if it is not nil, does not hide.
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
		return t.apart(x, mask, 0, x.Shape()[0])
	}
	return err
}

// fewRows is how many rows of a view are copied at a time.
const fewRows = 1 << 10

// apart adds the values of n rows of the first batch dim, whose values do not follow one another,
// as after a permutation. It copies parts with few rows and values, and goes into others.
func (t *tally) apart(x, mask *ragged.Tensor, first, n int) error {
	part, bits, err := both(x, mask, func(x *ragged.Tensor) (*ragged.Tensor, error) { return x.Index(ix.Range(first, first+n)) })
	if err != nil {
		return err
	}
	into := func(x *ragged.Tensor) (*ragged.Tensor, error) { return x.Index(ix.At(0)) }
	switch {
	case part.Shape().Size() <= fewRows && part.NumValues() <= t.block:
		into = (*ragged.Tensor).Clone
	case n > 1:
		if err := t.apart(x, mask, first, n/2); err != nil {
			return err
		}
		return t.apart(x, mask, first+n/2, n-n/2)
	}
	if part, bits, err = both(part, bits, into); err == nil {
		err = t.lists(part, bits)
	}
	if err != nil {
		return fmt.Errorf("rows from %d: %w", first, err)
	}
	return nil
}

// both calls fn with x, and with mask if that is not nil.
func both(x, mask *ragged.Tensor, fn func(*ragged.Tensor) (*ragged.Tensor, error)) (y, bits *ragged.Tensor, err error) {
	if y, err = fn(x); err == nil && mask != nil {
		bits, err = fn(mask)
	}
	return y, bits, err
}

// add adds the rows of x that hide, if it is not nil, does not hide. At each position of its first
// dim x has the given number of rows.
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
		room, err := t.load(part)
		if err != nil {
			return err
		}
		if hide != nil {
			if err := hide(room, start, stop); err != nil {
				return fmt.Errorf("present: %w", err)
			}
		}
		t.keep()
	}
	return nil
}

// load copies rows behind those that wait, and returns the copy.
func (t *tally) load(part *tensor.Tensor) (*tensor.Tensor, error) {
	from := t.waiting * t.columns()
	t.room = slices.Grow(t.room[:from], part.Size())[:from+part.Size()]
	room, err := tensor.From(t.room[from:], part.Shape()...)
	if err != nil {
		return nil, err
	}
	return room, part.CastInto(room)
}

// keep drops the rows without a number from the rows that were loaded, and takes the moments of
// full blocks.
func (t *tally) keep() {
	width := t.columns()
	loaded := t.room[t.waiting*width:]
	if width == 1 {
		t.waiting += keepNumbers(loaded)
	} else {
		t.keepRows(loaded)
	}
	for t.waiting >= t.block {
		t.take(t.block)
	}
}

// keepNumbers moves the numbers among values to the front, and returns how many there are.
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

// keepRows moves the rows with a number to those that wait.
func (t *tally) keepRows(loaded []float64) {
	for row := range slices.Chunk(loaded, t.columns()) {
		if !slices.ContainsFunc(row, isNumber) {
			continue
		}
		if to := t.room[t.waiting*len(row):]; &to[0] != &row[0] {
			copy(to, row)
		}
		t.waiting++
	}
}

func isNumber(v float64) bool { return v == v }

// take adds the moments of the first rows that wait.
func (t *tally) take(rows int) {
	size := rows * t.columns()
	t.part.of(t.room[:size])
	t.all.join(t.part)
	t.waiting -= rows
	copy(t.room, t.room[size:size+t.waiting*t.columns()])
}

// done returns the moments of all rows that were added.
func (t *tally) done() *moments {
	if t.waiting > 0 {
		t.take(t.waiting)
	}
	return t.all
}

// statistics returns means and deviations, each of the given shape.
func (t *tally) statistics(columns shapeops.Shape) (mean, std *tensor.Tensor, err error) {
	m := t.done()
	stds, err := m.deviations()
	if err != nil {
		return nil, nil, err
	}
	if mean, err = tensor.From(m.mean, columns...); err != nil {
		return nil, nil, err
	}
	std, err = tensor.From(stds, columns...)
	return mean, std, err
}
