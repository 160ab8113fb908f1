package memmap

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

// sourceDir is the directory of the dictionary that a view is of.
const sourceDir = "_source"

// view reads a view of Python's: the rows that its index selects from the dictionary in it. Its
// leaves lie in the mapped files, but a list or a mask in the index copies them.
func (r *reader) view(n tree, m *meta, batch shapeops.Shape, depth int) (tdict.Value, error) {
	was := r.row
	r.row = someRows // the index is not known yet
	v, err := r.inner(n, &metaEntry{name: sourceDir}, batch, depth)
	r.row = was
	if v == nil || err != nil {
		return nil, err
	}
	source, ok := v.(*tdict.TensorDict)
	if !ok {
		return nil, r.fail(n, sourceDir, corrupt("got another kind of value, want a dictionary"))
	}
	expr, err := r.readIndex(m.index)
	if err == nil {
		err = r.picks(source, expr)
	}
	if err != nil {
		return nil, r.fail(n, metaName, err)
	}
	td, err := source.Index(expr...)
	if err != nil {
		return nil, r.fail(n, metaName, corrupt("field \"index\": %w", err))
	}
	return td, nil
}

// picks counts the bytes that a list or a mask in an index copies. It returns an error beyond the
// limit, and for Writable.
func (r *reader) picks(source *tdict.TensorDict, expr []ix.Index) error {
	rows, picks := 1, false
	for _, x := range expr {
		switch x.Kind() {
		case ix.KindTake:
			rows, picks = max(rows, len(x.List())), true
		case ix.KindMask:
			picks = true
		}
	}
	if !picks {
		return nil
	}
	if r.opt.Writable {
		return unsupported("a view that picks rows by a list is read as a copy: it cannot be opened Writable")
	}
	for _, v := range source.Leaves() {
		r.copied += float64(bytesOf(v)) * float64(rows)
	}
	if limit := r.maxCopy(); r.copied > float64(limit) {
		return unsupported("copying the rows of views needs up to %.0f bytes, want at most %d: raise MaxCopy", r.copied, limit)
	}
	return nil
}

// bytesOf returns the size of the elements of a leaf in bytes.
func bytesOf(v tdict.Leaf) int64 { return entryOf("", v).Bytes }

// readIndex reads the index of a view: a tuple of numbers, bools, nulls, and lists that begin with
// a tag. Before v0.14 the tuple and the lists in it have no tag.
func (r *reader) readIndex(text []byte) ([]ix.Index, error) {
	if text == nil {
		return nil, corrupt("no field %q", "index")
	}
	d := &indexReader{left: r.maxCopy() / 8}
	v, err := d.value(jsonscan.New(text), 0)
	if err != nil {
		return nil, inField([]byte("index"), err)
	}
	parts, ok := v.(tagged)
	if !ok {
		return nil, corrupt("field %q: want a list", "index")
	}
	if parts.tag != "" && parts.tag != "tuple" {
		parts = tagged{parts: []any{parts}}
	}
	expr, bools := make([]ix.Index, len(parts.parts)), 0
	for i, part := range parts.parts {
		if _, ok := part.(bool); ok {
			bools++
		}
		if bools > 1 {
			return nil, unsupported("field %q: part %d: got a second bool, want at most one", "index", i)
		}
		if expr[i], err = d.part(part); err != nil {
			return nil, fmt.Errorf("field %q: part %d: %w", "index", i, err)
		}
	}
	return expr, nil
}

// A tagged is a list, with its tag.
type tagged struct {
	tag    string         // "" for a list without a tag
	parts  []any          // int64, bool, nil or tagged
	bounds map[string]any // of a slice or range: int64 or nil
}

// An indexReader reads the values of an index, at most left of them. A range counts with all its
// values.
type indexReader struct{ left int64 }

// value reads a value within depth lists.
func (d *indexReader) value(s *jsonscan.Scanner, depth int) (any, error) {
	if d.left--; d.left < 0 || depth > maxDims {
		return nil, unsupported("an index of too many numbers: raise MaxCopy")
	}
	switch c := s.Next(); {
	case c == 'n':
		return nil, s.Null()
	case c == 't' || c == 'f':
		return s.Bool()
	case c == '[':
		return d.list(s, depth)
	}
	return s.Int()
}

// list reads a list, with or without a tag.
func (d *indexReader) list(s *jsonscan.Scanner, depth int) (t tagged, err error) {
	err = s.Array(func(i int) error {
		switch {
		case s.Next() == '"' && i == 0:
			text, err := s.Text()
			t.tag = string(text)
			return err
		case s.Next() == '"' && t.tag == "tensor" && i == 2: // the device
			_, err := s.Text()
			return err
		case s.Next() == '{' && i == 1:
			t.bounds = map[string]any{}
			return s.Object(func(name []byte) error {
				v, err := d.value(s, maxDims)
				t.bounds[string(name)] = v
				return err
			})
		}
		v, err := d.value(s, depth+1)
		t.parts = append(t.parts, v)
		return err
	})
	if inner, ok := oneList(t); ok && err == nil {
		t.parts = inner
	}
	return t, err
}

