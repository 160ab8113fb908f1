package columns

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-tensordict/tensordict/tensor"
)

// Errors about columns.
var (
	// ErrType says that a type of Arrow has no dtype, or a dtype no type of Arrow.
	ErrType = errors.New("type is not supported")
	// ErrArray says that the memory of an array is not as its type, length and offset need it.
	ErrArray = errors.New("bad array")
	// ErrNull says that a value is missing in an entry that has no mask for it.
	ErrNull = errors.New("value is missing")
	// ErrMemory says that a batch would take more memory than Options.MaxMemory.
	ErrMemory = errors.New("too much memory")
)

// A layout says how the elements of a type lie in buffers.
type layout uint8

const (
	noLayout    layout = iota
	flat               // elements of a fixed width
	bits               // bools
	bytes32            // texts with offsets of 32 bits
	bytes64            // texts with offsets of 64 bits
	views              // texts with headers of 16 bytes
	nothing            // no elements
	codes              // indices into a dictionary
	lists32            // lists with offsets of 32 bits
	lists64            // lists with offsets of 64 bits
	listViews32        // lists with offsets and sizes of 32 bits
	listViews64        // lists with offsets and sizes of 64 bits
	fixedLists         // lists of one size
	structs            // objects
)

// A form describes a type.
type form struct {
	layout layout
	dtype  tensor.DType // of the tensor, or 0
	width  int          // of an element in the last fixed buffer, in bits
	size   int          // of lists of one size, in elements, or else -1
	unit   string       // of the numbers
	time   bool         // the numbers are instants
	signed bool         // of integers that can be indices
}

// forms has the types that become entries. A width of 0 depends on the type.
var forms = map[arrow.Type]form{
	arrow.INT8:              {layout: flat, dtype: tensor.Int8, width: 8, signed: true},
	arrow.INT16:             {layout: flat, dtype: tensor.Int16, width: 16, signed: true},
	arrow.INT32:             {layout: flat, dtype: tensor.Int32, width: 32, signed: true},
	arrow.INT64:             {layout: flat, dtype: tensor.Int64, width: 64, signed: true},
	arrow.UINT8:             {layout: flat, dtype: tensor.Uint8, width: 8},
	arrow.UINT16:            {layout: flat, dtype: tensor.Uint16, width: 16},
	arrow.UINT32:            {layout: flat, dtype: tensor.Uint32, width: 32},
	arrow.UINT64:            {layout: flat, dtype: tensor.Uint64, width: 64},
	arrow.FLOAT16:           {layout: flat, dtype: tensor.Float16, width: 16},
	arrow.FLOAT32:           {layout: flat, dtype: tensor.Float32, width: 32},
	arrow.FLOAT64:           {layout: flat, dtype: tensor.Float64, width: 64},
	arrow.BOOL:              {layout: bits, dtype: tensor.Bool, width: 1},
	arrow.DATE32:            {layout: flat, dtype: tensor.Int64, width: 32, unit: "d", time: true},
	arrow.DATE64:            {layout: flat, dtype: tensor.Int64, width: 64, unit: "ms", time: true},
	arrow.TIMESTAMP:         {layout: flat, dtype: tensor.Int64, width: 64, time: true},
	arrow.TIME32:            {layout: flat, dtype: tensor.Int64, width: 32},
	arrow.TIME64:            {layout: flat, dtype: tensor.Int64, width: 64},
	arrow.DURATION:          {layout: flat, dtype: tensor.Int64, width: 64},
	arrow.FIXED_SIZE_BINARY: {layout: flat, dtype: tensor.Uint8},
	arrow.STRING:            {layout: bytes32, width: 32},
	arrow.BINARY:            {layout: bytes32, width: 32},
	arrow.LARGE_STRING:      {layout: bytes64, width: 64},
	arrow.LARGE_BINARY:      {layout: bytes64, width: 64},
	arrow.STRING_VIEW:       {layout: views, width: 128},
	arrow.BINARY_VIEW:       {layout: views, width: 128},
	arrow.NULL:              {layout: nothing},
	arrow.DICTIONARY:        {layout: codes},
	arrow.LIST:              {layout: lists32, width: 32},
	arrow.LARGE_LIST:        {layout: lists64, width: 64},
	arrow.LIST_VIEW:         {layout: listViews32, width: 32},
	arrow.LARGE_LIST_VIEW:   {layout: listViews64, width: 64},
	arrow.FIXED_SIZE_LIST:   {layout: fixedLists},
	arrow.STRUCT:            {layout: structs},
}

// formOf returns the form of a type, and the type without extensions. It returns ErrType for a type
// that has none.
func formOf(t arrow.DataType) (form, arrow.DataType, error) {
	for range maxNesting {
		x, ok := t.(arrow.ExtensionType)
		if !ok {
			break
		}
		t = x.StorageType()
	}
	if t == nil {
		return form{}, nil, fmt.Errorf("%w: got no type", ErrType)
	}
	f, ok := forms[t.ID()]
	if !ok {
		return form{}, t, fmt.Errorf("%w: got %v", ErrType, t)
	}
	f.size = -1
	switch x := t.(type) {
	case arrow.TemporalWithUnit:
		f.unit = x.TimeUnit().String()
	case *arrow.FixedSizeBinaryType:
		f.width, f.size = 8*x.ByteWidth, x.ByteWidth
	case *arrow.FixedSizeListType:
		f.size = int(x.Len())
	case *arrow.DictionaryType:
		index, ok := forms[x.IndexType.ID()]
		if !ok || !index.dtype.IsInteger() || index.unit != "" {
			return f, t, fmt.Errorf("%w: got %v", ErrType, t)
		}
		f.width, f.signed = index.width, index.signed
	}
	return f, t, nil
}

// isText reports whether elements are texts, UTF-8 or not.
func (f form) isText() bool { return f.layout == bytes32 || f.layout == bytes64 || f.layout == views }

// isList reports whether elements are lists that may differ in length.
func (f form) isList() bool { return f.layout >= lists32 && f.layout <= listViews64 }
