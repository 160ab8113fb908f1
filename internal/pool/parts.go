package pool

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Part is a tensor of a dictionary that is a ragged tensor.
type Part struct {
	Name  string
	DType tensor.DType
	Shape shapeops.Shape
	Used  int // bytes that have a meaning, the first ones; set by [PartsOf]
}

// Size returns the size in bytes.
func (p *Part) Size() int { return p.Shape.Size() * p.DType.Size() }

// checkSize returns an error unless an int holds the size in bytes.
func (p *Part) checkSize() error {
	if err := p.Shape.Check(); err != nil {
		return err
	}
	if p.Shape.Size() > math.MaxInt/p.DType.Size() {
		return fmt.Errorf("%w: got %v %v, want a size in bytes that an int holds", shapeops.ErrShape, p.DType, p.Shape)
	}
	return nil
}

// Parts are the parts of a ragged tensor, of which everything but numbers was checked.
type Parts struct {
	Batch    shapeops.Shape
	DType    tensor.DType
	Features shapeops.Shape
	Depth    int   // number of levels
	widths   []int // of the lengths of level 2, 3 ... and of the pool
}

// Check checks the parts of a ragged tensor in a dictionary of the given batch shape. The ragged
// tensor has the batch shape of the row numbers, which begins with batch. Check returns
// fileformat.ErrCorrupt.
func Check(list []Part, batch shapeops.Shape) (*Parts, error) {
	named := map[string]*Part{}
	for i := range list {
		if named[list[i].Name] != nil {
			return nil, fileformat.Corrupt("a ragged tensor with two entries %s", list[i].Name)
		}
		named[list[i].Name] = &list[i]
	}
	p := &Parts{Depth: 1}
	for named[lengthsOf(p.Depth+1)] != nil {
		p.Depth++
	}
	want := []string{Row} // then the lengths of each level, and the pool
	for level := 1; level <= p.Depth; level++ {
		want = append(want, lengthsOf(level))
	}
	want = append(want, Values)
	for _, name := range want {
		if named[name] == nil {
			return nil, fileformat.Corrupt("a ragged tensor without %s: %s", name, advice)
		}
	}
	for i := range list {
		if !slices.Contains(want, list[i].Name) {
			return nil, fileformat.Corrupt("a ragged tensor with a further entry %q", list[i].Name)
		}
	}
	p.Batch, p.DType = named[Row].Shape, named[Values].DType
	if !p.Batch.HasPrefix(batch) {
		return nil, fileformat.Corrupt("%s: %w: got %v, want a shape that begins with the batch shape %v", Row, shapeops.ErrShape, p.Batch, batch)
	}
	for _, name := range want {
		if err := p.add(named[name]); err != nil {
			return nil, err
		}
	}
	p.Features = named[Values].Shape[len(p.Batch)+1:]
	if dims := len(p.Batch) + p.Depth + len(p.Features); dims > maxDims {
		return nil, fileformat.Corrupt("%w: got a ragged tensor of %d dims, want at most %d", shapeops.ErrShape, dims, maxDims)
	}
	return p, nil
}

// add checks the dtype and shape of a part, and notes its width.
func (p *Parts) add(part *Part) error {
	b, shape := len(p.Batch), part.Shape
	if err := part.checkSize(); err != nil {
		return fileformat.Corrupt("%s: %w", part.Name, err)
	}
	switch {
	case part.Name != Values && part.DType != tensor.Int64:
		return fileformat.Corrupt("%s: %w: got %v, want int64", part.Name, tensor.ErrDType, part.DType)
	case part.Name == Lengths && p.Depth == 1 && shape.Equal(noLengths(p.Batch)):
		p.Depth = 0
		return nil
	case part.Name == Lengths || part.Name == Row:
		if !shape.Equal(p.Batch) {
			return fileformat.Corrupt("%s: %w: got %v, want %v as %s", part.Name, shapeops.ErrShape, shape, p.Batch, Row)
		}
		return nil
	case !shape.HasPrefix(p.Batch) || len(shape) == b || part.Name != Values && len(shape) > b+1:
		return fileformat.Corrupt("%s: %w: got %v, want %v and one dim more", part.Name, shapeops.ErrShape, shape, p.Batch)
	}
	p.widths = append(p.widths, shape[b])
	return nil
}

// noLengths returns the shape of @lengths for a tensor without levels: no elements.
func noLengths(batch shapeops.Shape) shapeops.Shape { return append(batch.Clone(), 0) }

// Text returns dtype and shape, such as "ragged int32 [3 * * 2]".
func (p *Parts) Text() string {
	dims := []any{}
	for _, n := range p.Batch {
		dims = append(dims, n)
	}
	for range p.Depth {
		dims = append(dims, "*")
	}
	for _, n := range p.Features {
		dims = append(dims, n)
	}
	return fmt.Sprint("ragged ", p.DType, " ", dims)
}

// Width returns the width of a pool: count/rows, rounded up.
func Width(count, rows int) int {
	if rows == 0 {
		return 0
	}
	w := count / rows
	if count%rows > 0 {
		w++
	}
	return w
}

