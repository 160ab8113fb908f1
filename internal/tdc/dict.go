package tdc

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Maker makes the tensors of a form.
type Maker struct {
	Tensor func(l *Leaf) (*tensor.Tensor, error) // of a leaf that has elements
	Fixed  bool                                  // data and layouts cannot be changed, as in a file
}

// Dict returns the dictionary of the form, locked if the form says so. It returns the errors of
// m.Tensor, and a fileformat.Error with the key: fileformat.ErrCorrupt or
// fileformat.ErrUnsupported.
func (f *Contents) Dict(m Maker) (*tdict.TensorDict, error) {
	f.layouts = pool.Layouts{}
	b := &builder{m, f}
	if f.root.class == lazyClass {
		return b.lazy(f.root)
	}
	return b.dict(f.root)
}

// A builder makes the values of a form.
type builder struct {
	Maker
	contents *Contents
}

// value returns the value of a node. It is the one place that lists the kinds of nodes that are
// read.
func (b *builder) value(d *dict) (tdict.Value, error) {
	switch {
	case d.class == stackClass:
		return valueOr(b.stack(d))
	case d.class == lazyClass:
		return valueOr(b.lazy(d))
	case d.isPool():
		return valueOr(b.pooled(d))
	}
	return valueOr(b.dict(d))
}

