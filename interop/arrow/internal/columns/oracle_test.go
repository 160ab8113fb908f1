package columns_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A naive reads a dictionary row by row, as JSON values.
type naive struct {
	td     *tdict.TensorDict
	schema tdict.Schema
	isMask map[nestedkey.Key]bool
}

func naiveOf(td *tdict.TensorDict, schema tdict.Schema) *naive {
	x := &naive{td, schema, map[nestedkey.Key]bool{}}
	for _, s := range schema {
		x.isMask[s.Mask] = true
	}
	return x
}

// children returns the entries of a dictionary, "" for the outermost.
func (x *naive) children(key nestedkey.Key) (all []tdict.Spec) {
	seen := map[nestedkey.Key]bool{}
	for _, s := range x.schema {
		if x.isMask[s.Key] {
			continue
		}
		for at := s.Key; ; {
			parent, nested := at.Parent()
			if parent == key && (nested || key == "") && !seen[at] {
				spec, ok := x.schema.Find(at)
				if in, _ := x.schema.Find(key); !ok {
					spec = tdict.Spec{Key: at, Kind: tdict.KindDict, Shape: in.Shape, Depth: in.Depth}
				}
				seen[at], all = true, append(all, spec)
			}
			if at = parent; !nested {
				break
			}
		}
	}
	return all
}

// object returns object idx of those inside depth levels.
func (x *naive) object(key nestedkey.Key, dims shapeops.Shape, depth, idx int) map[string]any {
	m := map[string]any{}
	for _, s := range x.children(key) {
		own := s.Shape[min(len(dims), len(s.Shape)):]
		if s.Kind == tdict.KindRagged {
			own = s.Batch[len(dims):]
		}
		m[s.Key.Name()] = x.dims(s, own, depth, idx)
	}
	return m
}

// dims returns element idx, nested lists, null if all in it are missing.
func (x *naive) dims(s tdict.Spec, own shapeops.Shape, depth, idx int) any {
	if len(own) == 0 {
		return x.value(s, depth, idx)
	}
	list, some := []any{}, false
	for i := range own[0] {
		v := x.dims(s, own[1:], depth, idx*own[0]+i)
		list, some = append(list, v), some || v != nil
	}
	if !some && own[0] > 0 {
		return nil
	}
	return list
}

// layout returns the layout of an entry or of a leaf in it.
func (x *naive) layout(key nestedkey.Key, depth int) *ragged.Layout {
	v, _ := x.td.Get(key)
	if r, ok := v.(*ragged.Tensor); ok && r.Depth() >= depth {
		return r.Layout()
	}
	spec, _ := x.schema.Find(key)
	for at := spec.Mask; at != ""; {
		if l := x.layout(at, depth); l != nil {
			return l
		}
		m, _ := x.schema.Find(at)
		at = m.Mask
	}
	if d, ok := v.(*tdict.TensorDict); ok {
		for name := range d.Keys() {
			if l := x.layout(nestedkey.Join(key, name), depth); l != nil {
				return l
			}
		}
	}
	return nil
}

// value returns element idx of those inside depth levels.
func (x *naive) value(s tdict.Spec, depth, idx int) any {
	for key := s.Mask; key != ""; {
		m, _ := x.schema.Find(key)
		if m.Depth == depth {
			v, _ := x.td.Get(key)
			if r, ok := v.(*ragged.Tensor); ok {
				v, _ = r.Values()
			}
			if !tensor.Must(tensor.Slice[bool](v.(*tensor.Tensor)))[idx] {
				return nil
			}
		}
		key = m.Mask
	}
	if depth < s.Depth {
		list := []any{}
		if l := x.layout(s.Key, depth+1); l != nil {
			offsets := tensor.Must(l.Offsets(depth + 1))
			for j := offsets[idx]; j < offsets[idx+1]; j++ {
				list = append(list, x.value(s, depth+1, int(j)))
			}
		}
		return list
	}
	v, _ := x.td.Get(s.Key)
	switch s.Kind {
	case tdict.KindDict:
		return x.object(s.Key, s.Shape, depth, idx)
	case tdict.KindData:
		return slices.Collect(v.(*tdict.Data).All())[idx]
	case tdict.KindText:
		r := v.(*ragged.Tensor)
		offsets := tensor.Must(r.Layout().Compact().Offsets(-1))
		return string(tensor.Must(tensor.Slice[uint8](tensor.Must(r.Values())))[offsets[idx]:offsets[idx+1]])
	case tdict.KindRagged:
		return x.features(tensor.Must(v.(*ragged.Tensor).Values()), s, s.Shape, idx)
	}
	return x.features(v.(*tensor.Tensor), s, nil, idx)
}

