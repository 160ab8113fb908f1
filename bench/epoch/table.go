package main

import (
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// valueBytes is the size of a float32.
const valueBytes = 4

// leaf is the key of the values. The first value of a row is its number: see numberOf.
const leaf = "x"

// numberOf returns the first value of a row. It is the same for rows whose numbers float32 cannot
// distinguish.
func numberOf(row int) float32 { return float32(row % (1 << 24)) }

// A table is rows of values, in memory or in mapped files.
type table struct {
	td      *tdict.TensorDict
	source  loader.Source
	offsets []int64 // row r has the values from offsets[r] to offsets[r+1]
	dense   bool    // all rows have the same length
	values  []float32
}

// rows returns the number of rows.
func (t *table) rows() int { return len(t.offsets) - 1 }

// bytes returns the size of the values in bytes.
func (t *table) bytes() int { return valueBytes * int(t.offsets[t.rows()]) }

// denseTable returns a table in memory whose rows have the same number of values.
func denseTable(rows, features int) (*table, error) {
	t := &table{offsets: make([]int64, rows+1), dense: true}
	for row := range rows {
		t.offsets[row+1] = int64((row + 1) * features)
	}
	t.fill()
	x, err := tensor.From(t.values, rows, features)
	if err != nil {
		return nil, err
	}
	return t.of(x)
}

// raggedTable returns a table in memory whose rows have a random number of values: from 1 to almost
// twice the average.
func raggedTable(rows, features int) (*table, error) {
	g := rand.New(rand.NewPCG(1, 0))
	t := &table{offsets: make([]int64, rows+1)}
	for row := range rows {
		t.offsets[row+1] = t.offsets[row] + 1 + g.Int64N(int64(2*features-1))
	}
	t.fill()
	values, err := tensor.From(t.values, len(t.values))
	if err != nil {
		return nil, err
	}
	x, err := ragged.FromOffsets(values, t.offsets)
	if err != nil {
		return nil, err
	}
	return t.of(x)
}

// fill makes the values.
func (t *table) fill() {
	t.values = make([]float32, t.offsets[t.rows()])
	for i := range t.values {
		t.values[i] = float32(i & 1023)
	}
	for row := range t.rows() {
		t.values[t.offsets[row]] = numberOf(row)
	}
}

// of puts a leaf into the table.
func (t *table) of(x tdict.Value) (_ *table, err error) {
	t.td = tdict.New(t.rows())
	if err := t.td.Set(leaf, x); err != nil {
		return nil, err
	}
	t.source, err = loader.From(t.td)
	return t, err
}

// groupRows is the average number of rows in a group.
const groupRows = 8

// ids returns group ids for rows. A group is 1 to almost 2*groupRows neighbours.
func ids(rows int) *tensor.Tensor {
	g := rand.New(rand.NewPCG(2, 0))
	all := make([]int64, rows)
	for row, id := 0, int64(0); row < rows; id++ {
		for left := 1 + g.IntN(2*groupRows-1); left > 0 && row < rows; left-- {
			all[row] = id
			row++
		}
	}
	return tensor.Vector(all...)
}
