package columns_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A maker makes a random dictionary, and its schema.
type maker struct {
	*rand.Rand
	td     *tdict.TensorDict
	schema tdict.Schema
	n      int
	keys   int
}

// A spot says where entries are: n elements with dims after the rows, and levels. present says
// which of them exist.
type spot struct {
	key     nestedkey.Key
	dims    shapeops.Shape
	layout  *ragged.Layout
	present []bool
}

func (s spot) depth() int {
	if s.layout == nil {
		return 0
	}
	return s.layout.Depth()
}

var dtypes = []tensor.DType{
	tensor.Bool, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
	tensor.Float16, tensor.Float32, tensor.Float64,
}

func (m *maker) dims(most int) (s shapeops.Shape) {
	for range m.IntN(most + 1) {
		s = append(s, m.IntN(4))
	}
	return s
}

func trues(n int) []bool {
	s := make([]bool, n)
	for i := range s {
		s[i] = true
	}
	return s
}

// spread repeats each bool.
func spread(s []bool, k int) []bool {
	out := make([]bool, 0, len(s)*k)
	for _, is := range s {
		for range k {
			out = append(out, is)
		}
	}
	return out
}

// nulls removes some of the bools.
func (m *maker) nulls(s []bool) []bool {
	out := make([]bool, len(s))
	for i, is := range s {
		out[i] = is && m.IntN(3) > 0
	}
	return out
}

// elements returns a tensor with zeros where present is false; each bool is for width elements.
func (m *maker) elements(d tensor.DType, present []bool, most int, shape ...int) *tensor.Tensor {
	size := shapeops.Shape(shape).Size()
	if d.IsFloat() {
		x := make([]float64, size)
		for i := range x {
			if present[i*len(present)/max(1, size)] {
				x[i] = float64(m.IntN(1000))/4 - 100
			}
		}
		return tensor.Must(tensor.Must(tensor.From(x, shape...)).Cast(d))
	}
	b := make([]byte, size*d.Size())
	for i := range b {
		switch {
		case !present[i/d.Size()*len(present)/max(1, size)]:
		case d == tensor.Bool:
			b[i] = byte(m.IntN(2))
		case most == 0:
			b[i] = byte(m.IntN(256))
		case i%d.Size() == 0: // little endian
			b[i] = byte(m.IntN(most))
		}
	}
	return tensor.Must(tensor.FromBytes(d, b, shape...))
}

func (m *maker) set(key nestedkey.Key, v tdict.Value) {
	if err := m.td.Set(key, v); err != nil {
		panic(err)
	}
}