// An Ints calls each with the first n numbers of a part, in pieces that are valid during the call.
// It checks that the part has them before it calls each. n is not 0. Two parts may be read at a
// time.
type Ints func(part string, n int, each func(numbers []int64) error) error

// atOnce is the number of rows from which row numbers and lengths are read at the same time.
const atOnce = 1 << 15

// Layout reads the row numbers and the lengths. It returns the layout of the ragged tensor, from
// known if it has an equal one, and the shape of the values, without what follows them in the pool.
// It returns the errors of read, and fileformat.ErrCorrupt if rows were picked, joined or changed.
// It allocates memory for lengths in the first call of each, so not if read finds no numbers.
func (p *Parts) Layout(known *Layouts, read Ints) (l *ragged.Layout, values shapeops.Shape, err error) {
	rows, readers := p.Batch.Size(), 1
	if rows >= atOnce {
		readers = 2
	}
	err = workers.Do(context.Background(), 2, readers, func(i int) (err error) {
		if i == 1 {
			l, values, err = p.levels(known, read)
		} else if rows > 0 {
			numbers := rowNumbers{}
			err = read(Row, rows, numbers.check)
		}
		return err
	})
	return l, values, err
}

// levels returns the layout of the lengths, and the shape of the values.
func (p *Parts) levels(known *Layouts, read Ints) (*ragged.Layout, shapeops.Shape, error) {
	l, err := known.batch(p.Batch)
	count := p.Batch.Size()
	for level := 1; level <= p.Depth && err == nil; level++ {
		ends := lengths{name: lengthsOf(level), count: count}
		if level > 1 {
			err = p.checkWidth(ends.name, p.widths[level-2], count)
		}
		if err == nil && count > 0 {
			err = read(ends.name, count, ends.add)
		}
		if err == nil {
			l, err = known.nest(l, ends.offsets())
		}
		count = int(ends.total)
	}
	if err == nil {
		err = p.checkWidth(Values, p.widths[len(p.widths)-1], count)
	}
	return l, append(shapeops.Shape{count}, p.Features...), err
}

// checkWidth returns an error unless a pool of count numbers or values has the width got.
func (p *Parts) checkWidth(name string, got, count int) error {
	rows := p.Batch.Size()
	if want := Width(count, rows); got != want {
		return fileformat.Corrupt("%s: got the width %d, want %d for %d in %d rows: %s", name, got, want, count, rows, advice)
	}
	return nil
}

const advice = "Python picked, joined or changed rows of the pool, which holds all values end to end: unpack first, see docs/from-python.md"

// rowNumbers checks row numbers.
type rowNumbers struct {
	first int64
	n     int
}

const numberBits = 32 // of a row number, below the tag

// check checks the next numbers.
func (r *rowNumbers) check(numbers []int64) error {
	if r.n == 0 {
		r.first = numbers[0] &^ (1<<numberBits - 1)
	}
	want, wrong := r.first+int64(r.n), r.first>>63 // not 0 if the tag has 32 bits
	for i, got := range numbers {
		wrong |= got ^ (want + int64(i))
	}
	if wrong != 0 {
		return r.reason(numbers)
	}
	r.n += len(numbers)
	return nil
}

// reason returns the error for the first number that is wrong.
func (r *rowNumbers) reason(numbers []int64) error {
	i := slices.IndexFunc(numbers, func(got int64) bool {
		r.n++
		return got < 0 || got != r.first+int64(r.n-1)
	})
	number := numbers[i] & (1<<numberBits - 1)
	leaf := "the saved leaf"
	if numbers[i]-number != r.first {
		leaf = "another saved leaf"
	}
	return fileformat.Corrupt("row %d is row %d of %s: %s", r.n-1, number, leaf, advice)
}

// lengths makes offsets of the lengths of count rows.
type lengths struct {
	name  string // of the part
	count int
	ends  []int64
	total int64
}

// add adds the next lengths.
func (l *lengths) add(numbers []int64) error {
	if l.ends == nil {
		l.ends = make([]int64, 1, l.count+1)
	}
	at := len(l.ends)
	l.ends = l.ends[:at+len(numbers)]
	ends, total, wrong := l.ends[at:], l.total, int64(0)
	for i, n := range numbers {
		total += n
		wrong |= n | total // negative after an overflow, too
		ends[i] = total
	}
	if wrong < 0 {
		return l.reason(numbers, at-1)
	}
	l.total = total
	return nil
}

// reason returns the error for the first of numbers that is wrong; row is the row of the first one.
func (l *lengths) reason(numbers []int64, row int) error {
	total := l.total
	i := slices.IndexFunc(numbers, func(n int64) bool {
		if n < 0 || n > math.MaxInt-total {
			return true
		}
		total += n
		return false
	})
	return fileformat.Corrupt("%s: row %d: %w: got %d after %d values, want 0 or more, and a sum that an int holds", l.name, row+i, ragged.ErrLengths, numbers[i], total)
}

// offsets returns the offsets.
func (l *lengths) offsets() []int64 {
	if l.ends == nil {
		return []int64{0}
	}
	return l.ends
}
