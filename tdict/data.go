package tdict

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Data holds values that are no tensors, one for each row of a batch: names, labels, settings. A
// value is nil, bool, int64, float64, string, []any of such values, or *[Object]. As long as all
// rows agree, one is kept for all (Python: NonTensorData), and one per row once they differ
// (NonTensorStack).
//
// Operations on shape return Data of its own: unlike with a tensor, what is written to a part that
// Index returned does not change the whole, nor the other way round. [TensorDict.SetIndex] changes
// Data in place, but Data that lies beside mapped files, which keeps its values.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Data struct {
	rows   *plan.Rows
	values []any // of each row that rows counts; none is ever changed
	fixed  bool  // the rows keep their values
}

// NewData returns Data with one value for every row of a batch; [DataFrom] takes one for each.
// Without a batch shape it has one row, and [TensorDict.Set] repeats it to the batch shape of the
// dictionary. Integers of other types become int64, and a float32 becomes float64.
//
// A slice of one of these types, or of any, becomes a []any, and a map from string to one an
// [Object] with its names in order. The type can have two levels, as map[string][]float64 has;
// deeper values are []any and map[string]any. All are copied.
//
// NewData returns [ErrKind] for a value of another type, such as []byte, or beyond an int64; inside
// a slice or map the error says where: value["a"][2]. It returns [ErrDepth] if the value is nested
// more than 256 deep, and shapeops.ErrShape.
func NewData(value any, batch ...int) (*Data, error) {
	v, err := plain(value, 0)
	if err != nil {
		return nil, err
	}
	rows, err := plan.OneRow(batch...)
	if err != nil {
		return nil, err
	}
	return &Data{rows: rows, values: []any{v}}, nil
}

// DataFrom returns Data with a value for each row of a batch, row-major; it copies values. Its
// errors are those of [NewData], and shapeops.ErrShape if shape does not hold len(values) rows.
func DataFrom[T any](values []T, sizes ...int) (*Data, error) {
	rows, err := plan.NewRows(sizes...)
	if err != nil {
		return nil, err
	}
	if n := rows.Count(); n != len(values) {
		return nil, fmt.Errorf("%w: got %d values, want the %d of %v",
			shapeops.ErrShape, len(values), n, rows.Shape())
	}
	all := make([]any, len(values))
	for i, v := range values {
		if all[i], err = plain(v, 0); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	return &Data{rows: rows, values: all}, nil
}

// Shape returns the batch shape. The caller must not change it. The zero Data has none.
func (d *Data) Shape() shapeops.Shape {
	if !d.made() {
		return nil
	}
	return d.rows.Shape()
}

// Uniform returns the value of all rows, or false if they differ or there is no row.
func (d *Data) Uniform() (any, bool) {
	if !d.made() {
		return nil, false
	}
	if row, ok := d.rows.One(); ok {
		return d.values[row], true
	}
	var first any
	none, last := true, -1
	for row := range d.rows.Distinct() {
		switch {
		case none:
			first, none = d.values[row], false
		case row != last && !same(first, d.values[row]):
			return nil, false
		}
		last = row
	}
	return first, !none
}

// At returns the value at a position, one number for each dim, negative ones from the end. It
// returns shapeops.ErrIndex if there is no such row, and [ErrKind] if d is nil or zero. The caller
// must not change what it returns.
func (d *Data) At(position ...int) (any, error) {
	if !d.made() {
		return nil, errNoData
	}
	row, err := d.rows.At(position...)
	if err != nil {
		return nil, err
	}
	return d.values[row], nil
}

// All returns an iterator over the values of the rows, row-major. The caller must not change them.
func (d *Data) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		if !d.made() {
			return
		}
		for row := range d.rows.All() {
			if !yield(d.values[row]) {
				return
			}
		}
	}
}

// Execute returns what p.Plan makes of d, with every value where its row goes, and nil where the
// plan pads, whatever p.Fill is.
func (v *dataOps) Execute(p *plan.Pass) (*Data, error) {
	d := (*Data)(v)
	if !d.made() {
		return nil, errNoData
	}
	rows, err := d.rows.Execute(p)
	if err != nil {
		return nil, err
	}
	out := &Data{rows: rows, values: slices.Clip(d.values), fixed: d.fixed && isView(p.Plan, d.Shape())}
	if rows.Count() > len(d.values) {
		out.values = append(out.values, nil)
	}
	if out.crowded() {
		out.trim()
	}
	return out, nil
}