// entry adds an entry, and perhaps what is in it.
func (m *maker) entry(in spot, nesting int) {
	key := nestedkey.Key(fmt.Sprint("k", m.keys))
	if m.keys++; in.key != "" {
		key = nestedkey.Join(in.key, key)
	}
	s := tdict.Spec{Key: key}
	kind := m.IntN(4)
	if nesting > 2 {
		kind = m.IntN(3)
	}
	own := m.dims(2)
	levels := 0
	if kind != 0 || in.depth() > 0 {
		levels = m.IntN(3)
	}
	if in.depth()+levels > 0 && (kind != 1 || in.depth() > 0) {
		own = nil // ragged tensors alone have both
	}
	if len(in.dims) > 0 && kind > 1 {
		levels = 0 // texts and lists of objects
	}
	at := spot{key: key, dims: append(in.dims[:len(in.dims):len(in.dims)], own...), layout: in.layout, present: spread(in.present, own.Size())}
	masks := map[int][]bool{} // by depth
	null := func() {
		if m.IntN(2) == 0 {
			at.present = m.nulls(at.present)
			masks[at.depth()] = at.present
		}
	}
	if levels > 0 && at.layout == nil {
		at.layout = tensor.Must(ragged.NewLayout(append(shapeops.Shape{m.n}, at.dims...)))
	}
	depths := []*ragged.Layout{}
	for range levels {
		depths = append(depths, at.layout)
		null()
		offsets := []int64{0}
		for _, is := range at.present {
			n := 0
			if is {
				n = m.IntN(4)
			}
			offsets = append(offsets, offsets[len(offsets)-1]+int64(n))
		}
		at.layout = tensor.Must(at.layout.Nest(offsets))
		at.present = trues(int(offsets[len(offsets)-1]))
	}
	if at.depth() == 0 {
		at.layout = nil
	}
	depths = append(depths, at.layout)
	features := shapeops.Shape(nil)
	switch {
	case kind == 3:
		s.Kind, s.Shape, s.Depth = tdict.KindDict, at.dims, at.depth()
		null()
	case kind == 2 && (len(in.dims) == 0 || at.layout == nil):
		s.Kind, s.Shape, s.Depth = tdict.KindText, at.dims, at.depth()
		null()
	default:
		s.DType = dtypes[m.IntN(len(dtypes))]
		if at.depth() > 0 {
			features = m.dims(1)
			s.Kind, s.Batch, s.Shape, s.Depth = tdict.KindRagged, at.dims, features, at.depth()
		} else {
			s.Shape = at.dims
		}
		null()
	}
	most := 0
	if s.Kind != tdict.KindDict && s.Kind != tdict.KindText && m.IntN(3) == 0 {
		switch {
		case s.DType == tensor.Int64:
			s.Unit = []string{"d", "s", "ms", "us", "ns", "h"}[m.IntN(6)]
			s.Time, most = []string{"2006-01-02", "2006-01-02T15:04:05Z"}[m.IntN(2)], 100
		case s.DType.IsInteger():
			s.Categories, most = []string{"", "f", "Ä"}, 3
		}
	}
	of := at.layout
	n := len(at.present)
	all := append(shapeops.Shape{m.n}, at.dims...)
	var v tdict.Value
	switch {
	case s.Kind == tdict.KindDict:
		v = tdict.New(all...)
	case s.Kind == tdict.KindText:
		offsets, bytes := []int64{0}, []byte(nil)
		for _, is := range at.present {
			if is {
				bytes = append(bytes, []string{"", "a", "bc", "Émile", "日本"}[m.IntN(5)]...)
			}
			offsets = append(offsets, int64(len(bytes)))
		}
		if of == nil {
			of = tensor.Must(ragged.NewLayout(all))
		}
		v = tensor.Must(ragged.New(tensor.Vector(bytes...), tensor.Must(of.Nest(offsets))))
	case s.Kind == tdict.KindRagged:
		t := m.elements(s.DType, at.present, most, append(shapeops.Shape{n}, features...)...)
		v = tensor.Must(ragged.New(t, of))
	default:
		v = m.elements(s.DType, at.present, most, all...)
	}
	m.set(key, v)
	m.schema = append(m.schema, s)
	last := &m.schema[len(m.schema)-1]
	var listed tdict.Schema
	for d := len(depths) + in.depth() - 1; d >= in.depth(); d-- {
		bits, ok := masks[d]
		if !ok || s.Kind == tdict.KindDict && d > 0 && len(at.dims) > 0 {
			continue
		}
		mask := tdict.Spec{Key: key + nestedkey.Key(fmt.Sprint("_", d)), DType: tensor.Bool, Shape: at.dims}
		if m.IntN(4) == 0 {
			mask.Key = nestedkey.Key(fmt.Sprint("masks/k", m.keys, "_", d))
		}
		if d > 0 {
			mask.Kind, mask.Depth, mask.Shape, mask.Batch = tdict.KindRagged, d, nil, at.dims
			m.set(mask.Key, tensor.Must(ragged.New(tensor.Vector(bits...), depths[d-in.depth()])))
		} else {
			m.set(mask.Key, tensor.Must(tensor.From(bits, all...)))
		}
		if listed != nil {
			listed[len(listed)-1].Mask = mask.Key
		} else {
			last.Mask = mask.Key
		}
		listed = append(listed, mask)
	}
	m.schema = append(m.schema, listed...)
	if s.Kind == tdict.KindDict {
		for range 1 + m.IntN(3) {
			m.entry(at, nesting+1)
		}
	}
}

