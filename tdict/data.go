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

// Data holds values that are not tensors, one for each row of a batch: names, labels, settings. A
// value is nil, bool, int64, float64, string, []any of such values, or *[Object]. While all rows
// have the same value, Data keeps it once (Python: NonTensorData); once they differ, it keeps one
// for each row (NonTensorStack).
//
// Operations on shape return new Data. Index of Data always returns a copy, whereas Index of a
// tensor without lists and masks returns a view. Changing Data does not change the results of
// Index, and changing a result does not change the Data. [TensorDict.SetIndex] changes Data in
// place, except for Data of a dataset in mapped files, which cannot be changed.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Data struct {
	rows   *plan.Rows
	values []any // the values, by the numbers in rows; a value is never changed
	fixed  bool  // the values cannot be changed
}

// NewData returns Data with one value for every row of a batch. Without a batch shape it has one
// row, and [TensorDict.Set] repeats it to the batch shape of the dictionary. [DataFrom] takes one
// value for each row.
//
// NewData copies value, and converts it:
//
//   - An integer of another type becomes int64, a float32 becomes float64.
//   - A slice of any, or of one of the types above, becomes a []any.
//   - A map from string to any, or to one of the types above, becomes an [Object] whose fields
//     are sorted by name.
//   - Typed slices and maps may be nested two deep, as in map[string][]float64. Deeper values
//     must be []any and map[string]any.
//
// NewData returns [ErrKind] for a value of any other type, such as []byte or [][][]string, and for
// an integer that overflows an int64. For a value inside a slice or map, the error says where:
// value["a"][2]. It returns [ErrDepth] if the value is nested more than 256 deep, and
// shapeops.ErrShape if batch is invalid.
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

// DataFrom returns Data with a value for each row of a batch, row-major. It copies values. It
// returns the errors of [NewData], and shapeops.ErrShape if a batch of shape sizes does not have
// len(values) rows.
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

// Shape returns the batch shape, or nil for the zero Data. The caller must not change it.
func (d *Data) Shape() shapeops.Shape {
	if !d.valid() {
		return nil
	}
	return d.rows.Shape()
}