// valueOr returns v, or a nil Value with an error. A nil *tdict.Data would be a Value that is not
// nil.
func valueOr[V tdict.Value](v V, err error) (tdict.Value, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// dict returns the dictionary of a node.
func (b *builder) dict(d *dict) (*tdict.TensorDict, error) {
	td := tdict.New(d.batch...)
	if err := d.label(td); err != nil {
		return nil, fileformat.In(string(d.key), asCorrupt(err))
	}
	for _, x := range d.data {
		v, err := b.data(x)
		if err := b.set(td, d, x.name, v, err); err != nil {
			return nil, err
		}
	}
	flat := d.flat()
	var parts []*Leaf // of the current jagged tensor
	for e := range d.inOrder {
		var v tdict.Value
		var name string
		var err error
		switch {
		case e.dict != nil:
			name = e.dict.name
			v, err = b.value(e.dict)
		case jaggedPart(e.leaf.name):
			if parts = append(parts, e.leaf); !strings.HasPrefix(e.leaf.name, jaggedOffsets) {
				continue
			}
			name = bareName(e.leaf.name)
			v, err = valueOr(b.jagged(parts))
			parts = nil
		case pool.Reserved(e.leaf.name):
			name, _, _ = pool.Split(e.leaf.name)
			if flat[name] == nil { // made with an earlier part
				continue
			}
			v, err = valueOr(b.pool(keyIn(d, name), flat[name], d.batch))
			delete(flat, name)
		default:
			name = e.leaf.name
			v, err = b.leaf(d, e.leaf)
		}
		if err := b.set(td, d, name, v, err); err != nil {
			return nil, err
		}
	}
	return b.locked(td, d), nil
}

// set sets an entry of td, unless err is an error of making v.
func (b *builder) set(td *tdict.TensorDict, d *dict, name string, v tdict.Value, err error) error {
	if key := nestedkey.Of(name); err == nil && td.Has(key) { // "text" beside "text.@pool"
		err = fileformat.Corrupt("duplicate key %s", quote(name))
	} else if err == nil {
		err = asCorrupt(td.Set(key, v))
	}
	return fileformat.In(string(keyIn(d, name)), err)
}

// label sets the class of td and the names of its dims. It does so before entries are set, as inner
// dictionaries may be locked.
func (d *dict) label(td *tdict.TensorDict) error {
	if slices.ContainsFunc(d.names, func(name string) bool { return name != "" }) {
		if err := td.SetNames(d.names...); err != nil {
			return err
		}
	}
	return td.SetClass(d.goClass)
}

// sound returns v, and err as fileformat.ErrCorrupt.
func sound[V any](v V, err error) (V, error) { return v, asCorrupt(err) }

// tensor returns the tensor of a leaf.
func (b *builder) tensor(l *Leaf) (*tensor.Tensor, error) {
	if l.Size == 0 {
		return tensor.New(l.DType, l.Shape...)
	}
	return b.Tensor(l)
}

// leaf returns the tensor or unbatched tensor of a leaf.
func (b *builder) leaf(d *dict, l *Leaf) (tdict.Value, error) {
	t, err := b.tensor(l)
	if err != nil {
		return nil, err
	}
	batch, ok := d.unbatched[l.name]
	if !ok && !b.contents.summed && !l.Shape.HasPrefix(d.batch) { // Python's UnbatchedTensor
		batch, ok = d.batch, true
	}
	if !ok {
		return t, nil
	}
	l.Unbatched = true
	u, err := tdict.NewUnbatched(t)
	if err != nil {
		return nil, err
	}
	around := tdict.New(batch...) // sets the batch shape of u
	if err := around.Set("u", u); err != nil {
		return nil, asCorrupt(err)
	}
	return around.Get("u")
}

// data returns data with one value for all rows.
func (b *builder) data(x datum) (*tdict.Data, error) {
	v, err := sound(tdict.NewData(x.value, x.batch...))
	if err != nil || !b.Fixed {
		return v, err
	}
	return datajson.Fixed(v), nil
}

// stack returns data with a value for each row.
func (b *builder) stack(d *dict) (*tdict.Data, error) {
	members := make([]*tdict.TensorDict, len(d.data)+len(d.dicts)) // each with its data alone
	add := func(name string, v *tdict.Data, err error) error {
		if err != nil {
			return err
		}
		i, _ := strconv.Atoi(name) // checkMembers has checked it
		members[i] = tdict.New(v.Shape()...)
		return members[i].Set("data", v)
	}
	for _, x := range d.data {
		v, err := sound(tdict.NewData(x.value, x.batch...))
		if err = add(x.name, v, err); err != nil {
			return nil, err
		}
	}
	for _, inner := range d.dicts {
		if inner.class != stackClass {
			return nil, fileformat.Unsupported("a stack of a %s, want data", quote(inner.class))
		}
		v, err := b.stack(inner)
		if err = add(inner.name, v, err); err != nil {
			return nil, err
		}
	}
	stacked, err := shapeops.Stack(members, d.stackDim)
	if err != nil {
		return nil, fileformat.Unsupported("a stack of data: %w", err)
	}
	v, err := tdict.Get[*tdict.Data](stacked, "data")
	if err != nil {
		return nil, err
	}
	if b.Fixed {
		v = datajson.Fixed(v)
	}
	return v, nil
}

// jagged returns the ragged tensor of the parts of a jagged tensor: values, lengths if there are
// any, and offsets.
func (b *builder) jagged(parts []*Leaf) (*ragged.Tensor, error) {
	values, err := b.tensor(parts[0])
	if err != nil {
		return nil, err
	}
	offsets, err := b.offsets(parts[len(parts)-1])
	if err != nil {
		return nil, err
	}
	if len(parts) == 3 {
		lengths, err := b.offsets(parts[1])
		if err != nil {
			return nil, err
		}
		return withGaps(values, offsets, lengths)
	}
	if n := len(offsets); n > 0 && (offsets[0] != 0 || offsets[n-1] != int64(dim0(values))) {
		return sound(ragged.FromOffsets(values, offsets))
	}
	layout, err := b.contents.layouts.Layout(shapeops.Shape{len(offsets) - 1}, offsets)
	if err != nil {
		return nil, err
	}
	parts[0].Rows = layout
	return b.rows(values, layout)
}

func dim0(t *tensor.Tensor) int {
	if len(t.Shape()) == 0 {
		return 0
	}
	return t.Shape()[0]
}

// withGaps returns the rows of values that begin at offsets and have the given lengths. The rows
// and the gaps after them are the rows of another layout; every second one of these is a row.
func withGaps(values *tensor.Tensor, offsets, lengths []int64) (*ragged.Tensor, error) {
	if len(offsets) != len(lengths)+1 {
		return nil, fileformat.Corrupt("got %d lengths, want one less than the %d offsets", len(lengths), len(offsets))
	}
	ends := make([]int64, 0, 2*len(offsets))
	for i, n := range lengths {
		ends = append(ends, offsets[i], offsets[i]+n)
	}
	both, err := sound(ragged.FromOffsets(values, append(ends, offsets[len(lengths)])))
	if err != nil {
		return nil, err
	}
	return both.Index(ix.Range(0, ix.End).Step(2))
}

// rows returns values, divided into rows.
func (b *builder) rows(values *tensor.Tensor, layout *ragged.Layout) (*ragged.Tensor, error) {
	t, err := sound(ragged.New(values, layout))
	if err != nil {
		return nil, err
	}
	if b.Fixed && values.Shape().Size() == 0 {
		t = t.Ops().(plan.Nested[*ragged.Tensor, *ragged.Layout]).Fixed()
	}
	return t, nil
}

// offsets returns the numbers of a leaf of offsets or lengths.
func (b *builder) offsets(l *Leaf) ([]int64, error) {
	l.Whole = false
	if len(l.Shape) != 1 || l.DType != tensor.Int64 && l.DType != tensor.Int32 {
		return nil, fileformat.Corrupt("offsets: got %v %v, want int64 [N]", l.DType, l.Shape)
	}
	if take := b.contents.limits.Take; take != nil {
		if err := take(8 * int64(l.Shape[0])); err != nil {
			return nil, err
		}
	}
	t, err := b.tensor(l)
	if err == nil && l.DType == tensor.Int32 {
		t, err = t.Cast(tensor.Int64)
	}
	if err != nil {
		return nil, err
	}
	var numbers []int64
	err = tensor.Read(t, func(s []int64) { numbers = slices.Clone(s) })
	return numbers, err
}
