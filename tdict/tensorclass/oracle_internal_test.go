package tensorclass

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// numbers are the types of elements.
var numbers = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](),
	reflect.TypeFor[uint64](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](),
	reflect.TypeFor[int64](), reflect.TypeFor[tensor.F16](), reflect.TypeFor[tensor.BF16](), reflect.TypeFor[float32](),
	reflect.TypeFor[float64](), reflect.TypeFor[complex64](), reflect.TypeFor[complex128](),
}

// randomElement returns a number or an array.
func randomElement(rng *rand.Rand) reflect.Type {
	t := numbers[rng.IntN(len(numbers))]
	for rng.IntN(4) == 0 {
		t = reflect.ArrayOf(rng.IntN(6), t)
	}
	return t
}

// randomType returns the type of a field of a row.
func randomType(rng *rand.Rand, depth int) reflect.Type {
	switch n := rng.IntN(12); {
	case n < 6:
		return randomElement(rng)
	case n < 7:
		return reflect.TypeFor[string]()
	case n < 9:
		return reflect.SliceOf(randomElement(rng))
	case n < 10 && depth < 3:
		return randomStruct(rng, depth+1)
	case n < 11 && depth < 3:
		return reflect.PointerTo(randomType(rng, depth+1))
	}
	return []reflect.Type{reflect.TypeFor[map[string]float64](), reflect.TypeFor[[]string](), reflect.TypeFor[[][]int64](), reflect.TypeFor[[2]string]()}[rng.IntN(4)]
}

// randomStruct returns the type of a row.
func randomStruct(rng *rand.Rand, depth int) reflect.Type {
	fields := make([]reflect.StructField, 1+rng.IntN(7))
	for i := range fields {
		f := reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: randomType(rng, depth)}
		for f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Pointer {
			f.Type = f.Type.Elem()
		}
		if f.Type.Kind() == reflect.Pointer {
			f.Tag = reflect.StructTag(fmt.Sprintf(`td:",mask=m%d"`, i))
		}
		if f.Type.Kind() == reflect.Pointer && isData(f.Type.Elem()) {
			f.Type, f.Tag = f.Type.Elem(), ""
		}
		fields[i] = f
	}
	return reflect.StructOf(fields)
}

// isData reports whether randomType returns t for Data.
func isData(t reflect.Type) bool {
	return t.Kind() == reflect.Map || t.Kind() == reflect.Array && t.Elem().Kind() == reflect.String || t.Kind() == reflect.Slice && (t.Elem().Kind() == reflect.String || t.Elem().Kind() == reflect.Slice)
}

// fill sets v to random values. Slices are not empty but nil.
func fill(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rng.Uint64() >> (64 - v.Type().Bits()))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rng.Int64() >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(float32(rng.NormFloat64())))
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(float64(float32(rng.NormFloat64())), -1))
	case reflect.String:
		v.SetString(string([]byte{'a', 0xff, 0, 'b'}[:rng.IntN(5)]))
	case reflect.Slice:
		if n := rng.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fillItem(rng, v.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fillItem(rng, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]float64{"a": rng.Float64(), "b": 1}))
	case reflect.Pointer:
		if rng.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i))
		}
	}
}

// fillItem is fill of an item of a slice: JSON has no text that is not UTF-8.
func fillItem(rng *rand.Rand, v reflect.Value) {
	if v.Kind() == reflect.String {
		v.SetString("text")
		return
	}
	fill(rng, v)
}

// TestRandomTypes compares what FromRows makes of random rows of random types with their fields,
// element by element, and reads them back.
func TestRandomTypes(t *testing.T) {
	rounds := 300
	if longtests.On() {
		rounds = 5000
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(1, uint64(seed)))
		typ := randomStruct(rng, 0)
		n := []int{0, 1, 2, 5, 80, 700}[rng.IntN(6)]
		rows := reflect.MakeSlice(reflect.SliceOf(typ), n, n)
		for i := range n {
			fill(rng, rows.Index(i))
		}
		p, err := planFor(typ, true)
		require.NoError(t, err, "seed %d: %v", seed, typ)
		td := tdict.New(n)
		require.NoError(t, p.columns(td, rows), "seed %d: %v", seed, typ)
		s, err := p.schema()
		require.NoError(t, err)
		require.NoError(t, s.Check(td), "seed %d: %v", seed, typ)
		for i := range min(n, 90) {
			compareRow(t, td, "", rows.Index(i), i)
		}
		for name, from := range map[string]*tdict.TensorDict{"as it is": td, "strided": strided(t, td)} {
			r, err := p.open("test", from)
			require.NoError(t, err, "seed %d: %v", seed, typ)
			back := reflect.MakeSlice(rows.Type(), n, n)
			require.NoError(t, r.read(0, back))
			require.Equal(t, rows.Interface(), back.Interface(), "seed %d, %s: %v", seed, name, typ)
		}
	}
}

// strided returns a dictionary equal to td whose tensors do not lie in order.
func strided(t testing.TB, td *tdict.TensorDict) *tdict.TensorDict {
	t.Helper()
	var twice []int
	for i := range td.Shape()[0] {
		twice = append(twice, i, i)
	}
	wide, err := td.Index(ix.Take(twice...))
	require.NoError(t, err)
	even, err := wide.Index(ix.Range(0, ix.End).Step(2))
	require.NoError(t, err)
	return even
}

// compareRow compares row i of td, field by field, with a struct.
func compareRow(t *testing.T, td *tdict.TensorDict, outer nestedkey.Key, row reflect.Value, i int) {
	t.Helper()
	for k := range row.NumField() {
		compareField(t, td, outer+nestedkey.Key(fmt.Sprintf("f%d", k)), nestedkey.Key(fmt.Sprintf("%sm%d", outer, k)), row.Field(k), i)
	}
}

