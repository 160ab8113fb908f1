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
}

// A Form is the parts of a ragged tensor, of which everything but numbers was checked.
type Form struct {
	Batch    shapeops.Shape
	DType    tensor.DType
	Features shapeops.Shape
	Depth    int   // number of levels
	widths   []int // of the lengths of level 2, 3 ... and of the pool
}

// Check checks the parts of a ragged tensor in a dictionary of the given batch shape. The ragged
// tensor has the batch shape of the row numbers, which begins with batch. Check returns
// fileformat.ErrCorrupt.
func Check(parts []Part, batch shapeops.Shape) (*Form, error) {
	named := map[string]*Part{}
	for i := range parts {
		if named[parts[i].Name] != nil {
			return nil, fileformat.Corrupt("a ragged tensor with two entries %q", parts[i].Name)
		}
		named[parts[i].Name] = &parts[i]
	}
	f := &Form{Depth: 1}
	for named[LengthsOf(f.Depth+1)] != nil {
		f.Depth++
	}
	want := []string{Row}
	for level := 1; level <= f.Depth; level++ {
		want = append(want, LengthsOf(level))
	}
	want = append(want, Values)
	for _, name := range want {
		if named[name] == nil {
			return nil, fileformat.Corrupt("a ragged tensor without %s", name)
		}
	}
	for i := range parts {
		if !slices.Contains(want, parts[i].Name) {
			return nil, fileformat.Corrupt("a ragged tensor with a further entry %q", parts[i].Name)
		}
	}
	f.Batch, f.DType = named[Row].Shape, named[Values].DType
	if !f.Batch.HasPrefix(batch) {
		return nil, fileformat.Corrupt("%s: %w: got %v, want a shape that begins with the batch shape %v", Row, shapeops.ErrShape, f.Batch, batch)
	}
	for _, name := range want {
		if err := f.checkPart(named[name]); err != nil {
			return nil, err
		}
	}
	f.Features = named[Values].Shape[len(f.Batch)+1:]
	return f, nil
}

// checkPart checks the dtype and shape of a part, and notes its width.
func (f *Form) checkPart(p *Part) error {
	b := len(f.Batch)
	switch {
	case p.Name != Values && p.DType != tensor.Int64:
		return fileformat.Corrupt("%s: %w: got %v, want int64", p.Name, tensor.ErrDType, p.DType)
	case p.Shape.Size() > math.MaxInt/p.DType.Size():
		return fileformat.Corrupt("%s: %w: got %v %v, want a size in bytes that an int holds", p.Name, shapeops.ErrShape, p.DType, p.Shape)
	case p.Name == Lengths && f.Depth == 1 && p.Shape.Equal(noLengths(f.Batch)):
		f.Depth = 0
		return nil
	case p.Name == Lengths || p.Name == Row:
		if !p.Shape.Equal(f.Batch) {
			return fileformat.Corrupt("%s: %w: got %v, want %v as %s", p.Name, shapeops.ErrShape, p.Shape, f.Batch, Row)
		}
		return nil
	case !p.Shape.HasPrefix(f.Batch) || len(p.Shape) == b || p.Name != Values && len(p.Shape) > b+1:
		return fileformat.Corrupt("%s: %w: got %v, want %v and one dim more", p.Name, shapeops.ErrShape, p.Shape, f.Batch)
	}
	f.widths = append(f.widths, p.Shape[b])
	return nil
}

// noLengths returns the shape of the lengths of a tensor without levels, of which there are none.
func noLengths(batch shapeops.Shape) shapeops.Shape { return append(batch.Clone(), 0) }

// Text returns dtype and shape, such as "ragged int32 [3 * * 2]".
func (f *Form) Text() string {
	dims := []any{}
	for _, n := range f.Batch {
		dims = append(dims, n)
	}
	for range f.Depth {
		dims = append(dims, "*")
	}
	for _, n := range f.Features {
		dims = append(dims, n)
	}
	return fmt.Sprint("ragged ", f.DType, " ", dims)
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

// Layout reads the row numbers and the lengths, and returns the layout of the ragged tensor, from
// known if it has an equal one. It returns the errors of read, and fileformat.ErrCorrupt if rows
// were picked, joined or changed. Lengths take memory once read has found them.
func (f *Form) Layout(known *Layouts, read Ints) (l *ragged.Layout, err error) {
	rows, readers := f.Batch.Size(), 1
	if rows >= atOnce {
		readers = 2
	}
	err = workers.Do(context.Background(), 2, readers, func(i int) (err error) {
		if i == 1 {
			l, err = f.levels(known, read)
		} else if rows > 0 {
			numbers := rowNumbers{}
			err = read(Row, rows, numbers.check)
		}
		return err
	})
	return l, err
}

// levels returns the layout of the lengths.
func (f *Form) levels(known *Layouts, read Ints) (*ragged.Layout, error) {
	l, err := known.batch(f.Batch)
	count := f.Batch.Size()
	for level := 1; level <= f.Depth && err == nil; level++ {
		if level > 1 {
			err = f.checkWidth(LengthsOf(level), f.widths[level-2], count)
		}
		ends := lengths{count: count}
		if err == nil && count > 0 {
			err = read(LengthsOf(level), count, ends.add)
		}
		if err == nil {
			l, err = known.nest(l, ends.offsets())
		}
		count = int(ends.total)
	}
	if err == nil {
		err = f.checkWidth(Values, f.widths[len(f.widths)-1], count)
	}
	return l, err
}

// checkWidth returns an error unless a pool of count numbers or values has the width got.
func (f *Form) checkWidth(name string, got, count int) error {
	rows := f.Batch.Size()
	if want := Width(count, rows); got != want {
		return fileformat.Corrupt("%s: got the width %d, want %d for %d in %d rows: %s", name, got, want, count, rows, advice)
	}
	return nil
}

// Used returns the shape of the values, without what follows them in the pool.
func (f *Form) Used(l *ragged.Layout) (shapeops.Shape, error) {
	count, err := l.NumRows(-1)
	return append(shapeops.Shape{count}, f.Features...), err
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
	want, wrong := r.first+int64(r.n), r.first>>63
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
	return fileformat.Corrupt("row %d: %w: got %d after %d values, want 0 or more, and a sum that an int holds", row+i, ragged.ErrLengths, numbers[i], total)
}

// offsets returns the offsets.
func (l *lengths) offsets() []int64 {
	if l.ends == nil {
		return []int64{0}
	}
	return l.ends
}
