package tdparquet

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/tdict"
)

// InferFile is [Infer] for a file.
func InferFile(path string, opt Options) (tdict.Schema, error) {
	r, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer r.Close() // nothing was written
	return infer(path, r, size, opt)
}

// Infer returns the schema of the chunks that [Read] yields, with masks, of a file of size bytes. A
// column has a mask if values are missing in the row groups that are read. Texts in a dictionary of
// Arrow, such as a categorical of pandas, are categories. If [Write] or tdarrow wrote the file, the
// schema is the written one.
//
// The footer usually says where values are missing. Infer reads the other columns: dictionaries,
// and nested columns with missing values. It ignores opt.Schema and opt.Rows, and returns the
// errors of Read.
func Infer(r io.ReaderAt, size int64, opt Options) (tdict.Schema, error) {
	return infer("", r, size, opt)
}

func infer(path string, r io.ReaderAt, size int64, opt Options) (tdict.Schema, error) {
	f, err := open(path, r, size, opt)
	if err != nil {
		return nil, err
	}
	schema, err := f.infer(context.Background())
	return schema, message.In(path, "", "", err)
}

// infer returns the schema of the chunks.
func (f *file) infer(ctx context.Context) (tdict.Schema, error) {
	x, err := columns.NewInferrer(f.schema, f.opt)
	if err != nil {
		return nil, err
	}
	known := make(facts, len(f.read.Manifest.Fields))
	var open []int // columns that must be read
	for i := range known {
		field := &f.read.Manifest.Fields[i]
		nulls, sure := f.nulls(field)
		if !sure || nulls && len(field.Children) > 0 || hasTexts(field) {
			open = append(open, i)
		} else {
			known[i] = nulls
		}
	}
	x.Learn(known)
	if len(open) > 0 {
		err = f.batches(ctx, open, func(g int, rec arrow.RecordBatch) error {
			return message.In(f.path, groupName(g), "", x.AddSome(rec, open))
		})
		if err != nil {
			return nil, err
		}
	}
	return x.Schema()
}

// facts says which columns without children have nulls.
type facts []bool

// Nulls implements columns.Facts.
func (f facts) Nulls(path ...int) bool { return f[path[0]] }

// Texts implements columns.Facts.
func (f facts) Texts(...int) []string { return nil }

// nulls reports whether values of a field are missing, if the footer says so. Writers differ in
// whether they count lists that are null or empty, so counts of lists say nothing.
func (f *file) nulls(field *pqarrow.SchemaField) (some, known bool) {
	known = true
	leaves(field, func(leaf *pqarrow.SchemaField) {
		switch column := f.meta.Schema.Column(leaf.ColIndex); {
		case column.MaxDefinitionLevel() == column.MaxRepetitionLevel(): // nothing is optional
			return
		case column.MaxRepetitionLevel() > 0:
			known = false
			return
		}
		for _, g := range f.groups {
			s := f.meta.RowGroups[g].Columns[leaf.ColIndex].MetaData.Statistics
			if s == nil || s.NullCount == nil {
				known = false
				continue
			}
			some = some || *s.NullCount != 0
		}
	})
	return some, known
}

// hasTexts reports whether there is a dictionary in a field.
func hasTexts(field *pqarrow.SchemaField) (some bool) {
	leaves(field, func(leaf *pqarrow.SchemaField) { some = some || leaf.Field.Type.ID() == arrow.DICTIONARY })
	return some
}