// compareField compares an entry of row i of td with a field.
func compareField(t *testing.T, td *tdict.TensorDict, key, mask nestedkey.Key, v reflect.Value, i int) {
	t.Helper()
	switch {
	case v.Kind() == reflect.Struct:
		compareRow(t, td, key+"/", v, i)
	case v.Kind() == reflect.Pointer:
		present, err := tdict.Item[bool](td, mask, i)
		require.NoError(t, err)
		require.Equal(t, !v.IsNil(), present)
		if v.IsNil() {
			v = reflect.New(v.Type().Elem())
		}
		compareField(t, td, key, "", v.Elem(), i)
	case isData(v.Type()):
		_, err := tdict.Get[*tdict.Data](td, key)
		require.NoError(t, err)
	case v.Kind() == reflect.String:
		r, err := tdict.Get[*ragged.Tensor](td, key)
		require.NoError(t, err)
		require.Equal(t, v.String(), tensor.Must(ragged.StringAt(r, i)))
	case v.Kind() == reflect.Slice:
		r, err := tdict.Get[*ragged.Tensor](td, key)
		require.NoError(t, err)
		require.Equal(t, flat(v), elementsOf(t, tensor.Must(tensor.Must(r.Index(ix.At(i))).Values())))
	default:
		x := tensor.Must(td.Tensor(key))
		require.Equal(t, flat(v), elementsOf(t, tensor.Must(x.Index(ix.At(i)))))
	}
}

// flat returns the elements of a number, an array or a slice.
func flat(v reflect.Value) (all []any) {
	if v.Kind() != reflect.Array && v.Kind() != reflect.Slice {
		return []any{v.Interface()}
	}
	for i := range v.Len() {
		all = append(all, flat(v.Index(i))...)
	}
	return all
}

// elementsOf returns the elements of a tensor of any dtype.
func elementsOf(t testing.TB, x *tensor.Tensor) (all []any) {
	t.Helper()
	for _, of := range []func(*tensor.Tensor) []any{
		anys[bool], anys[uint8], anys[uint16], anys[uint32], anys[uint64], anys[int8], anys[int16], anys[int32], anys[int64],
		anys[tensor.F16], anys[tensor.BF16], anys[float32], anys[float64], anys[complex64], anys[complex128],
	} {
		if all = of(x); all != nil {
			return all
		}
	}
	return nil
}

func anys[T tensor.Elem](x *tensor.Tensor) (all []any) {
	elements, err := tensor.Elements[T](x)
	if err != nil {
		return nil
	}
	for v := range elements {
		all = append(all, v)
	}
	return all
}

// TestOverlookedTags has tags that reflect does not find.
func TestOverlookedTags(t *testing.T) {
	plan := func(tag reflect.StructTag) error {
		f := reflect.StructField{Name: "A", Type: reflect.TypeFor[Leaf[int8]](), Tag: tag}
		_, err := planFor(reflect.StructOf([]reflect.StructField{f}), false)
		return err
	}
	for _, tag := range []reflect.StructTag{
		`td:a`, `json:a td:"b"`, `shape:3`, "json:\"a\"\ttd:\"b\"", "json:\"a\"\n\tshape:\"3\"", `td :"b"`, `td="b"`, `td:'b'`, `td: "b"`,
		`td:"b" td:"c"`, `shape:"3" td:"b" shape:"4"`,
	} {
		require.ErrorIs(t, plan(tag), ErrType, tag)
	}
	for _, tag := range []reflect.StructTag{`doc:"of td: none"`, `json:"a"td:"b"`, `td-x:"," json:"td"`, `a:"\" td:\"b"`} {
		require.NoError(t, plan(tag), tag)
	}
}

// FuzzTag makes plans of structs with any tags: an error, never a panic, and a plan only for keys
// that a dictionary takes.
func FuzzTag(f *testing.F) {
	for _, tag := range []string{`td:"obs/pixels" shape:"84,?"`, `td:"a,mask=b"`, `td:",optional"`, `td:"-"`, `td:obs`, `td:"a,,"`, `td:"~2"`, `shape:"*,3"`, `td:"a,data"`} {
		for kind := range uint8(8) {
			f.Add(tag, kind)
		}
	}
	types := []reflect.Type{
		reflect.TypeFor[Leaf[float32]](), reflect.TypeFor[*ragged.Tensor](), reflect.TypeFor[*int64](), reflect.TypeFor[string](),
		reflect.TypeFor[[]int8](), reflect.TypeFor[struct{ A [2]bool }](), reflect.TypeFor[any](), reflect.TypeFor[chan int](),
	}
	row := reflect.TypeFor[struct{ A, B int64 }]()
	f.Fuzz(func(t *testing.T, tag string, kind uint8) {
		p := planner{&plan{typ: row}, map[reflect.Type]*plan{}, map[nestedkey.Key]string{}, nil}
		for i, name := range []string{"A", "B"} {
			f := reflect.StructField{Name: name, Type: types[int(kind>>(4*i))%len(types)], Index: []int{i}}
			if i == 0 {
				f.Tag = reflect.StructTag(tag)
			}
			if err := p.add(position{}.below(f), position{}, f); err != nil {
				require.NotContains(t, err.Error(), "%!")
				return
			}
		}
		for _, spec := range p.specs() {
			require.NoError(t, tdict.Schema{spec}.Validate())
			require.Contains(t, p.keys, spec.Key)
		}
	})
}