// randomDict returns a random dictionary and its schema.
func randomDict(r *rand.Rand) (*tdict.TensorDict, tdict.Schema) {
	m := &maker{Rand: r, n: r.IntN(6)}
	m.td = tdict.New(m.n)
	for range 1 + r.IntN(6) {
		m.entry(spot{present: trues(m.n)}, 0)
	}
	if r.IntN(3) == 0 {
		values := make([]any, m.n)
		for i := range values {
			if r.IntN(3) > 0 {
				values[i] = fmt.Sprint("t", r.IntN(3))
			}
		}
		m.set("data", tensor.Must(tdict.DataFrom(values, m.n)))
		m.schema = append(m.schema, tdict.Spec{Key: "data", Kind: tdict.KindData})
	}
	return m.td, m.schema
}

// same fails unless two dictionaries are equal.
func same(t *testing.T, want, got *tdict.TensorDict, about ...any) {
	t.Helper()
	diff, err := want.Diff(got)
	require.NoError(t, err)
	require.Empty(t, diff, about...)
}

// without returns a batch without the metadata of its schema.
func without(rec arrow.RecordBatch) arrow.RecordBatch {
	return array.NewRecordBatch(arrow.NewSchema(rec.Schema().Fields(), nil), rec.Columns(), rec.NumRows())
}

// A dictionary becomes a batch and back, whole and sliced on either side.
func TestThereAndBack(t *testing.T) {
	for seed := range uint64(longtests.Times(300, 10000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		td, schema := randomDict(r)
		require.NoError(t, schema.Check(td), seed)
		rec, err := columns.FromDict(td, schema)
		require.NoError(t, err, "seed %d: %v", seed, schema)
		for _, c := range rec.Columns() {
			require.NoError(t, array.ValidateFull(c), seed)
		}
		got, err := schemaOf(rec.Schema(), columns.Options{})
		require.NoError(t, err, seed)
		require.Empty(t, schema.Diff(got), seed)
		back, err := columns.ToDict(rec, columns.Options{})
		require.NoError(t, err, "seed %d: %v\n%v", seed, schema, rec)
		same(t, td, back, "seed %d: %v\n%v", seed, schema, rec)
		require.NoError(t, schema.Check(back), seed)

		i := r.IntN(int(rec.NumRows()) + 1)
		j := i + r.IntN(int(rec.NumRows())-i+1)
		part := tensor.Must(td.Index(ix.Range(i, j)))
		cut, err := columns.ToDict(rec.NewSlice(int64(i), int64(j)), columns.Options{})
		require.NoError(t, err, "seed %d: [%d:%d] of %v\n%v", seed, i, j, schema, rec)
		same(t, part, cut, "seed %d: [%d:%d] of %v\n%v", seed, i, j, schema, rec)
		again, err := columns.FromDict(part, schema)
		require.NoError(t, err, seed)
		cut, err = columns.ToDict(again, columns.Options{})
		require.NoError(t, err, seed)
		same(t, part, cut, seed)

		plain, err := columns.ToDict(without(rec), columns.Options{})
		if errors.Is(err, columns.ErrType) {
			continue // lists of objects in dims
		}
		require.NoError(t, err, "seed %d: %v\n%v", seed, schema, rec)
		for key, leaf := range plain.Leaves() {
			if want, err := td.Get(key); err == nil && leaf.Shape().Equal(want.Shape()) {
				_, isCodes := want.(*tdict.Data)
				require.True(t, isCodes || sameBytes(want, leaf), "seed %d: %q", seed, key)
			}
		}
	}
}

// sameBytes reports whether two leaves have the same elements if they have the same type.
func sameBytes(x, y tdict.Value) bool {
	a, ok := x.(*tensor.Tensor)
	b, is := y.(*tensor.Tensor)
	return !ok || !is || a.DType() != b.DType() || a.Equal(b)
}
