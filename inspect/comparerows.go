package inspect

import (
	"errors"
	"slices"
	"sort"
	"strconv"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// values returns the values of all rows, [V F...], and the layout. The values share t's memory if
// they are in order.
func values(t *ragged.Tensor) (*tensor.Tensor, *ragged.Layout, error) {
	v, err := t.ValuesView()
	if errors.Is(err, tensor.ErrLayout) {
		v, err = t.Values()
	}
	return v, t.Layout(), err
}

// rows compares two ragged leaves of one batch shape, depth and features.
func (c *comparison) rows(p pair, a, b *ragged.Tensor) (d tdict.Difference, differ bool, err error) {
	va, la, err := values(a)
	if err != nil {
		return d, false, err
	}
	vb, lb, err := values(b)
	if err != nil {
		return d, false, err
	}
	outer := la.Depth()
	if kindOf(a) == tdict.KindText {
		outer-- // the lengths of the texts are part of them
	}
	for level := 1; level <= outer; level++ {
		if d, differ, err = c.lengths(p, la, lb, level); differ || err != nil {
			return d, differ, err
		}
	}
	if kindOf(a) == tdict.KindText {
		return c.texts(p, la, lb, va, vb)
	}
	width := max(1, a.Features().Size())
	position := func(i int) []int {
		return slices.Concat(rowPosition(la, la.Depth(), i/width), a.Features().Position(i%width))
	}
	return c.tensors(p, va, vb, position)
}

// lengths compares the lengths of the rows of one level.
func (c *comparison) lengths(p pair, a, b *ragged.Layout, level int) (d tdict.Difference, differ bool, err error) {
	la, err := a.Offsets(level)
	if err != nil {
		return d, false, err
	}
	lb, err := b.Offsets(level)
	if err != nil || slices.Equal(la, lb) {
		return d, false, err
	}
	var t tallied
	for i := range len(la) - 1 {
		if la[i+1]-la[i] == lb[i+1]-lb[i] {
			continue
		}
		if t.count++; t.count <= c.opt.most() {
			t.first = append(t.first, tensor.ElementDiff{Position: rowPosition(a, level-1, i), A: length(la, i), B: length(lb, i)})
		}
	}
	d, differ, err = c.blocks(p, 1, func(int, int) (tallied, error) { return t, nil })
	d.Kind = tdict.DiffShape
	d.Text = elementsText(d)
	return d, differ, err
}

// length returns the length of row i as text.
func length(offsets []int64, i int) string { return strconv.FormatInt(offsets[i+1]-offsets[i], 10) }

// rowPosition returns the position of row i of a level: its position in the batch, then its
// position in the row of each outer level.
func rowPosition(l *ragged.Layout, level, i int) []int {
	var inner []int
	for ; level > 0; level-- {
		offsets, err := l.Offsets(level)
		if err != nil { // impossible: the level exists
			return nil
		}
		row := sort.Search(len(offsets), func(k int) bool { return offsets[k] > int64(i) }) - 1
		inner = append(inner, i-int(offsets[row]))
		i = row
	}
	slices.Reverse(inner)
	return append(l.Shape().Position(i), inner...)
}

// textRows is the number of texts that one goroutine compares at a time.
const textRows = 1 << 12

// texts compares texts, which are the rows of the last level. The outer levels are equal.
func (c *comparison) texts(p pair, la, lb *ragged.Layout, a, b *tensor.Tensor) (d tdict.Difference, differ bool, err error) {
	oa, err := la.Offsets(-1)
	if err != nil {
		return d, false, err
	}
	ob, err := lb.Offsets(-1)
	if err != nil {
		return d, false, err
	}
	n := len(oa) - 1
	if c.opt.TrustSums && slices.Equal(oa, ob) && memmap.SameSums(a, b) {
		return d, false, nil
	}
	return c.blocks(p, (n+textRows-1)/textRows, func(block, most int) (t tallied, err error) {
		first := block * textRows
		last := min(first+textRows, n)
		err = readTexts(a, b, oa[first:last+1], ob[first:last+1], func(i int, x, y []byte) {
			if string(x) == string(y) {
				return
			}
			if t.count++; t.count <= most {
				t.first = append(t.first, tensor.ElementDiff{Position: rowPosition(la, la.Depth()-1, first+i), A: textOf(x), B: textOf(y)})
			}
		})
		return t, err
	})
}

// readTexts calls fn with each pair of texts between the offsets oa and ob.
func readTexts(a, b *tensor.Tensor, oa, ob []int64, fn func(i int, x, y []byte)) error {
	part := func(x *tensor.Tensor, o []int64) (*tensor.Tensor, error) {
		return x.Index(ix.Range(int(o[0]), int(o[len(o)-1])))
	}
	pa, err := part(a, oa)
	if err != nil {
		return err
	}
	pb, err := part(b, ob)
	if err != nil {
		return err
	}
	return readBoth(pa, pb, func(x, y []uint8) {
		for i := range len(oa) - 1 {
			fn(i, x[oa[i]-oa[0]:oa[i+1]-oa[0]], y[ob[i]-ob[0]:ob[i+1]-ob[0]])
		}
	})
}

// textOf returns a text quoted. Of a long text it returns the beginning.
func textOf(b []byte) string {
	const most = 60
	if len(b) > most {
		return strconv.Quote(string(b[:most])) + "..."
	}
	return strconv.Quote(string(b))
}

// data compares values of Data, as tdict.Diffs does.
func (c *comparison) data(p pair, a, b *tdict.Data) (d tdict.Difference, differ bool, err error) {
	var both [2]*tdict.TensorDict
	for i, v := range []*tdict.Data{a, b} {
		if both[i], err = tdict.FromMap(v.Shape(), tdict.Entries{"data": v}); err != nil {
			return d, false, err
		}
	}
	for d := range both[0].Diffs(both[1]) {
		d.Key = p.key
		d.Elements = d.Elements[:min(len(d.Elements), c.opt.most())]
		d.Text = elementsText(d)
		return d, true, d.Err
	}
	return d, false, nil
}