// oneList returns the parts of the list in a tagged list or tuple.
func oneList(t tagged) ([]any, bool) {
	if t.tag != "tuple" && t.tag != "list" || len(t.parts) != 1 {
		return nil, false
	}
	inner, ok := t.parts[0].(tagged)
	return inner.parts, ok && inner.tag == ""
}

// part returns a part of the index as an ix.Index.
func (d *indexReader) part(v any) (ix.Index, error) {
	switch v := v.(type) {
	case nil:
		return ix.New, nil
	case bool: // a mask over no dims
		if !v {
			return ix.Index{}, unsupported("got false, want true")
		}
		return ix.New, nil
	case int64:
		return position(v)
	case tagged:
		return d.index(v)
	}
	return ix.Index{}, corrupt("got a %T, want an integer, a bool, null or a list", v)
}

// position returns a number as an ix.Index.
func position(n int64) (ix.Index, error) {
	if n < math.MinInt32 || n > math.MaxInt && math.MaxInt < math.MaxInt64 {
		return ix.Index{}, corrupt("got position %d, which is out of range", n)
	}
	return ix.At(int(n)), nil
}

// index returns a tagged list as an ix.Index.
func (d *indexReader) index(t tagged) (ix.Index, error) {
	switch t.tag {
	case "slice":
		return t.slice()
	case "range":
		return d.span(t)
	case "ellipsis":
		return ix.Rest, nil
	case "tensor":
		if len(t.parts) != 1 {
			return ix.Index{}, corrupt("got a tensor with %d arguments, want 1", len(t.parts))
		}
		if list, ok := t.parts[0].(tagged); ok {
			return list.list()
		}
		return d.part(t.parts[0])
	case "", "list":
		return t.list()
	}
	return ix.Index{}, unsupported("an index of kind %s", quote(t.tag))
}

// bound returns a bound of a slice or range, or none if it is missing.
func (t tagged) bound(name string, none int) (int, error) {
	switch v := t.bounds[name].(type) {
	case nil:
		return none, nil
	case int64:
		return int(max(min(v, math.MaxInt32<<20), -math.MaxInt32<<20)), nil
	}
	return 0, corrupt("got %v as %s, want an integer", t.bounds[name], name)
}

// slice returns a slice of Python's as an ix.Index.
func (t tagged) slice() (ix.Index, error) {
	start, err := t.bound("start", 0)
	if err != nil {
		return ix.Index{}, err
	}
	stop, err := t.bound("stop", ix.End)
	if err != nil {
		return ix.Index{}, err
	}
	step, err := t.bound("step", 1)
	if err == nil && step <= 0 {
		err = corrupt("got step %d, want at least 1, as torch does", step)
	}
	return ix.Range(start, stop).Step(step), err
}

// span returns a range of Python's as a list of positions.
func (d *indexReader) span(t tagged) (ix.Index, error) {
	var bounds [3]int
	for i, name := range []string{"start", "stop", "step"} {
		var err error
		if bounds[i], err = t.bound(name, i/2); err != nil {
			return ix.Index{}, err
		}
	}
	start, stop, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return ix.Index{}, corrupt("got a range with step 0")
	}
	var rows []int
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		if d.left--; d.left < 0 {
			return ix.Index{}, unsupported("a range of too many numbers: raise MaxCopy")
		}
		rows = append(rows, i)
	}
	return ix.Take(rows...), nil
}

// list returns a list of positions, or a mask, of any number of dims.
func (t tagged) list() (ix.Index, error) {
	var rows []int
	var bits []bool
	shape, err := t.flatten(&rows, &bits)
	switch {
	case err != nil:
		return ix.Index{}, err
	case len(bits) > 0 && len(rows) > 0:
		return ix.Index{}, corrupt("got a list with both numbers and bools")
	case len(bits) > 0:
		return ix.Mask(bits, shape...), nil
	}
	return ix.TakeND(rows, shape...), nil
}

// flatten appends the numbers and bools of nested lists to rows and bits, and returns their shape.
func (t tagged) flatten(rows *[]int, bits *[]bool) (shape shapeops.Shape, err error) {
	if t.tag != "" && t.tag != "list" {
		return nil, corrupt("got %s in a list", quote(t.tag))
	}
	for i, part := range t.parts {
		var inner shapeops.Shape
		switch v := part.(type) {
		case int64:
			if v < math.MinInt32 || v > math.MaxInt32<<20 {
				return nil, corrupt("got position %d, which is out of range", v)
			}
			*rows = append(*rows, int(v))
		case bool:
			*bits = append(*bits, v)
		case tagged:
			if inner, err = v.flatten(rows, bits); err != nil {
				return nil, err
			}
		default:
			return nil, corrupt("got null in a list")
		}
		if i > 0 && !slices.Equal(inner, shape) {
			return nil, corrupt("got lists of different lengths")
		}
		shape = inner
	}
	return append(shapeops.Shape{len(t.parts)}, shape...), nil
}