// Fixed returns Data with the rows of v, which keep their values: what would change one is
// tensor.ErrReadOnly, also in a part of it where a tensor would be a view, as Index with At and
// Range returns. It is for Data that is saved as a whole, as beside mapped files. A copy, as Clone,
// Take or Pad returns, can be changed.
func (v *dataOps) Fixed() *Data { return &Data{v.rows, v.values, true} }

// Shared returns the value of all rows as [Data.Uniform] does, and without rows the value that
// they would have, if v keeps it.
func (v *dataOps) Shared() (any, bool) {
	if len(v.values) == 1 && v.rows.Shape().Size() == 0 {
		return v.values[0], true
	}
	return (*Data)(v).Uniform()
}

// isView reports whether the plan of a tensor that lies in order is a view of it.
func isView(p *plan.Plan, s shapeops.Shape) bool {
	v, err := shape.Contiguous(s)
	if err != nil {
		return false
	}
	_, yes, err := p.View(v)
	return yes && err == nil
}

// identical reports whether two values are saved alike: NaN is NaN, and 0 is not -0.
func identical(a, b any) bool {
	if text, ok := a.(string); ok {
		return b == any(text)
	}
	return jsonText(a) == jsonText(b)
}

// checkFixed returns tensor.ErrReadOnly if d keeps its values, and rows of it are to become those
// of other, which has as many.
func (d *Data) checkFixed(rows, other *Data) error {
	if !d.fixed || rows.Shape().Size() == 0 {
		return nil
	}
	numbers, others := rows.numbers(), other.numbers() // one stands for all
	for i := range max(len(numbers), len(others)) {
		want := rows.values[numbers[min(i, len(numbers)-1)]]
		got := other.values[others[min(i, len(others)-1)]]
		if !identical(got, want) {
			return fmt.Errorf("%w: got %s, want %s as it is: data beside mapped files is saved as a whole; use a tensor for what changes, or Save a Clone",
				tensor.ErrReadOnly, shortened(jsonText(got)), shortened(jsonText(want)))
		}
	}
	return nil
}

// made reports whether d is neither nil nor a zero value.
func (d *Data) made() bool { return d != nil && d.rows != nil }

var errNoData = fmt.Errorf("%w: got no data", ErrKind)

// Join lays the rows of xs side by side as p.Join says, with nil where it pads.
func (v *dataOps) Join(p *plan.Pass, xs []*Data) (*Data, error) {
	d := (*Data)(v)
	rows := make([]*plan.Rows, len(xs))
	var values []any
	for i, x := range xs {
		if !x.made() {
			return nil, fmt.Errorf("value %d: %w", i, errNoData)
		}
		rows[i] = x.rows
		values = append(values, x.values...)
	}
	if value, ok := uniform(xs); ok && !padded(p, rows) {
		return joinUniform(p, value, rows)
	}
	joined, err := d.rows.Join(p, rows)
	if err != nil {
		return nil, err
	}
	if joined.Count() > len(values) {
		values = append(values, nil)
	}
	out := &Data{rows: joined, values: values}
	out.compact()
	return out, nil
}

// uniform returns the value of all rows of all of xs, if that is known without looking at each row.
func uniform(xs []*Data) (any, bool) {
	var first any
	for i, x := range xs {
		row, ok := x.rows.One()
		if !ok || i > 0 && !same(first, x.values[row]) {
			return nil, false
		}
		first = x.values[row]
	}
	return first, len(xs) > 0
}

// padded reports whether xs joined as p.Join says are padded.
func padded(p *plan.Pass, xs []*plan.Rows) bool {
	if p.CheckJoin(len(xs)) != nil || !p.Join.Padded() {
		return false
	}
	sizes, err := p.Join.Joined(len(xs), false, func(i int) shapeops.Shape { return xs[i].Shape() })
	return err == nil && slices.ContainsFunc(xs, func(x *plan.Rows) bool { return !x.Shape().Equal(sizes[1:]) })
}

// joinUniform is Join of rows that all have one value, without padding.
func joinUniform(p *plan.Pass, value any, xs []*plan.Rows) (*Data, error) {
	if err := p.CheckJoin(len(xs)); err != nil {
		return nil, err
	}
	sizes, err := p.Join.Joined(len(xs), false, func(i int) shapeops.Shape { return xs[i].Shape() })
	if err != nil {
		return nil, err
	}
	rows, err := plan.OneRow(sizes...)
	return &Data{rows: rows, values: []any{value}}, err
}

