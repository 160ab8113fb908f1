package columns

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An Inferrer proposes a schema for batches. Without batches, each column that may have nulls has a
// mask, and texts in dictionaries are text; with batches, only a column in which [Inferrer.Add] saw
// a null has a mask, and texts in dictionaries are categories. Not safe for concurrent use.
type Inferrer struct {
	opt    *Options
	taken  map[nestedkey.Key]bool // keys of columns, and of masks
	tried  map[nestedkey.Key]int  // numbers after keys that were taken
	fields []arrow.Field
	roots  []*column
	stored string // the schema in the metadata, as JSON
	seen   bool   // what the columns have is known
}

// NewInferrer returns an Inferrer for batches with the schema s. It returns tdict.ErrKind if s is
// nil.
func NewInferrer(s *arrow.Schema, opt Options) (*Inferrer, error) {
	if s == nil {
		return nil, fmt.Errorf("arrow: %w: got nil, want a schema", tdict.ErrKind)
	}
	x := &Inferrer{opt: &opt, taken: map[nestedkey.Key]bool{}, tried: map[nestedkey.Key]int{}, fields: s.Fields()}
	x.stored, _ = s.Metadata().GetValue(schemaName)
	x.roots = x.columns(x.fields, nil, featuresOf(s.Metadata()), 0)
	return x, nil
}

// Add looks at a batch. It returns the errors of [Reader.Dict] about memory.
func (x *Inferrer) Add(rec arrow.RecordBatch) error {
	x.seen = true
	r := Reader{most: MemoryOf(x.opt.MaxMemory), fields: x.fields, roots: x.roots, dry: true}
	_, err := r.Dict(rec)
	return err
}

// AddSome is Add for a batch that has only the columns with the numbers in fields, which ascend.
func (x *Inferrer) AddSome(rec arrow.RecordBatch, fields []int) error {
	x.seen = true
	roots := slices.DeleteFunc(slices.Clone(x.roots), func(c *column) bool { return !slices.Contains(fields, c.field) })
	r := Reader{most: MemoryOf(x.opt.MaxMemory), fields: x.fields, roots: roots, dry: true}
	n := int(rec.NumRows())
	_, err := r.rows(n, some(rec, fields, 0, n))
	return err
}

// Schema returns the entries that opt.Keys selects: as [FromDict] wrote them, where the metadata
// say it and the columns still fit; otherwise as the Inferrer proposes them. It returns, with the
// key, [ErrType] for a column of a type that no entry can have, unless opt.Skip is set or opt.Keys
// do not select it, and tdict.ErrMissing for a key that selects nothing.
func (x *Inferrer) Schema() (schema tdict.Schema, err error) {
	var stored tdict.Schema
	if x.stored != "" && stored.UnmarshalJSON([]byte(x.stored)) != nil {
		x.note("the schema in the metadata is invalid")
	}
	taken := maps.Clone(x.taken)
	defer func() { x.taken = taken }()
	groups := map[string]*entry{}
	for _, e := range entriesOf(stored) {
		groups[e.name] = e
	}
	kept, others := map[nestedkey.Key]bool{}, []*column{}
	for _, c := range slices.SortedFunc(slices.Values(x.roots), func(a, b *column) int { return a.field - b.field }) {
		e := groups[c.key.Name()]
		if e == nil {
			others = append(others, c)
			continue
		}
		found := map[nestedkey.Key]bool{}
		err := x.masksAreFree(e)
		if err == nil {
			err = bindAll([]*column{c}, []*entry{e}, nil, 0, found)
		}
		if err == nil {
			err = c.complete(x.seen)
		}
		if err != nil {
			x.note("column %q is not as the schema in the metadata says: %v", c.key, err)
			others = append(others, c)
			continue
		}
		maps.Copy(kept, found)
	}
	maps.Copy(x.taken, kept)
	instead := map[nestedkey.Key]tdict.Schema{} // in the place of a stored entry
	var more tdict.Schema
	for _, c := range others {
		entries, err := x.propose(c, nil, 0)
		switch e := groups[c.key.Name()]; {
		case err != nil:
			return nil, err
		case e != nil:
			instead[e.spec.Key] = entries
		default:
			more = append(more, entries...)
		}
	}
	for _, s := range stored {
		if kept[s.Key] {
			schema = append(schema, s)
		}
		schema = append(schema, instead[s.Key]...)
	}
	schema = append(schema, more...)
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	return selectKeys(schema, x.opt.Keys)
}

// masksAreFree returns an error if a mask of an entry, or in it, has the key of a column.
func (x *Inferrer) masksAreFree(e *entry) error {
	for _, m := range e.masks {
		if x.taken[m.Key] {
			return fmt.Errorf("%w: another column has the key of its mask, %q", tdict.ErrSchema, m.Key)
		}
	}
	for _, in := range e.inner {
		if err := x.masksAreFree(in); err != nil {
			return err
		}
	}
	return nil
}

// complete returns an error unless all columns in c are bound, with masks for the nulls that were
// seen.
func (c *column) complete(seen bool) error {
	if c.spec == nil {
		return failed(c.key, tdict.ErrMissing)
	}
	for text := range c.texts {
		if _, ok := c.codes[text]; c.codes != nil && !ok {
			return failed(c.key, tdict.ErrSchema)
		}
	}
	for depth := range c.nulls(seen) {
		if seen && c.mask(depth) == "" && c.spec.Kind != tdict.KindData {
			return failed(c.key, ErrNull)
		}
	}
	for _, x := range c.inner {
		if err := x.complete(seen); err != nil {
			return err
		}
	}
	return nil
}

