package tdparquet

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Parquet has no times in seconds: writers of Arrow store them in milliseconds. The schema of Arrow
// that they store with the file says where.

// inSeconds returns a type with times in seconds where origin has them.
func inSeconds(t, origin arrow.DataType) arrow.DataType {
	if origin.ID() != t.ID() {
		return t
	}
	switch t := t.(type) {
	case *arrow.TimestampType:
		if t.Unit == arrow.Millisecond && origin.(*arrow.TimestampType).Unit == arrow.Second {
			return &arrow.TimestampType{Unit: arrow.Second, TimeZone: t.TimeZone}
		}
	case *arrow.StructType:
		fields, origins := slices.Clone(t.Fields()), origin.(*arrow.StructType).Fields()
		if len(fields) == len(origins) {
			for i := range fields {
				fields[i].Type = inSeconds(fields[i].Type, origins[i].Type)
			}
			return arrow.StructOf(fields...)
		}
	case arrow.ListLikeType:
		field := t.ElemField()
		field.Type = inSeconds(field.Type, origin.(arrow.ListLikeType).Elem())
		switch t := t.(type) {
		case *arrow.ListType:
			return arrow.ListOfField(field)
		case *arrow.LargeListType:
			return arrow.LargeListOfField(field)
		case *arrow.FixedSizeListType:
			return arrow.FixedSizeListOfField(t.Len(), field)
		}
	}
	return t
}

// divide returns an array as one of a type with times in seconds. It changes the values in place.
func divide(data arrow.ArrayData, to arrow.DataType) (arrow.ArrayData, error) {
	if arrow.TypeEqual(data.DataType(), to) {
		data.Retain()
		return data, nil
	}
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, c := range data.Children() {
		of := to
		switch t := to.(type) {
		case *arrow.StructType:
			of = t.Field(i).Type
		case arrow.ListLikeType:
			of = t.Elem()
		}
		var err error
		if children[i], err = divide(c, of); err != nil {
			return nil, err
		}
		defer children[i].Release()
	}
	if to.ID() == arrow.TIMESTAMP && len(data.Buffers()) == 2 && data.Buffers()[1] != nil {
		values := arrow.Int64Traits.CastFromBytes(data.Buffers()[1].Bytes())
		for i, v := range values[:data.Offset()+data.Len()] {
			if v%1000 != 0 {
				return nil, corrupt("the schema of Arrow says seconds, got %d ms", v)
			}
			values[i] = v / 1000
		}
	}
	return array.NewData(to, data.Len(), data.Buffers(), children, data.NullN(), data.Offset()), nil
}
