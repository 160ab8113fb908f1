package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// StackRagged stacks dictionaries that differ in the length of their first batch dim. Their tensors
// become ragged tensors that share one layout, without padding.
//
//	N dictionaries [Li B...], a tensor [Li B... F...] -> a dictionary [N], [N * B... F...]
//	a ragged tensor [Li * F...] -> [N * * F...]
//
// The other batch dims must be equal and become features. [Data] of batch shape [Li] becomes Data
// with a list of Li values for each dictionary. The result is a copy, and its dims have no names.
// [UnstackRagged] is the reverse. (Python: lazy_stack, then get with as_nested_tensor=True for each
// leaf.)
//
// StackRagged returns [ErrKind] if there is no dictionary or one is nil, shapeops.ErrDim for a
// batch shape [], shapeops.ErrShape, with the key, for Data or ragged tensors with more than one
// batch dim, and the errors of shapeops.Cat, such as [ErrMissing] if the keys differ.
func StackRagged(tds []*TensorDict) (*TensorDict, error) {
	if len(tds) == 0 || slices.Contains(tds, nil) {
		return nil, failed("stack ragged", fmt.Errorf("%w: got no dictionary", ErrKind))
	}
	lengths := make([]int64, len(tds))
	for i, td := range tds {
		if len(td.batch) == 0 {
			return nil, failed("stack ragged", fmt.Errorf("value %d: %w: got batch shape [], want at least one dim", i, shapeops.ErrDim))
		}
		lengths[i] = int64(td.batch[0])
	}
	all, err := shapeops.Cat(tds, 0)
	if err != nil {
		return nil, failed("stack ragged", err)
	}
	return all.groupRows("stack ragged", lengths)
}

// groupRows groups the rows of td into rows of the given lengths, whose sum is the number of rows
// of td, for the operation op.
func (td *TensorDict) groupRows(op string, lengths []int64) (*TensorDict, error) {
	l, err := ragged.LayoutOf(shapeops.Shape{len(lengths)}, lengths)
	if err != nil {
		return nil, failed(op, err)
	}
	s := raggedStack{op: op, layout: l, lengths: lengths}
	out, err := s.dict(td)
	return out, failed(op, err)
}

// A raggedStack groups the rows of a dictionary into the rows of a layout.
type raggedStack struct {
	op      string
	layout  *ragged.Layout
	lengths []int64 // the lengths of the rows of layout
	pass    plan.Pass
}

func (s *raggedStack) dict(td *TensorDict) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) { return opsOf(v).stacked(v, s) })
	if err != nil {
		return nil, within(s.op, name, err)
	}
	return &TensorDict{batch: s.layout.Shape().Clone(), entries: entries, header: td.named(nil)}, nil
}

// The following methods group the rows of a value, which are its first dim, into the rows of the
// layout.

func (s *raggedStack) nested(td *TensorDict) (Value, error) { return asValue(s.dict(td)) }

func (s *raggedStack) tensor(t *tensor.Tensor) (Value, error) {
	return asValue(ragged.New(t, s.layout))
}

func (s *raggedStack) ragged(t *ragged.Tensor) (Value, error) {
	if err := s.checkOneDim(t); err != nil {
		return nil, err
	}
	return asValue(nested(t).NestIn(&s.pass, s.layout))
}

func (s *raggedStack) data(d *Data) (Value, error) {
	if err := s.checkOneDim(d); err != nil {
		return nil, err
	}
	return asValue(s.lists(d))
}

func (s *raggedStack) unbatched(u *Unbatched) (Value, error) {
	return unbatched(u.tensor, s.layout.Shape()), nil
}

func (s *raggedStack) stacked(x *Stacked) (Value, error) {
	d, err := x.Dense()
	if err != nil {
		return nil, err
	}
	return opsOf(d).stacked(d, s)
}

// checkOneDim returns shapeops.ErrShape if v has more than one batch dim.
func (s *raggedStack) checkOneDim(v Value) error {
	if n := len(v.Shape()); n != 1 {
		return fmt.Errorf("%w: got %s, want one batch dim: Exclude it first, or Flatten", shapeops.ErrShape, describe(v))
	}
	return nil
}

// lists returns data with a list of values for each row of the layout.
func (s *raggedStack) lists(d *Data) (*Data, error) {
	values := slices.Collect(d.All())
	lists := make([]any, len(s.lengths))
	for i, n := range s.lengths {
		lists[i] = values[:n:n]
		values = values[n:]
	}
	return DataFrom(lists, len(lists))
}

