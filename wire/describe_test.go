package wire_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

type object = map[string]any

// describe returns a value as the files of expected values in testdata/golden do, with what an
// original sees of it.
func describe(t *testing.T, v tdict.Value) object {
	switch v := v.(type) {
	case *tdict.TensorDict:
		if dim, members, err := tdict.Members(v); err == nil {
			return describeStack(t, dim, v, members)
		}
		keys := object{}
		for key, inner := range v.All() {
			keys[key.Name()] = describe(t, inner)
		}
		out := object{"kind": "tensordict", "shape": v.Shape().Clone(), "keys": keys, "names": nil, "locked": v.Locked()}
		if slices.ContainsFunc(v.Names(), func(s string) bool { return s != "" }) {
			out["names"] = v.Names()
		}
		return out
	case *tensor.Tensor:
		return describeTensor(t, v)
	case *tdict.Unbatched: // which Python sees as a tensor
		return describeTensor(t, v.Tensor())
	case *tdict.Data:
		return describeData(v)
	case *ragged.Tensor:
		return describeRows(t, v)
	}
	t.Fatalf("a %T", v)
	return nil
}

func describeStack(t *testing.T, dim int, td *tdict.TensorDict, members []*tdict.TensorDict) object {
	tds := []any{}
	for _, m := range members {
		o := describe(t, m)
		dropLocks(o) // which Members does not keep
		tds = append(tds, o)
	}
	return object{"kind": "lazystack", "stack_dim": dim, "shape": td.Shape().Clone(), "tds": tds}
}

func dropLocks(o object) {
	delete(o, "locked")
	keys, _ := o["keys"].(object)
	for _, v := range keys {
		dropLocks(v.(object))
	}
}

func describeTensor(t *testing.T, x *tensor.Tensor) object {
	return object{"kind": "tensor", "dtype": x.DType().String(), "shape": x.Shape().Clone(), "hex": hex.EncodeToString(testkit.Content(t, x))}
}

func describeData(d *tdict.Data) object {
	if one, ok := datajson.Shared(d); ok || d.Shape().Size() == 0 {
		return object{"kind": "nontensor", "shape": d.Shape().Clone(), "data": plainValue(one)}
	}
	rows := []any{}
	for v := range d.All() {
		rows = append(rows, plainValue(v))
	}
	for _, n := range slices.Backward(d.Shape()[1:]) {
		var outer []any
		for chunk := range slices.Chunk(rows, n) {
			outer = append(outer, chunk)
		}
		rows = outer
	}
	return object{"kind": "nontensorstack", "shape": d.Shape().Clone(), "data": rows}
}

// plainValue returns a value of data with maps for objects.
func plainValue(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, plainValue(x))
		}
		return out
	case *tdict.Object:
		out := object{}
		for name, x := range v.All() {
			out[name] = plainValue(x)
		}
		return out
	}
	return v
}

// describeRows describes a jagged tensor, or the dictionary of parts that Python sees.
func describeRows(t *testing.T, x *ragged.Tensor) object {
	if x.Depth() == 1 && len(x.Shape()) == 1 {
		parts := []any{}
		for i := range x.Shape()[0] {
			row := tensor.Must(tensor.Must(x.Row(i)).Values())
			parts = append(parts, describeTensor(t, row))
		}
		return object{"kind": "nested", "dtype": x.DType().String(), "components": parts}
	}
	keys := object{}
	var sums []uint32
	for _, p := range tensor.Must(pool.PartsOf(x)) {
		var b bytes.Buffer
		require.NoError(t, pool.Write(&b, p.Name, x, 0, pool.Tag(sums)))
		if p.Used > 0 {
			sums = append(sums, crc32.Checksum(b.Bytes(), crc32.MakeTable(crc32.Castagnoli)))
		}
		b.Write(make([]byte, p.Size()-p.Used))
		keys[p.Name] = object{"kind": "tensor", "dtype": p.DType.String(), "shape": p.Shape, "hex": hex.EncodeToString(b.Bytes())}
	}
	return object{"kind": "tensordict", "shape": x.Shape().Clone(), "keys": keys, "names": nil}
}

// same requires that two descriptions agree, once both went through JSON. Fields that one of them
// lacks are not looked at.
func same(t *testing.T, want, got any) {
	t.Helper()
	again := func(v any) (out any) {
		require.NoError(t, json.Unmarshal(tensor.Must(json.Marshal(v)), &out))
		return named(out)
	}
	sameFields(t, "", again(want), again(got))
}

// named returns a description in which a dim without a name has the name "", also where it is null.
func named(v any) any {
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			v[i] = named(x)
		}
	case object:
		for field, x := range v {
			if names, ok := x.([]any); ok && field == "names" {
				for i, name := range names {
					names[i] = cmp.Or(name, any(""))
				}
			} else {
				v[field] = named(x)
			}
		}
	}
	return v
}

func sameFields(t *testing.T, at string, want, got any) {
	t.Helper()
	a, isA := want.(object)
	b, isB := got.(object)
	if !isA || !isB {
		require.Equal(t, want, got, at)
		return
	}
	if keys, ok := a["keys"].(object); ok {
		require.Equal(t, len(keys), len(b["keys"].(object)), at)
		for name := range keys {
			require.Contains(t, b["keys"], name, at)
		}
	}
	for name, v := range a {
		if other, ok := b[name]; ok {
			if list, isList := v.([]any); isList && (name == "components" || name == "tds") {
				require.Len(t, other, len(list), at)
				for i := range list {
					sameFields(t, at+"/"+strconv.Itoa(i), list[i], other.([]any)[i])
				}
				continue
			}
			sameFields(t, at+"/"+name, v, other)
		}
	}
}