// features returns element idx, nested lists.
func (x *naive) features(t *tensor.Tensor, s tdict.Spec, dims shapeops.Shape, idx int) any {
	if len(dims) > 0 {
		list := []any{}
		for i := range dims[0] {
			list = append(list, x.features(t, s, dims[1:], idx*dims[0]+i))
		}
		return list
	}
	if t.DType() == tensor.Bool {
		return tensor.Must(tensor.Slice[bool](t))[idx]
	}
	v := tensor.Must(tensor.Slice[float64](tensor.Must(t.Cast(tensor.Float64))))[idx]
	if s.Categories != nil {
		return s.Categories[int(v)]
	}
	return v
}

// rows returns all rows as JSON.
func (x *naive) rows() (lines []string) {
	for i := range x.td.Shape()[0] {
		b, err := json.Marshal(x.object("", nil, 0, i))
		if err != nil {
			panic(err)
		}
		lines = append(lines, string(b))
	}
	return lines
}

// rowsOf returns the rows of a batch as JSON, as the library writes them.
func rowsOf(t *testing.T, rec arrow.RecordBatch) (lines []string) {
	var b bytes.Buffer
	require.NoError(t, array.RecordToJSON(rec, &b))
	for dec := json.NewDecoder(&b); dec.More(); {
		var v any
		require.NoError(t, dec.Decode(&v))
		line, err := json.Marshal(v)
		require.NoError(t, err)
		lines = append(lines, string(line))
	}
	return lines
}

// A typist makes random types and values of them.
type typist struct{ *rand.Rand }

var leafTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean,
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView, arrow.Null,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Int64},
}

func (x typist) field(name string, depth int) arrow.Field {
	return arrow.Field{Name: name, Type: x.typ(depth), Nullable: x.IntN(2) == 0}
}

func (x typist) typ(depth int) arrow.DataType {
	kind := x.IntN(10)
	if depth == 0 {
		kind = 9
	}
	switch kind {
	case 0:
		return arrow.ListOfField(x.field("item", depth-1))
	case 1:
		return arrow.LargeListOfField(x.field("item", depth-1))
	case 2:
		return arrow.ListViewOfField(x.field("item", depth-1))
	case 3:
		return arrow.LargeListViewOfField(x.field("item", depth-1))
	case 4:
		f := x.field("item", depth-1)
		for f.Type.ID() == arrow.NULL { // a list of nulls would not differ from null
			f = x.field("item", depth-1)
		}
		return arrow.FixedSizeListOfField(int32(1+x.IntN(3)), f)
	case 5:
		var fields []arrow.Field
		for i := range 1 + x.IntN(3) {
			fields = append(fields, x.field(fmt.Sprint("f", i), depth-1))
		}
		return arrow.StructOf(fields...)
	}
	return leafTypes[x.IntN(len(leafTypes))]
}

// value returns a value for a field as JSON; some is set if it must not be missing.
func (x typist) value(f arrow.Field, some bool) any {
	if f.Type.ID() == arrow.NULL || f.Nullable && !some && x.IntN(3) == 0 {
		return nil
	}
	list := func(n int, elem arrow.Field, some bool) any {
		values := []any{}
		for i := range n {
			values = append(values, x.value(elem, some && i == 0))
		}
		return values
	}
	switch t := f.Type.(type) {
	case *arrow.FixedSizeListType:
		return list(int(t.Len()), t.ElemField(), true)
	case arrow.ListLikeType:
		return list(x.IntN(4), t.ElemField(), false)
	case *arrow.StructType:
		m := map[string]any{}
		for _, f := range t.Fields() {
			m[f.Name] = x.value(f, false)
		}
		return m
	case *arrow.DictionaryType:
		return x.value(arrow.Field{Type: t.ValueType}, true)
	}
	switch f.Type.ID() {
	case arrow.BOOL:
		return x.IntN(2) == 0
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return []string{"", "f", "m", "longer than twelve bytes"}[x.IntN(4)]
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return float64(x.IntN(100))/4 - 10
	}
	return x.IntN(100)
}

// batch returns a random batch, which the library reads from JSON.
func (x typist) batch(t *testing.T) arrow.RecordBatch {
	var fields []arrow.Field
	for i := range 1 + x.IntN(4) {
		fields = append(fields, x.field(fmt.Sprint("c", i), 3))
	}
	schema := arrow.NewSchema(fields, nil)
	lines := []any{}
	for range x.IntN(6) {
		row := map[string]any{}
		for _, f := range fields {
			row[f.Name] = x.value(f, false)
		}
		lines = append(lines, row)
	}
	text, err := json.Marshal(lines)
	require.NoError(t, err)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, bytes.NewReader(text))
	require.NoError(t, err)
	return rec
}