// Uniform returns the value that all rows have, or false if the values differ or there is no row.
func (d *Data) Uniform() (any, bool) {
	if !d.valid() {
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

// At returns the value at a position: one number for each dim; negative numbers count from the end.
// The caller must not change it. At returns shapeops.ErrIndex if the position is out of range, and
// [ErrKind] if d is nil or zero.
func (d *Data) At(position ...int) (any, error) {
	if !d.valid() {
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
		if !d.valid() {
			return
		}
		for row := range d.rows.All() {
			if !yield(d.values[row]) {
				return
			}
		}
	}
}

// Execute applies p.Plan to the rows of d. Rows that the plan pads get nil, whatever p.Fill is.
func (d dataOps) Execute(p *plan.Pass) (*Data, error) {
	if !d.valid() {
		return nil, errNoData
	}
	rows, err := d.rows.Execute(p)
	if err != nil {
		return nil, err
	}
	out := &Data{rows: rows, values: slices.Clip(d.values)}
	if d.fixed {
		if v, err := shape.Contiguous(d.Shape()); err == nil { // the result of a view is fixed too
			_, isView, err := p.View(v)
			out.fixed = isView && err == nil
		}
	}
	if rows.Count() > len(d.values) {
		out.values = append(out.values, nil)
	}
	if out.crowded() { // keep the values that are left, without comparing them
		number := map[int]int{}
		var kept []any
		for row := range out.rows.Distinct() {
			if _, ok := number[row]; !ok {
				number[row] = len(kept)
				kept = append(kept, out.values[row])
			}
		}
		out.keep(kept, func(row int) int { return number[row] })
	}
	return out, nil
}

// Fixed returns Data with the rows of v, whose values cannot be changed: writing another value to a
// row returns tensor.ErrReadOnly. The same holds for parts of it for which a tensor would return a
// view, such as Index with At and Range. It is for Data that is saved as a whole, as in the
// directory of a dataset. Copies, as Clone, Take or Pad return, can be changed.
func (v dataOps) Fixed() *Data { return &Data{v.rows, v.values, true} }

// Shared returns the value of all rows, as [Data.Uniform] does. If v has no rows but keeps a value,
// it returns that value.
func (v dataOps) Shared() (any, bool) {
	if len(v.values) == 1 && v.rows.Shape().Size() == 0 {
		return v.values[0], true
	}
	return v.Data.Uniform()
}

// checkFixed returns tensor.ErrReadOnly if d is fixed and writing the values of other to rows, a
// part of d, would change one. other has as many rows as rows.
func (d *Data) checkFixed(rows, other *Data) error {
	if !d.fixed || rows.Shape().Size() == 0 {
		return nil
	}
	numbers, others := rows.numbers(), other.numbers() // a single number means all rows
	for i := range max(len(numbers), len(others)) {
		want := rows.values[numbers[min(i, len(numbers)-1)]]
		got := other.values[others[min(i, len(others)-1)]]
		same := jsonText(got) == jsonText(want)
		if text, ok := got.(string); ok { // JSON replaces bytes that are not UTF-8
			same = want == any(text)
		}
		if !same {
			return fmt.Errorf("%w: got %s, want %s: data of a dataset cannot be changed; use a tensor for values that change, or Save a Clone",
				tensor.ErrReadOnly, shortened(jsonText(got)), shortened(jsonText(want)))
		}
	}
	return nil
}

// valid reports whether d is neither nil nor a zero value.
func (d *Data) valid() bool { return d != nil && d.rows != nil }

var errNoData = fmt.Errorf("%w: got no data", ErrKind)

// Join joins the rows of xs as p.Join says. Rows that it pads get nil.
func (d dataOps) Join(p *plan.Pass, xs []*Data) (*Data, error) {
	rows := make([]*plan.Rows, len(xs))
	var values []any
	for i, x := range xs {
		if !x.valid() {
			return nil, fmt.Errorf("value %d: %w", i, errNoData)
		}
		rows[i] = x.rows
		values = append(values, x.values...)
	}
	if value, ok := uniform(xs); ok && !padded(p, rows) {
		if err := p.CheckJoin(len(xs)); err != nil {
			return nil, err
		}
		sizes, err := p.Join.Joined(len(xs), false, func(i int) shapeops.Shape { return rows[i].Shape() })
		if err != nil {
			return nil, err
		}
		one, err := plan.OneRow(sizes...)
		return &Data{rows: one, values: []any{value}}, err
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

// uniform returns the value that all rows of all xs have. It returns false if the values differ, or
// if finding out would take looking at each row.
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

// padded reports whether joining xs as p.Join says adds padding.
func padded(p *plan.Pass, xs []*plan.Rows) bool {
	if p.CheckJoin(len(xs)) != nil || !p.Join.Padded() {
		return false
	}
	sizes, err := p.Join.Joined(len(xs), false, func(i int) shapeops.Shape { return xs[i].Shape() })
	return err == nil && slices.ContainsFunc(xs, func(x *plan.Rows) bool { return !x.Shape().Equal(sizes[1:]) })
}

// AddJoin adds to tr: dst = xs joined as p.Join says.
func (d dataOps) AddJoin(tr *tensor.Transfer, dst *Data, p *plan.Pass, xs []*Data) error {
	if !dst.valid() {
		return errNoData
	}
	out, err := d.Join(p, xs)
	if err != nil {
		return err
	}
	return dst.commit(tr, out)
}

// Clone returns a copy of d. It returns [ErrKind] if d is nil or zero.
func (d *Data) Clone() (*Data, error) {
	if !d.valid() {
		return nil, errNoData
	}
	rows, err := d.rows.Clone()
	return &Data{rows: rows, values: slices.Clip(d.values)}, err
}

// Equal reports whether d and x have the same shape and equal values. NaN is not equal to NaN, and
// an int64 is never equal to a float64. The order of an Object's fields matters.
func (d *Data) Equal(x *Data) bool {
	text, err := d.diff(x)
	return text == "" && err == nil
}

// diff describes the first difference between d and x, or returns "" if they are equal. It returns
// [ErrKind] if x is nil or one of the two is zero.
func (d *Data) diff(x *Data) (string, error) {
	if !d.valid() || !x.valid() {
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

// numbers returns the number of each row in d.values, or a single number if all rows have the same
// one.
func (d *Data) numbers() []int {
	if row, ok := d.rows.One(); ok {
		return []int{row}
	}
	return slices.Collect(d.rows.All())
}

// mostValues is the number of values that String shows.
const mostValues = 8

// String returns the shape and the values as JSON: one value if all rows have the same, otherwise
// the first ones. Long values are cut.
func (d *Data) String() string {
	if !d.valid() {
		return "data <nil>"
	}
	if v, ok := d.Uniform(); ok {
		return fmt.Sprintf("data %v %s", d.Shape(), shortened(jsonText(v)))
	}
	return fmt.Sprintf("data %v %s", d.Shape(), d.firstTexts(mostValues))
}

// firstTexts returns the first most values as JSON, in brackets. Long values are cut.
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

// Texts returns the value of each row as JSON.
func (v dataOps) Texts() (texts []string, err error) {
	for v := range v.Data.All() {
		texts = append(texts, jsonText(v))
	}
	return texts, nil
}

func describeData(d *Data) string { return fmt.Sprintf("data %v", d.Shape()) }

// fitData returns d, repeated over further dims if its shape is shorter than the batch shape.
func fitData(d *Data, batch shapeops.Shape) (*Data, error) {
	s := d.Shape()
	return fitted(d, s, batch, func() (*Data, error) {
		sizes := append(s.Clone(), slices.Repeat(shapeops.Shape{1}, len(batch)-len(s))...)
		p, err := plan.Reshape(s, sizes...)
		if err != nil {
			return nil, err
		}
		column, err := dataOps{d}.Execute(plan.NewPass(p))
		if err != nil {
			return nil, err
		}
		if p, err = plan.Expand(sizes, batch...); err != nil {
			return nil, err
		}
		return dataOps{column}.Execute(plan.NewPass(p))
	})
}

// commit adds to tr: d = out.
func (d *Data) commit(tr *tensor.Transfer, out *Data) error {
	if err := d.Shape().CheckEqual(out.Shape()); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if d.fixed {
		return d.checkFixed(d, out)
	}
	tr.Commit(func() { d.rows, d.values = out.rows, out.values })
	return nil
}

// AddExecute adds to tr: dst = d with p.Plan applied.
func (d dataOps) AddExecute(tr *tensor.Transfer, dst *Data, p *plan.Pass) error {
	if !dst.valid() {
		return errNoData
	}
	out, err := d.Execute(p)
	if err != nil {
		return err
	}
	return dst.commit(tr, out)
}

// AddWrite adds to tr: the rows of d that p.Plan selects = the rows of src, broadcast. If a list
// names a row twice, the last value stays.
func (d dataOps) AddWrite(tr *tensor.Transfer, src *Data, p *plan.Pass) error {
	if !src.valid() {
		return errNoData
	}
	if err := d.rows.CheckWrite(p, src.rows); err != nil {
		return err
	}
	planned, err := plan.Expand(src.Shape(), p.Extend(d.Shape())...)
	if err != nil {
		return err
	}
	from, err := dataOps{src}.Execute(plan.NewPass(planned)) // src as it is now
	if err != nil {
		return err
	}
	if d.fixed {
		part, err := d.Execute(p)
		if err != nil {
			return err
		}
		return d.checkFixed(part, from)
	}
	tr.Commit(func() { d.write(from, p) })
	return nil
}

// write is AddWrite at once, of rows that were checked.
func (d *Data) write(src *Data, p *plan.Pass) {
	d.values = append(d.values, src.values...)
	if err := d.rows.Write(p, src.rows); err != nil {
		panic("tdict: impossible: " + err.Error())
	}
	if d.crowded() {
		d.compact()
	}
}

// crowded reports whether d has many more values than rows.
func (d *Data) crowded() bool { return len(d.values)/2-8 > d.Shape().Size() }

// keep replaces the values of d by kept, and numbers its rows by number.
func (d *Data) keep(kept []any, number func(row int) int) {
	d.values = kept
	if len(kept) == 1 {
		d.rows, _ = plan.OneRow(d.Shape()...) // the shape is valid already
		return
	}
	if err := d.rows.Renumber(len(kept), number); err != nil {
		panic("tdict: impossible: " + err.Error()) // callers have listed the rows, or have few
	}
}

// compact drops values that no row has, and merges equal neighbours.
func (d *Data) compact() {
	number := make([]int, len(d.values)) // the new number plus one, or 0
	var kept []any
	for row := range d.rows.Distinct() {
		if number[row] > 0 {
			continue
		}
		if n := len(kept); n == 0 || !same(kept[n-1], d.values[row]) {
			kept = append(kept, d.values[row])
		}
		number[row] = len(kept)
	}
	d.keep(kept, func(row int) int { return number[row] - 1 })
}