// A maker makes random dictionaries.
type maker struct {
	*rand.Rand
	t      *testing.T
	native bool // also what only this module has
	dense  bool // no lazy stacks
}

func newMaker(t *testing.T, seed uint64, native bool) maker {
	return maker{Rand: rand.New(rand.NewPCG(seed, 1)), t: t, native: native}
}

// dict returns a dictionary of the batch shape of an outer one and perhaps more dims.
func (m maker) dict(batch []int, depth int) *tdict.TensorDict {
	td := tdict.New(batch...)
	if depth == 0 && m.IntN(3) == 0 && len(batch) > 0 {
		names := make([]string, len(batch))
		names[m.IntN(len(names))] = "dim"
		require.NoError(m.t, td.SetNames(names...))
	}
	for i := range m.IntN(6) {
		name := []string{"a", "b c", "é/ü", "", "cls.", "x~1", "\"", "obs", "~", "x<NJT>"}[m.IntN(10)]
		if i > 0 {
			name += strconv.Itoa(i)
		}
		require.NoError(m.t, td.Set(nestedkey.Of(name), m.value(batch, depth)))
	}
	if m.native && m.IntN(4) == 0 {
		require.NoError(m.t, td.SetClass("my.module.Frame"))
	}
	if m.IntN(4) == 0 {
		td.Lock()
	}
	return td
}

func (m maker) value(batch []int, depth int) tdict.Value {
	kinds := 4
	if m.native {
		kinds = 7
	}
	if len(batch) == 1 && batch[0] > 0 && m.IntN(5) == 0 {
		return m.rows(batch, 1)
	}
	switch m.IntN(kinds) {
	case 0:
		if depth < 3 && !m.dense && m.IntN(4) == 0 && len(batch) > 0 && batch[0] > 0 {
			return m.stack(batch, depth)
		}
		if depth < 3 {
			return m.dict(append(slices.Clip(batch), m.sizes(1)...), depth+1)
		}
	case 1:
		return m.data(batch)
	case 4:
		return tensor.Must(tdict.NewUnbatched(m.tensor(m.sizes(2))))
	case 5:
		return m.rows(batch, 2)
	case 6:
		return m.rows(append(slices.Clip(batch), 2), 1)
	}
	return m.tensor(append(slices.Clip(batch), m.sizes(2)...))
}

// stack returns a lazy stack along the first dim, of members that may differ.
func (m maker) stack(batch []int, depth int) *tdict.TensorDict {
	var members []*tdict.TensorDict
	for range batch[0] {
		td := tdict.New(batch[1:]...)
		for _, name := range []nestedkey.Key{"s", "in/t"} {
			require.NoError(m.t, td.Set(name, m.tensor(append(slices.Clip(batch[1:]), m.sizes(2)...))))
		}
		if m.IntN(3) == 0 { // a key of its own
			require.NoError(m.t, td.Set("own", m.tensor(batch[1:])))
		}
		members = append(members, td)
	}
	return tensor.Must(tdict.LazyStack(members, 0))
}

func (m maker) sizes(most int) []int {
	sizes := make([]int, m.IntN(most+1))
	for i := range sizes {
		sizes[i] = m.IntN(4)
	}
	return sizes
}

func (m maker) tensor(shape []int) *tensor.Tensor {
	dtypes := tensor.DTypes()
	d := dtypes[m.IntN(len(dtypes))]
	b := make([]byte, shapeops.Shape(shape).Size()*d.Size())
	for i := range b {
		if b[i] = byte(m.Uint32()) & 0x3f; d == tensor.Bool { // no NaN
			b[i] &= 1
		}
	}
	x := tensor.Must(tensor.FromBytes(d, b, shape...))
	if len(shape) > 1 && m.IntN(3) == 0 { // strided
		x = tensor.Must(tensor.Must(tensor.Must(x.Transpose(0, 1)).Clone()).Transpose(0, 1))
	}
	return x
}

func (m maker) rows(batch []int, depth int) *ragged.Tensor {
	n := shapeops.Shape(batch).Size()
	var lengths [][]int64
	for range depth {
		level, sum := make([]int64, n), 0
		for i := range level {
			level[i] = int64(m.IntN(4))
			sum += int(level[i])
		}
		lengths, n = append(lengths, level), sum
	}
	layout := tensor.Must(ragged.LayoutOf(batch, lengths...))
	return tensor.Must(ragged.New(m.tensor(append([]int{n}, m.sizes(1)...)), layout))
}

func (m maker) data(batch []int) *tdict.Data {
	values := []any{"text é\n\"", 7, 1.5, nil, true, []any{1, "x"}, 1e-7, 12345678.25, map[string]any{"k": 1}, -3}
	n := shapeops.Shape(batch).Size()
	if n < 2 || m.IntN(2) == 0 {
		return tensor.Must(tdict.NewData(values[m.IntN(len(values))], batch...))
	}
	rows := make([]any, n)
	for i := range rows {
		rows[i] = values[m.IntN(len(values))]
	}
	rows[0], rows[1] = "first", "second" // not uniform
	return tensor.Must(tdict.DataFrom(rows, batch...))
}
