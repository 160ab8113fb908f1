package columns

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Reader makes dictionaries of record batches of one schema, one after the other, in memory that
// it uses again. Not safe for concurrent use.
type Reader struct {
	// Lend, if not nil, returns a lender of the memory of a buffer, and the offset in it at which
	// the buffer begins. Tensors that share memory with a batch are made of it. If Lend or the
	// lender is nil, the Reader makes a lender that retains the buffer.
	Lend func(b *memory.Buffer) (l tensor.Lender, offset int)

	most   int64 // bytes for a batch
	schema tdict.Schema
	fields []arrow.Field
	roots  []*column
	dry    bool // collect facts, make no entries

	td      *tdict.TensorDict
	masks   map[nestedkey.Key]tdict.Value
	need    int64 // the bytes for the current batch
	bases   []*ragged.Layout
	layouts map[layoutKey]*ragged.Layout
}

// NewReader returns a Reader for batches with the schema s. opt.Schema has the entries; nil means
// [Inferrer.Schema]. An Optional entry without a Mask gets one, as package jsonl does.
//
// NewReader returns the errors of [Inferrer.Schema]; [ErrType] and tdict.ErrSchema for an entry
// that its column cannot be; and tdict.ErrMissing for an entry without a column, unless it is
// Optional. All have the key.
func NewReader(s *arrow.Schema, opt Options) (*Reader, error) {
	x, err := NewInferrer(s, opt)
	if err != nil {
		return nil, err
	}
	schema := opt.Schema
	if schema == nil {
		if schema, err = x.Schema(); err != nil {
			return nil, err
		}
	}
	return x.reader(schema)
}

// reader returns a Reader that uses x's columns.
func (x *Inferrer) reader(schema tdict.Schema) (*Reader, error) {
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	schema, err := selectKeys(withMasks(schema), x.opt.Keys)
	if err != nil {
		return nil, err
	}
	r := &Reader{most: MemoryOf(x.opt.MaxMemory), schema: schema, fields: x.fields, roots: x.roots, layouts: map[layoutKey]*ragged.Layout{}, masks: map[nestedkey.Key]tdict.Value{}}
	found := map[nestedkey.Key]bool{}
	if err := bindAll(r.roots, entriesOf(schema), nil, 0, found); err != nil {
		return nil, err
	}
	for _, s := range x.opt.Schema {
		if s.Optional && !found[s.Key] && (x.opt.Keys == nil || slices.Contains(x.opt.Keys, s.Key)) {
			x.note("entry %q of the schema has no column", s.Key)
		}
	}
	r.schema = slices.DeleteFunc(schema, func(s tdict.Spec) bool { return !found[s.Key] })
	return r, nil
}

// Schema returns the schema of the dictionaries: the entries that are read, with masks.
func (r *Reader) Schema() tdict.Schema { return slices.Clone(r.schema) }

// withMasks returns a schema in which each Optional entry has a mask, and each mask is listed.
func withMasks(schema tdict.Schema) (s tdict.Schema) {
	taken, masks, listed := map[nestedkey.Key]bool{}, map[nestedkey.Key]bool{}, map[nestedkey.Key]tdict.Spec{}
	for _, spec := range schema {
		taken[spec.Mask], masks[spec.Mask], listed[spec.Key] = true, true, spec
		for key, nested := spec.Key, true; nested; key, nested = key.Parent() {
			taken[key] = true
		}
	}
	for _, spec := range schema {
		at := len(s)
		s = append(s, spec)
		if spec.Optional && spec.Mask == "" && !masks[spec.Key] && spec.Kind != tdict.KindData {
			s[at].Mask = table.FreeKey(spec.Key+"_mask", func(key nestedkey.Key) bool { return taken[key] })
			taken[s[at].Mask] = true
		}
		if mask := s[at].Mask; mask != "" && listed[mask].Key == "" {
			depth := 0 // of the dictionary around it
			for key, nested := spec.Key.Parent(); nested && depth == 0; key, nested = key.Parent() {
				depth = listed[key].Depth
			}
			listed[mask] = maskOf(&s[at], depth)
			s = append(s, listed[mask])
		}
	}
	return s
}

// maskOf returns the spec of the mask of an entry inside depth levels.
func maskOf(s *tdict.Spec, depth int) tdict.Spec {
	m := tdict.Spec{Key: s.Mask, DType: tensor.Bool, Shape: s.Shape, Doc: "where " + string(s.Key) + " is not missing"}
	if s.Kind == tdict.KindRagged {
		m.Shape = s.Batch
	}
	if depth > 0 {
		m.Kind, m.Depth, m.Shape, m.Batch = tdict.KindRagged, depth, nil, s.Batch
	}
	return m
}

