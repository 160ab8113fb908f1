package tdparquet

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// The library does not write a list of one size that is null, or in a struct that is null. So if
// lists of one size may be missing, they are written as lists of any size, and the missing lists
// are empty.

// writableFields returns fields with lists of any size. nullable is set in a struct that may be
// null.
func writableFields(fields []arrow.Field, nullable bool) []arrow.Field {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		f.Type = writableType(f.Type, nullable || f.Nullable)
		out[i] = f
	}
	return out
}

// writableType returns the type of a column that may be missing if nullable is set.
func writableType(t arrow.DataType, nullable bool) arrow.DataType {
	switch t := t.(type) {
	case *arrow.StructType:
		return arrow.StructOf(writableFields(t.Fields(), nullable)...)
	case *arrow.FixedSizeListType:
		elem := writableFields([]arrow.Field{t.ElemField()}, false)[0]
		if nullable {
			return arrow.LargeListOfField(elem)
		}
		return arrow.FixedSizeListOfField(t.Len(), elem)
	case *arrow.LargeListType:
		return arrow.LargeListOfField(writableFields([]arrow.Field{t.ElemField()}, false)[0])
	}
	return t
}

// writable returns a column as a type of writableType. present says which values are not inside a
// null; nil means all.
func writable(data arrow.ArrayData, to arrow.DataType, present []bool) (arrow.ArrayData, error) {
	if arrow.TypeEqual(data.DataType(), to) && !hasHalf(to) {
		return data, nil
	}
	present = and(data, present)
	children, buffers := make([]arrow.ArrayData, len(data.Children())), data.Buffers()
	switch t := to.(type) {
	case *arrow.Float16Type: // the library forgets the nulls of the structs around it
		if present != nil {
			return halves(data, present), nil
		}
	case *arrow.StructType:
		for i, c := range data.Children() {
			var err error
			if children[i], err = writable(c, t.Field(i).Type, present); err != nil {
				return nil, err
			}
		}
	case arrow.ListLikeType:
		elem, err := writable(data.Children()[0], t.Elem(), nil)
		if err != nil {
			return nil, err
		}
		if from, ok := data.DataType().(*arrow.FixedSizeListType); ok && to.ID() == arrow.LARGE_LIST {
			var offsets []int64
			if elem, offsets, err = without(elem, int64(from.Len()), data.Len(), present); err != nil {
				return nil, err
			}
			buffers = []*memory.Buffer{buffers[0], memory.NewBufferBytes(cast.Bytes(offsets))}
		}
		children[0] = elem
	}
	return array.NewData(to, data.Len(), buffers, children, data.NullN(), 0), nil
}

// hasHalf reports whether there is a float16 in a struct.
func hasHalf(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.StructType:
		return slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return f.Type.ID() == arrow.FLOAT16 || hasHalf(f.Type) })
	case arrow.ListLikeType:
		return hasHalf(t.Elem())
	}
	return t.ID() == arrow.FLOAT16
}

// halves returns data with nulls where values are not present.
func halves(data arrow.ArrayData, present []bool) arrow.ArrayData {
	bits := make([]byte, bitutil.BytesForBits(int64(len(present))))
	nulls := 0
	for i, is := range present {
		if bitutil.SetBitTo(bits, i, is); !is {
			nulls++
		}
	}
	return array.NewData(data.DataType(), data.Len(), []*memory.Buffer{memory.NewBufferBytes(bits), data.Buffers()[1]}, nil, nulls, 0)
}

// and returns which values are present, also in data.
func and(data arrow.ArrayData, present []bool) []bool {
	if data.NullN() == 0 {
		return present
	}
	x := array.MakeFromData(data)
	out := make([]bool, x.Len())
	for i := range out {
		out[i] = x.IsValid(i) && (present == nil || present[i])
	}
	return out
}

// without returns the elements of n lists of size k without the lists that are not present, and the
// offsets of the lists.
func without(elem arrow.ArrayData, k int64, n int, present []bool) (arrow.ArrayData, []int64, error) {
	all := array.MakeFromData(elem)
	offsets, parts, from := make([]int64, n+1), []arrow.Array{}, 0
	for i := range n + 1 {
		absent := i < n && present != nil && !present[i]
		if (absent || i == n) && from < i {
			parts = append(parts, array.NewSlice(all, int64(from)*k, int64(i)*k))
		}
		if absent {
			from = i + 1
		}
		if i < n {
			offsets[i+1] = offsets[i] + k
			if absent {
				offsets[i+1] = offsets[i]
			}
		}
	}
	switch {
	case len(parts) == 0:
		parts = append(parts, array.NewSlice(all, 0, 0))
	case parts[0].Len() == all.Len():
		return elem, offsets, nil
	}
	// Also of one part: the library writes a part of nested lists of one size wrongly.
	joined, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		return nil, nil, err
	}
	return joined.Data(), offsets, nil
}
