package columns

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// bound has the facts of a schema about a column.
type bound struct {
	spec  *tdict.Spec // nil if the column is not read
	outer int         // the number of levels of the struct around it
	masks []nestedkey.Key
	order int              // of its entry in the schema
	dtype tensor.DType     // of the elements
	codes map[string]int32 // of the categories, or nil

	data  []byte // memory that is used again
	index []int  // into a dictionary
	table []int  // the codes of the texts of a dictionary
}

// bindAll binds columns to the entries with their names. dims are the dims after the rows and depth
// the levels that the struct around them has. It sorts the columns as the entries are, and adds the
// keys of entries that have a column, and of their masks, to found.
func bindAll(columns []*column, entries []*entry, dims shapeops.Shape, depth int, found map[nestedkey.Key]bool) error {
	numbers := make(map[string]int, len(entries))
	for i, e := range entries {
		numbers[e.name] = i
	}
	for _, c := range columns {
		i, ok := numbers[c.key.Name()]
		if c.bound = (bound{order: len(entries)}); !ok {
			continue
		}
		e, err := entries[i], c.err
		if err == nil {
			err = c.bind(&e.spec, dims, depth)
		}
		if err == nil {
			err = c.bindMasks(e.masks)
		}
		if err == nil {
			err = bindAll(c.inner, e.inner, e.spec.Shape, e.spec.Depth, found)
		}
		if err != nil {
			return failed(e.spec.Key, err)
		}
		c.order, found[e.spec.Key] = i, true
		for _, m := range e.masks {
			found[m.Key] = true
		}
	}
	slices.SortFunc(columns, func(x, y *column) int { return cmp.Or(x.order-y.order, x.field-y.field) })
	for _, e := range entries {
		if !found[e.spec.Key] {
			if err := e.checkOptional(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOptional returns tdict.ErrMissing if a file must have a column for e.
func (e *entry) checkOptional() error {
	if e.spec.Optional {
		return nil
	}
	if !e.implied {
		return failed(e.spec.Key, fmt.Errorf("%w: got no such column", tdict.ErrMissing))
	}
	for _, x := range e.inner {
		if err := x.checkOptional(); err != nil {
			return err
		}
	}
	return nil
}

// bind binds c to a spec. It returns tdict.ErrSchema if the spec does not fit.
func (c *column) bind(spec *tdict.Spec, dims shapeops.Shape, depth int) error {
	batch, levels, features := spec.Shape, spec.Depth-depth, shapeops.Shape(nil)
	switch spec.Kind {
	case tdict.KindRagged:
		batch, features = spec.Batch, spec.Shape
		if c.value.isText() && spec.Categories == nil {
			levels-- // the bytes
		}
	case tdict.KindTensor, tdict.KindData:
		levels = -depth
	}
	if len(batch) < len(dims) || !fits(batch[:len(dims)], dims) || levels < 0 {
		return c.misfit(spec)
	}
	all := append(batch[len(dims):len(batch):len(batch)], features...)
	before := len(batch) - len(dims) // dims before the levels
	for i := range c.steps {
		s := &c.steps[i]
		if s.level = before == 0 && levels > 0; s.level {
			levels--
			continue
		}
		if s.dims = s.known; s.dims == nil && len(all) > 0 && all[0] != tdict.Any {
			s.dims = shapeops.Shape{all[0]}
		}
		if s.dims == nil || len(s.dims) > len(all) || !fits(all[:len(s.dims)], s.dims) {
			return c.misfit(spec)
		}
		all = all[len(s.dims):]
		if before > 0 {
			if before -= len(s.dims); before < 0 {
				return c.misfit(spec)
			}
		}
	}
	if len(all) > 0 || levels > 0 || !c.holds(spec) {
		return c.misfit(spec)
	}
	c.spec, c.outer, c.dtype = spec, depth, spec.DType
	if c.dtype == 0 && c.leaf.form.layout != structs {
		if c.dtype = c.value.dtype; c.dtype == 0 {
			c.dtype = tensor.Uint8
		}
	}
	return c.bindCodes()
}

// fits reports whether got has the sizes of want, in which tdict.Any fits all.
func fits(want, got shapeops.Shape) bool {
	for i, n := range got {
		if want[i] != n && want[i] != tdict.Any {
			return false
		}
	}
	return true
}

// misfit returns the error for a spec that does not fit.
func (c *column) misfit(spec *tdict.Spec) error {
	return fmt.Errorf("%w: got %s, want what fits %v", tdict.ErrSchema, c.describe(), tdict.Schema{*spec})
}

// describe describes the type of c.
func (c *column) describe() string {
	if len(c.steps) > 0 {
		return c.steps[0].typ.String()
	}
	return c.leaf.typ.String()
}

// holds reports whether the leaf holds values of a spec.
func (c *column) holds(s *tdict.Spec) bool {
	f := c.value
	switch s.Kind {
	case tdict.KindDict:
		return f.layout == structs
	case tdict.KindText, tdict.KindData:
		return f.isText() || f.layout == nothing
	case tdict.KindTensor, tdict.KindRagged:
		if f.layout == nothing {
			return s.DType != 0
		}
		if f.isText() {
			return s.Categories != nil || s.Kind == tdict.KindRagged && (s.DType == tensor.Uint8 || s.DType == 0)
		}
		return f.dtype != 0 && (s.DType == f.dtype || s.DType == 0) && (f.unit == "" || f.unit == s.Unit || s.Unit == "" && s.Time == "")
	}
	return false
}

// bindCodes numbers the texts of the categories.
func (c *column) bindCodes() error {
	c.codes = nil
	if c.spec.Categories == nil || !c.value.isText() {
		return nil
	}
	size := c.dtype.Size()
	if n := len(c.spec.Categories); !c.dtype.IsInteger() || size < 4 && n > 1<<(8*size-1) {
		return fmt.Errorf("%w: got %d categories for %v", tdict.ErrSchema, n, c.dtype)
	}
	c.codes = make(map[string]int32, len(c.spec.Categories))
	for i, text := range c.spec.Categories {
		c.codes[text] = int32(i)
	}
	return nil
}

// mask returns the key of the mask inside depth levels, or "".
func (c *column) mask(depth int) nestedkey.Key {
	if depth -= c.outer; depth < 0 || depth >= len(c.masks) {
		return ""
	}
	return c.masks[depth]
}

// bindMasks keeps the keys of masks by depth.
func (c *column) bindMasks(masks []tdict.Spec) error {
	last := c.spec.Depth + 1
	for _, m := range masks {
		if m.Depth < c.outer || m.Depth >= last {
			return fmt.Errorf("%w: got the mask %q of Depth %d, want at least %d and less than %d", tdict.ErrSchema, m.Key, m.Depth, c.outer, last)
		}
		if c.masks == nil {
			c.masks = make([]nestedkey.Key, m.Depth-c.outer+1)
		}
		c.masks[m.Depth-c.outer], last = m.Key, m.Depth
	}
	return nil
}