// selectKeys returns the entries of a schema that keys select, with all entries below them, their
// masks and the dictionaries around them. It returns tdict.ErrMissing for a key that selects
// nothing, and for a mask without its entry.
func selectKeys(schema tdict.Schema, keys []nestedkey.Key) (tdict.Schema, error) {
	if keys == nil {
		return schema, nil
	}
	used, wanted := make(map[nestedkey.Key]bool, len(keys)), map[nestedkey.Key]bool{}
	for _, key := range keys {
		used[key] = false
	}
	masks, specs := masksOf(schema), make(map[nestedkey.Key]tdict.Spec, len(schema))
	for _, s := range schema {
		specs[s.Key] = s
	}
	for _, s := range schema {
		selected := false
		for at, more := s.Key, !masks[s.Key]; more; at, more = at.Parent() {
			if _, ok := used[at]; ok {
				used[at], selected = true, true
			}
		}
		for at, more := s.Key, selected; more; at, more = at.Parent() {
			for key := at; key != ""; key = specs[key].Mask {
				wanted[key] = true
			}
		}
	}
	for _, key := range keys {
		switch {
		case used[key] || wanted[key]:
		case masks[key]:
			return nil, failed(key, fmt.Errorf("%w: got a mask, want the entry that has it too", tdict.ErrMissing))
		default:
			return nil, failed(key, fmt.Errorf("%w: got no such entry", tdict.ErrMissing))
		}
	}
	return slices.DeleteFunc(slices.Clone(schema), func(s tdict.Spec) bool { return !wanted[s.Key] }), nil
}

// Dict returns the rows of a batch as a dictionary [n] of [Reader.Schema]. It is valid until the
// next call; Clone it to keep it longer.
//
// Tensors without nulls of types that lie in memory as here share the memory of the batch, and must
// not be written. Other entries are in memory of the Reader. Allocations do not depend on the
// number of rows, except for offsets.
//
// Dict returns, with the key,
//
//   - [ErrArray] for memory that does not fit a type, ragged.ErrOffsets and ragged.ErrLengths for
//     bad lists, shapeops.ErrIndex for a bad index into a dictionary
//   - [ErrNull] for a null in an entry without a mask
//   - [ErrMemory] if it would need more than opt.MaxMemory bytes
//   - tdict.ErrSchema for a text that is not in the categories, and for a batch with another schema
//   - tdict.ErrKind for Data that is not UTF-8
func (r *Reader) Dict(rec arrow.RecordBatch) (*tdict.TensorDict, error) {
	if rec == nil {
		return nil, fmt.Errorf("arrow: %w: got nil, want a record batch", tdict.ErrKind)
	}
	if got := rec.NumCols(); got != int64(len(r.fields)) || rec.NumRows() < 0 {
		return nil, fmt.Errorf("arrow: %w: got %d columns and %d rows, want %d columns", tdict.ErrSchema, got, rec.NumRows(), len(r.fields))
	}
	return r.rows(int(rec.NumRows()), func(i int) arrow.ArrayData { return rec.Column(i).Data() })
}

// Part is [Reader.Dict] for n rows from row at on of a batch that has only the columns of
// [Reader.Columns].
func (r *Reader) Part(rec arrow.RecordBatch, at, n int) (*tdict.TensorDict, error) {
	return r.rows(n, some(rec, r.Columns(), at, n))
}

// some returns the data of n rows of the columns with given numbers, which a batch has in this
// order. It does not use the library's slices of arrays, which trust offsets.
func some(rec arrow.RecordBatch, fields []int, at, n int) func(field int) arrow.ArrayData {
	return func(field int) arrow.ArrayData {
		i, _ := slices.BinarySearch(fields, field)
		data := rec.Column(i).Data()
		if data.Len() == n {
			return data
		}
		return array.NewSliceData(data, int64(at), int64(at+n))
	}
}

// rows is Dict for n rows of columns, which column returns.
func (r *Reader) rows(n int, column func(field int) arrow.ArrayData) (*tdict.TensorDict, error) {
	r.td, r.need, r.bases = tdict.New(n), 0, r.bases[:0]
	clear(r.layouts)
	clear(r.masks)
	for _, c := range r.roots {
		if !c.read(r.dry) {
			continue
		}
		data, want := column(c.field), r.fields[c.field].Type
		err := check(data, want, 0)
		switch {
		case err != nil:
		case data.Len() != n:
			err = fmt.Errorf("%w: got %d rows, want %d", ErrArray, data.Len(), n)
		case !arrow.TypeEqual(data.DataType(), want):
			err = fmt.Errorf("%w: got %v, want %v", tdict.ErrSchema, data.DataType(), want)
		default:
			err = r.column(c, arr{data, []run{{data.Offset(), n}}, n}, rows{shape: shapeops.Shape{n}})
		}
		if err != nil {
			return nil, c.failed(err)
		}
	}
	for i := range r.schema { // masks in dictionaries that came after their entries
		if err := r.placeMask(r.schema[i].Key); err != nil {
			return nil, err
		}
	}
	td := r.td
	r.td = nil
	return td, nil
}

// ToDict is tdarrow.ToDict.
func ToDict(rec arrow.RecordBatch, opt Options) (*tdict.TensorDict, error) {
	r, err := readerOf(rec, opt)
	if err != nil {
		return nil, err
	}
	return r.Dict(rec)
}

// SchemaOf is tdarrow.SchemaOf.
func SchemaOf(rec arrow.RecordBatch, opt Options) (tdict.Schema, error) {
	r, err := readerOf(rec, opt)
	if err != nil {
		return nil, err
	}
	return r.Schema(), nil
}

// readerOf returns a Reader for one batch.
func readerOf(rec arrow.RecordBatch, opt Options) (*Reader, error) {
	if rec == nil {
		return nil, fmt.Errorf("arrow: %w: got nil, want a record batch", tdict.ErrKind)
	}
	x, err := NewInferrer(rec.Schema(), opt)
	if err != nil {
		return nil, err
	}
	schema := opt.Schema
	if schema == nil {
		if err = x.Add(rec); err == nil {
			schema, err = x.Schema()
		}
	}
	if err != nil {
		return nil, err
	}
	return x.reader(schema)
}
