package columns

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// schemaName is the key of our schema in the metadata of Arrow's.
const schemaName = "tensordict"

// ArrowSchema returns the Arrow schema of the batches that [FileBatch] makes of dictionaries with a
// schema: a field for each entry that is not a mask, with the schema in its metadata. It returns
// the errors of FromDict, and tdict.ErrSchema for an entry that may have any dtype or size.
func ArrowSchema(schema tdict.Schema) (*arrow.Schema, error) {
	td, err := schema.Zeros(0)
	if err != nil {
		return nil, err
	}
	rec, err := FileBatch(td, schema)
	if err != nil {
		return nil, err
	}
	return rec.Schema(), nil
}

// FileBatch is [FromDict] for the batches of a file: Data of texts has no dictionary, since a file
// has one for all batches.
func FileBatch(td tdict.Dictionary, schema tdict.Schema) (arrow.RecordBatch, error) {
	return fromDict(td, schema, true)
}

// FromDict is tdarrow.FromDict. The batch has a column for each entry that is not a mask:
//
//	tensor [n F...]                   primitive array, in nested FixedSizeLists
//	ragged [n B... * * F...]          LargeLists; entries with the same layout share their offsets
//	text [n F... *], [n * *]          LargeString
//	dictionary, with Depth            struct, in LargeLists
//	Mask                              validity: a list or struct of dims is null if all in it are
//	Time in d, s, ms, us, ns          date32, timestamp; with a time zone if the layout has one
//	Categories, Data of texts         dictionary of texts
//
// Dims B of the batch shape count as dims of the entries. A dim of size 0 is a LargeList.
func FromDict(td tdict.Dictionary, schema tdict.Schema) (arrow.RecordBatch, error) {
	return fromDict(td, schema, false)
}

func fromDict(td tdict.Dictionary, schema tdict.Schema, ofFile bool) (arrow.RecordBatch, error) {
	d := tdict.Of(td)
	if d == nil || len(d.Shape()) == 0 {
		return nil, fmt.Errorf("arrow: %w: got no rows, want a dictionary with a batch dim", shapeops.ErrDim)
	}
	if of, ok := td.(interface{ Schema() tdict.Schema }); ok && schema == nil {
		schema = of.Schema()
	}
	if schema == nil {
		schema = tdict.SchemaOf(d)
	}
	if err := schema.Check(d); err != nil {
		return nil, err
	}
	if batch := d.Shape(); len(batch) > 1 {
		var err error
		if d, err = d.WithBatch(batch[0]); err != nil {
			return nil, err
		}
		schema = deeper(schema, batch[1:])
	}
	text, err := schema.MarshalJSON()
	if err != nil {
		return nil, err
	}
	w := &writer{td: d, ofFile: ofFile, compact: map[*ragged.Layout]*ragged.Layout{}}
	n := d.Shape()[0]
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, e := range entriesOf(schema) {
		it, err := w.entry(e, inside{n: n})
		if err != nil {
			return nil, failed(e.spec.Key, err)
		}
		fields = append(fields, arrow.Field{Name: e.name, Type: it.typ, Nullable: it.nullable})
		arrays = append(arrays, array.MakeFromData(it.data()))
	}
	meta := arrow.NewMetadata([]string{schemaName}, []string{string(text)})
	return array.NewRecordBatch(arrow.NewSchema(fields, &meta), arrays, int64(n)), nil
}

// deeper returns a schema in which dims come first.
func deeper(schema tdict.Schema, dims shapeops.Shape) tdict.Schema {
	out := slices.Clone(schema)
	for i := range out {
		s := &out[i]
		if s.Kind == tdict.KindRagged {
			s.Batch = slices.Concat(dims, s.Batch)
		} else {
			s.Shape = slices.Concat(dims, s.Shape)
		}
	}
	return out
}
