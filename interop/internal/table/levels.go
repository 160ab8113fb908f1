package table

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Level has the offsets of all lists at one depth. The columns of a list of objects share it.
type Level struct {
	offsets []int64
	lent    bool           // a ragged.Layout shares the offsets
	layout  *ragged.Layout // of Dict
	loaded  bool           // by Load
}

// End ends a list of n elements.
func (l *Level) End(n int) { l.offsets = append(l.offsets, l.offsets[len(l.offsets)-1]+int64(n)) }

// List returns the range of elements in list i.
func (l *Level) List(i int) (from, to int) { return int(l.offsets[i]), int(l.offsets[i+1]) }

// size returns the number of elements.
func (l *Level) size() int { return int(l.offsets[len(l.offsets)-1]) }

func (l *Level) reset() {
	old := l.offsets
	if l.offsets = old[:0]; l.lent { // clones share the layout too
		l.offsets = make([]int64, 0, cap(old))
	}
	l.offsets = append(l.offsets, 0)
	l.lent, l.loaded, l.layout = false, false, nil
}

// over returns the layout of the lists in the given lists, or in rows.
func (l *Level) over(outer *ragged.Layout) (*ragged.Layout, error) {
	l.lent = true
	return outer.Nest(l.offsets)
}

// layoutOf returns the layout of the levels of rows, which columns share.
func layoutOf(rows *ragged.Layout, levels []*Level) (_ *ragged.Layout, err error) {
	for _, l := range levels {
		if l.layout == nil {
			if l.layout, err = l.over(rows); err != nil {
				return nil, err
			}
		}
		rows = l.layout
	}
	return rows, nil
}

// load loads the offsets of level number i of a layout. If they are loaded already, it returns
// ragged.ErrLengths unless they are the same.
func (l *Level) load(layout *ragged.Layout, i int) error {
	offsets, err := layout.Offsets(i)
	switch {
	case err != nil:
		return err
	case !l.loaded:
		l.offsets, l.loaded = append(l.offsets[:0], offsets...), true
	case !slices.Equal(l.offsets, offsets):
		return fmt.Errorf("%w: level %d: got other lengths than in another column of the same list of objects", ragged.ErrLengths, i)
	}
	return nil
}

// count returns the number of elements of a level, or of rows for nil.
func (l *Level) count(rows int) int {
	if l == nil {
		return rows
	}
	return l.size()
}

// An Entry is an entry of the schema: a column, or a dictionary.
type Entry struct {
	Spec tdict.Spec
	// Levels are the Depth levels of lists, the outermost first.
	Levels []*Level

	outer int     // the number of levels that the dictionary around it has
	masks []*Mask // by depth; nil for none
}

// Mask returns the mask of the values and lists inside depth lists, or nil.
func (e *Entry) Mask(depth int) *Mask {
	if depth >= len(e.masks) {
		return nil
	}
	return e.masks[depth]
}

// at returns the level whose elements are inside depth lists, or nil for rows.
func (e *Entry) at(depth int) *Level {
	if depth == 0 {
		return nil
	}
	return e.Levels[depth-1]
}

// A Mask has a bool for each value at one depth, false where it is missing. A nil Mask is for
// values that cannot be missing.
type Mask struct {
	key   nestedkey.Key
	of    *Entry
	depth int
	level *Level // whose elements have the bools; nil for rows
	next  *Mask  // of the lists around them, or nil
	bits  []bool
}

// Add adds a bool, unless m is nil.
func (m *Mask) Add(present bool) {
	if m != nil {
		m.bits = append(m.bits, present)
	}
}

// Present reports whether value i is not missing.
func (m *Mask) Present(i int) bool { return m == nil || m.bits[i] }

// shape returns the shape of the bools of a mask of rows.
func (m *Mask) shape(rows int) shapeops.Shape {
	if len(m.of.Levels) > 0 || m.of.Spec.Kind == tdict.KindDict {
		return shapeops.Shape{rows}
	}
	return append(shapeops.Shape{rows}, m.of.Spec.Shape...)
}

// count returns the number of bools.
func (m *Mask) count(rows int) int {
	if m.level != nil {
		return m.level.size()
	}
	return m.shape(rows).Size()
}

// spec returns the spec of the mask itself.
func (m *Mask) spec() tdict.Spec {
	s := tdict.Spec{Key: m.key, DType: tensor.Bool, Optional: true, Doc: "where " + string(m.of.Spec.Key) + " is not missing"}
	if m.next != nil {
		s.Mask = m.next.key
	}
	if m.level != nil {
		s.Kind, s.Depth = tdict.KindRagged, m.depth
		return s
	}
	s.Shape = m.shape(0)[1:]
	return s
}

// set sets the bools in a dictionary. batch is the layout of the rows. A format without objects has
// no bools for a dictionary.
func (m *Mask) set(td *tdict.TensorDict, batch *ragged.Layout) error {
	rows := batch.Shape()[0]
	if m.of.Spec.Kind == tdict.KindDict && len(m.bits) == 0 && m.count(rows) > 0 {
		return nil
	}
	if m.level == nil {
		bits, err := tensor.From(m.bits, m.shape(rows)...)
		if err != nil {
			return err
		}
		return td.Set(m.key, bits)
	}
	layout, err := layoutOf(batch, m.of.Levels[:m.depth])
	if err != nil {
		return err
	}
	v, err := ragged.New(tensor.Vector(m.bits...), layout)
	if err != nil {
		return err
	}
	return td.Set(m.key, v)
}

// setMasks sets the masks of e in a dictionary.
func (e *Entry) setMasks(td *tdict.TensorDict, batch *ragged.Layout) error {
	for _, m := range slices.Backward(e.masks) {
		if m == nil {
			continue
		}
		if err := m.set(td, batch); err != nil {
			return &tdict.KeyError{Op: "table", Key: m.key, Err: err}
		}
	}
	return nil
}

// load loads the bools. If td has none, they are all present.
func (m *Mask) load(td *tdict.TensorDict, present bool) error {
	if !td.Has(m.key) {
		for range m.count(td.Shape()[0]) {
			m.bits = append(m.bits, present)
		}
		return nil
	}
	v, err := td.Get(m.key)
	if err != nil {
		return err
	}
	if r, ok := v.(*ragged.Tensor); ok {
		layout := r.Layout().Compact()
		for i, l := range m.of.Levels[:m.depth] {
			if err := l.load(layout, i+1); err != nil {
				return err
			}
		}
		if v, err = r.Values(); err != nil {
			return err
		}
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return fmt.Errorf("%w: got %T", tdict.ErrKind, v)
	}
	return tensor.Read(t, func(bits []bool) { m.bits = append(m.bits[:0], bits...) })
}