// nulls returns the depths at which values may be null, or were if seen is set. The levels of
// c are known.
func (c *column) nulls(seen bool) map[int]bool {
	at, depths := c.outer, map[int]bool{}
	for i, p := range c.places() {
		if p.nulls || p.nullable && !seen {
			depths[at] = true
		}
		if i < len(c.steps) && c.steps[i].level {
			at++
		}
	}
	return depths
}

// propose returns the entries of a column inside dims and levels, with masks.
func (x *Inferrer) propose(c *column, dims shapeops.Shape, depth int) (tdict.Schema, error) {
	entries, err := x.entries(c, dims, depth)
	switch {
	case err == nil:
		return entries, nil
	case !x.selected(c.key):
		return nil, nil
	case x.opt.Skip:
		x.note("column %q is left out: %v", c.key, err)
		return nil, nil
	}
	return nil, failed(c.key, fmt.Errorf("%w: leave it out with Skip", err))
}

// selected reports whether Keys select a key or something in it.
func (x *Inferrer) selected(key nestedkey.Key) bool {
	return x.opt.Keys == nil || slices.ContainsFunc(x.opt.Keys, func(k nestedkey.Key) bool { return key.HasPrefix(k) || k.HasPrefix(key) })
}

// entries is propose for a column that must have entries.
func (x *Inferrer) entries(c *column, dims shapeops.Shape, depth int) (tdict.Schema, error) {
	if c.err != nil {
		return nil, c.err
	}
	s := tdict.Spec{Key: c.key, DType: c.value.dtype, Unit: c.value.unit, Categories: c.names}
	c.outer = depth
	isText, isDict := c.value.isText(), c.leaf.form.layout == structs
	if texts := c.categories(); texts != nil {
		s.DType, s.Categories, isText = tensor.Int32, texts, false
	}
	first, last := c.levels(depth, isText || isDict || c.value.layout == nothing)
	for i := range c.steps {
		step := &c.steps[i]
		switch step.level = i >= first && i <= last; {
		case step.level:
			depth++
		case i < first:
			dims = append(dims[:len(dims):len(dims)], step.known...)
		default:
			s.Shape = append(s.Shape, step.known...)
		}
	}
	switch {
	case isDict:
		s.Kind, s.Depth, s.Shape = tdict.KindDict, depth, dims
		if depth > 0 && len(dims) > 0 {
			return nil, fmt.Errorf("%w: got lists of structs in lists of one size", ErrType)
		}
	case c.value.layout == nothing && depth > c.outer: // as jsonl has lists without values
		s.Kind, s.DType, s.Depth, s.Batch = tdict.KindRagged, tensor.Float64, depth, dims
	case c.value.layout == nothing || isText && c.isUTF8() && (depth == 0 || len(dims) == 0):
		s.Kind, s.Depth, s.Shape = tdict.KindText, depth, dims
	case isText:
		s.Kind, s.DType, s.Depth, s.Batch = tdict.KindRagged, tensor.Uint8, depth+1, dims
	case depth > 0:
		s.Kind, s.Depth, s.Batch = tdict.KindRagged, depth, dims
	default:
		s.Shape = append(dims[:len(dims):len(dims)], s.Shape...)
	}
	if c.value.time {
		s.Time = c.timeLayout()
	}
	entries := x.masks(c, &s)
	if isDict {
		plain := len(entries) == 0 && len(c.inner) > 0 && len(c.steps) == 0
		if entries = append(tdict.Schema{s}, entries...); plain {
			entries = nil
		}
		for _, inner := range c.inner {
			more, err := x.propose(inner, dims, depth)
			if err != nil {
				return nil, err
			}
			entries = append(entries, more...)
		}
		return entries, nil
	}
	return append(tdict.Schema{s}, entries...), nil
}

// levels returns the first and the last step that is a level, of a column inside depth levels.
// Steps before them are dims of the batch, and steps after them features. If the values are whole,
// such as texts, all steps are levels if one is. Without levels, first is after all steps.
func (c *column) levels(depth int, whole bool) (first, last int) {
	last = -1
	for i := range c.steps {
		if c.steps[i].known == nil {
			last = i
		}
	}
	switch {
	case depth == 0 && last < 0:
		return len(c.steps), last
	case whole:
		return 0, len(c.steps) - 1
	}
	for first < last && c.steps[first].known != nil && depth == 0 {
		first++
	}
	for i, p := range c.places() { // nulls in values of several elements
		if p.nulls && i > last+1 {
			last = i - 1
		}
	}
	return first, last
}

// isUTF8 reports whether texts are UTF-8, as their type says.
func (c *column) isUTF8() bool {
	switch c.leaf.typ.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

// categories returns the texts of dictionaries, if they were seen and are UTF-8.
func (c *column) categories() []string {
	if c.texts == nil || !c.isUTF8() {
		return nil
	}
	texts := make([]string, len(c.texts))
	for text, i := range c.texts {
		if texts[i] = text; !utf8.ValidString(text) {
			return nil
		}
	}
	return texts
}

// timeLayout returns the layout of the times of c.
func (c *column) timeLayout() string {
	layout := "2006-01-02"
	if c.leaf.typ.ID() != arrow.TIMESTAMP {
		return layout
	}
	layout += "T15:04:05" + map[string]string{"ms": ".000", "us": ".000000", "ns": ".000000000"}[c.value.unit]
	if c.zone {
		layout += "Z"
	}
	return layout
}

// masks sets the mask of s, and returns the specs of the masks, the deepest first.
func (x *Inferrer) masks(c *column, s *tdict.Spec) (masks tdict.Schema) {
	of := s
	for _, depth := range slices.Backward(slices.Sorted(maps.Keys(c.nulls(x.seen)))) {
		key := x.free(s.Key + "_mask")
		of.Mask = key
		named := *s
		named.Mask = key
		masks = append(masks, maskOf(&named, depth))
		of = &masks[len(masks)-1]
	}
	return masks
}