// AddJoin adds to tr: dst = xs joined as p.Join says.
func (v *dataOps) AddJoin(tr *tensor.Transfer, dst *Data, p *plan.Pass, xs []*Data) error {
	d := (*Data)(v)
	if !dst.made() {
		return errNoData
	}
	out, err := (*dataOps)(d).Join(p, xs)
	if err != nil {
		return err
	}
	return dst.commit(tr, out)
}

// Clone returns a copy of d. It returns [ErrKind] if d is nil or zero.
func (d *Data) Clone() (*Data, error) {
	if !d.made() {
		return nil, errNoData
	}
	rows, err := d.rows.Clone()
	return &Data{rows: rows, values: slices.Clip(d.values)}, err
}

// Equal reports whether d and x have the same shape and equal values: NaN differs from itself, an
// int64 from a float64, and the order of an Object's fields counts.
func (d *Data) Equal(x *Data) bool {
	text, err := d.Diff(x)
	return text == "" && err == nil
}

// Diff describes the first difference between d and x, or returns "" if they are equal. It returns
// [ErrKind] if x is nil.
func (d *Data) Diff(x *Data) (string, error) {
	if !x.made() {
		return "", errNoData
	}
	if !d.Shape().Equal(x.Shape()) {
		return fmt.Sprintf("%s, other %s", describeData(d), describeData(x)), nil
	}
	if a, ok := d.rows.One(); ok {
		if b, ok := x.rows.One(); ok && same(d.values[a], x.values[b]) {
			return "", nil
		}
	}
	i, last := 0, [2]int{-1, -1}
	others := x.numbers()
	for row := range d.rows.All() {
		other := others[min(i, len(others)-1)]
		if pair := [2]int{row, other}; pair != last {
			if !same(d.values[row], x.values[other]) {
				a, b := jsonText(d.values[row]), jsonText(x.values[other])
				return fmt.Sprintf("row %d is %s, other %s", i, a, b), nil
			}
			last = pair
		}
		i++
	}
	return "", nil
}

// numbers returns the rows of d, or a single one that stands for all.
func (d *Data) numbers() []int {
	if row, ok := d.rows.One(); ok {
		return []int{row}
	}
	return slices.Collect(d.rows.All())
}

// mostValues is how many values String shows.
const mostValues = 8

// String returns the shape and the values as JSON, long ones cut: one, if all rows agree, or the
// first ones.
func (d *Data) String() string {
	if !d.made() {
		return "data <nil>"
	}
	if v, ok := d.Uniform(); ok {
		return fmt.Sprintf("data %v %s", d.Shape(), shortened(jsonText(v)))
	}
	return fmt.Sprintf("data %v %s", d.Shape(), d.firstTexts(mostValues))
}

// firstTexts returns the first values as JSON, long ones cut, in brackets.
func (d *Data) firstTexts(most int) string {
	var texts []string
	for v := range d.All() {
		if len(texts) == most {
			texts = append(texts, "...")
			break
		}
		texts = append(texts, shortened(jsonText(v)))
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// uniformData returns d with another shape if all rows have one value, or nil.
func uniformData(d *Data, sizes shapeops.Shape) (Value, error) {
	v, one := d.Uniform()
	if !one {
		return nil, nil
	}
	return some(NewData(v, sizes...))
}

// Texts returns the value of each row as JSON.
func (v *dataOps) Texts() (texts []string, err error) {
	for v := range (*Data)(v).All() {
		texts = append(texts, jsonText(v))
	}
	return texts, nil
}

func describeData(d *Data) string { return fmt.Sprintf("data %v", d.Shape()) }

// fitData returns d repeated over further dims if its shape is shorter than the batch shape.
func fitData(d *Data, batch shapeops.Shape) (*Data, error) {
	s := d.Shape()
	if err := batch.Check(); err != nil {
		return nil, err
	}
	if s.HasPrefix(batch) || !batch.HasPrefix(s) {
		return d, s.CheckPrefix(batch)
	}
	sizes := append(s.Clone(), slices.Repeat(shapeops.Shape{1}, len(batch)-len(s))...)
	p, err := plan.Reshape(s, sizes...)
	if err != nil {
		return nil, err
	}
	column, err := (*dataOps)(d).Execute(plan.NewPass(p))
	if err != nil {
		return nil, err
	}
	if p, err = plan.Expand(sizes, batch...); err != nil {
		return nil, err
	}
	return (*dataOps)(column).Execute(plan.NewPass(p))
}

func zeroData(_ *Data, _ *plan.Pass, sizes shapeops.Shape) (*Data, error) {
	return NewData(nil, sizes...)
}