// UnstackRagged is the reverse of [StackRagged]: it returns a dictionary for each row of td. The
// leaves of td are ragged tensors with the same lengths at their first level:
//
//	td [N], [N * F...] -> N dictionaries [Li], [Li F...]
//	[N * * F...] -> ragged tensors [Li * F...]
//
// [Data] must have a list of Li values for each row. The leaves of the results share td's memory,
// unless td was permuted or repeats rows; then they share the memory of a copy.
//
// UnstackRagged returns [ErrKind] if td is nil or has no ragged leaf or, with the key, if a leaf is
// neither ragged, nor unbatched, nor Data of lists; shapeops.ErrDim unless the batch shape is [N];
// and ragged.ErrLengths, with the row, if lengths differ.
func UnstackRagged(td *TensorDict) ([]*TensorDict, error) {
	if td == nil {
		return nil, failed("unstack ragged", errNil)
	}
	if len(td.batch) != 1 {
		return nil, failed("unstack ragged", fmt.Errorf("%w: got batch shape %v, want one dim", shapeops.ErrDim, td.batch))
	}
	u := raggedUnstack{}
	whole, err := u.compact(td)
	if err == nil && u.first == nil {
		err = fmt.Errorf("%w: got no ragged leaf", ErrKind)
	}
	if err == nil {
		u.lengths, err = u.first.Layout().Lengths(1)
	}
	if err == nil {
		err = u.checkLengths(whole)
	}
	if err != nil {
		return nil, failed("unstack ragged", err)
	}
	out := make([]*TensorDict, td.batch[0])
	for i := range out {
		u.row, u.pass = i, new(plan.Pass)
		if out[i], err = u.dict(whole); err != nil {
			return nil, failed("unstack ragged", err)
		}
	}
	return out, nil
}

// A raggedUnstack makes a dictionary of each row of a dictionary.
type raggedUnstack struct {
	shared  plan.Pass
	first   *ragged.Tensor // the first ragged leaf
	lengths []int64        // the lengths of its rows
	row     int            // the current row
	pass    *plan.Pass     // for the current row
}

// compact returns td with compact ragged leaves.
func (u *raggedUnstack) compact(td *TensorDict) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) {
		if d, ok := asDict(v); ok {
			return asValue(u.compact(d))
		}
		t, ok := asRagged(v)
		if !ok {
			return v, nil
		}
		s, err := nested(t).CompactIn(&u.shared)
		if u.first == nil && err == nil && s.Depth() > 0 {
			u.first = s
		}
		return asValue(s, err)
	})
	if err != nil {
		return nil, within("unstack ragged", name, err)
	}
	return &TensorDict{batch: td.batch, entries: entries, header: td.named(nil)}, nil
}

// checkLengths returns an error unless all leaves have the lengths of the first ragged leaf at
// level 1.
func (u *raggedUnstack) checkLengths(td *TensorDict) error {
	for name, v := range td.entries.all() {
		if err := opsOf(v).unstackable(v, u); err != nil {
			return within("unstack ragged", name, err)
		}
	}
	return nil
}

func (*raggedUnstack) checkTensor(t *tensor.Tensor) error {
	return fmt.Errorf("%w: got %s, want a ragged tensor: Exclude it first", ErrKind, describe(t))
}

func (*raggedUnstack) checkStacked(s *Stacked) error {
	return fmt.Errorf("%w: got %s, want a ragged tensor: Dense it first", ErrKind, describe(s))
}

func (u *raggedUnstack) checkLayout(t *ragged.Tensor) error {
	if t.Depth() == 0 || len(t.Shape()) != 1 {
		return fmt.Errorf("%w: got %s, want one batch dim and a level", ErrKind, describe(t))
	}
	own, err := t.Layout().At(1)
	if err != nil {
		return err
	}
	want, err := u.first.Layout().At(1)
	if err != nil {
		return err
	}
	return want.CheckEqual(own)
}

// checkLists returns an error unless each row of d is a list with the length of the row.
func (u *raggedUnstack) checkLists(d *Data) error {
	i := 0
	for v := range d.All() {
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%w: got %s, want a list for each row: Exclude it first", ErrKind, describe(d))
		}
		if n := int(u.lengths[i]); len(list) != n {
			return fmt.Errorf("row %d: %w: got %d values in a list, want %d", i, ragged.ErrLengths, len(list), n)
		}
		i++
	}
	return nil
}

// dict returns the current row of a dictionary that was checked.
func (u *raggedUnstack) dict(td *TensorDict) (*TensorDict, error) {
	out := &TensorDict{batch: shapeops.Shape{u.rows()}, header: td.named(nil)}
	var name nestedkey.Key
	var err error
	out.entries, name, err = td.entries.mapped(func(_ column, v Value) (Value, error) { return opsOf(v).unstacked(v, u) })
	if err != nil {
		return nil, within("unstack ragged", name, err)
	}
	return out, nil
}

// rows returns the length of the current row.
func (u *raggedUnstack) rows() int { return int(u.lengths[u.row]) }

// The following methods return the current row of a value that was checked.

func (u *raggedUnstack) nested(td *TensorDict) (Value, error) { return asValue(u.dict(td)) }

func (u *raggedUnstack) ragged(t *ragged.Tensor) (Value, error) {
	row, err := nested(t).RowIn(u.pass, u.row)
	if err != nil || row.Depth() > 0 {
		return asValue(row, err)
	}
	return asValue(row.Values())
}

func (u *raggedUnstack) data(d *Data) (Value, error) {
	list, err := d.At(u.row)
	if err != nil {
		return nil, err
	}
	return asValue(DataFrom(list.([]any), u.rows()))
}

func (u *raggedUnstack) unbatched(x *Unbatched) (Value, error) {
	return unbatched(x.tensor, shapeops.Shape{u.rows()}), nil
}