// ToDict reads from any batch what the library's JSON of it says.
func TestToDictAsJSON(t *testing.T) {
	skipped := 0
	for seed := range uint64(longtests.Times(300, 10000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		rec := typist{r}.batch(t)
		if r.IntN(2) == 0 {
			rec = moreNulls(r, rec)
		}
		if r.IntN(2) == 0 {
			i := r.IntN(int(rec.NumRows()) + 1)
			rec = rec.NewSlice(int64(i), int64(i+r.IntN(int(rec.NumRows())-i+1)))
		}
		x, err := columns.NewInferrer(rec.Schema(), columns.Options{})
		require.NoError(t, err)
		require.NoError(t, x.Add(rec), "seed %d\n%v", seed, rec)
		schema, err := x.Schema()
		if errors.Is(err, columns.ErrType) {
			skipped++
			continue // lists of objects in dims
		}
		require.NoError(t, err, "seed %d\n%v", seed, rec)
		if slices.ContainsFunc(schema, func(s tdict.Spec) bool { return s.DType == tensor.Uint8 && len(s.Batch) > 0 }) {
			skipped++
			continue // perhaps lists of texts in dims, which are bytes
		}
		td, err := columns.ToDict(rec, columns.Options{})
		require.NoError(t, err, "seed %d\n%v\n%v", seed, schema, rec)
		require.NoError(t, schema.Check(td), seed)
		require.Equal(t, rowsOf(t, rec), naiveOf(td, schema).rows(), "seed %d\n%v\n%v", seed, schema, rec)
		requireZeros(t, td, schema, "seed %d\n%v\n%v\n%v", seed, schema, rec, td)
	}
	require.Less(t, skipped, longtests.Times(30, 1000))
}

// moreNulls returns a batch with more nulls, over values and lists that are not empty. There are
// none inside lists of one size, since a list of nothing but null would not differ from null.
func moreNulls(r *rand.Rand, rec arrow.RecordBatch) arrow.RecordBatch {
	var columns []arrow.Array
	for _, c := range rec.Columns() {
		columns = append(columns, array.MakeFromData(nulled(r, c.Data())))
	}
	return array.NewRecordBatch(rec.Schema(), columns, rec.NumRows())
}

func nulled(r *rand.Rand, data arrow.ArrayData) arrow.ArrayData {
	buffers, children, nulls := slices.Clone(data.Buffers()), slices.Clone(data.Children()), data.NullN()
	id := data.DataType().ID()
	if len(buffers) > 0 && id != arrow.NULL && r.IntN(2) == 0 {
		bits := make([]byte, (data.Len()+7)/8)
		for i := range bits {
			if bits[i] = byte(r.IntN(256)); buffers[0] != nil && buffers[0].Len() > i {
				bits[i] &= buffers[0].Bytes()[i]
			}
		}
		buffers[0], nulls = memory.NewBufferBytes(bits), array.UnknownNullCount
	}
	if id != arrow.FIXED_SIZE_LIST {
		for i, child := range children {
			children[i] = nulled(r, child)
		}
	}
	out := array.NewData(data.DataType(), data.Len(), buffers, children, nulls, data.Offset())
	if dict := data.Dictionary().(*array.Data); dict != nil {
		out.SetDictionary(dict)
	}
	return out
}

// requireZeros fails unless elements of tensors are zero where a mask says that they are missing.
func requireZeros(t *testing.T, td *tdict.TensorDict, schema tdict.Schema, about ...any) {
	for key, x := range td.Tensors() {
		n := max(1, x.Size())
		data := tensor.Must(tensor.Slice[float64](tensor.Must(x.Cast(tensor.Float64))))
		for at, nested := key, true; nested; at, nested = at.Parent() {
			mask, err := schema.MaskOf(td, at)
			require.NoError(t, err)
			if bits, ok := mask.(*tensor.Tensor); ok {
				for i, is := range tensor.Must(tensor.Slice[bool](bits)) {
					for j := i * n / bits.Size(); j < (i+1)*n/bits.Size() && j < len(data); j++ {
						require.True(t, is || data[j] == 0, about...)
					}
				}
			}
		}
	}
}

// The library reads from a batch of FromDict what the dictionary has.
func TestFromDictAsJSON(t *testing.T) {
	for seed := range uint64(longtests.Times(300, 10000)) {
		r := rand.New(rand.NewPCG(seed, 4))
		td, schema := randomDict(r)
		for i := range schema {
			schema[i].Time, schema[i].Unit = "", ""
		}
		rec, err := columns.FromDict(td, schema)
		require.NoError(t, err, seed)
		require.Equal(t, naiveOf(td, schema).rows(), rowsOf(t, rec), "seed %d\n%v\n%v", seed, schema, rec)
	}
}
