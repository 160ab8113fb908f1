package columns_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// wide returns a dictionary of columns with n rows: float64, or of other kinds.
func wide(n int, kind string) (*tdict.TensorDict, tdict.Schema) {
	td := tdict.New(n)
	var schema tdict.Schema
	bits := make([]bool, n)
	lengths := make([]int64, n)
	for i := range bits {
		bits[i], lengths[i] = i%3 > 0, int64(i%3)
	}
	layout := tensor.Must(ragged.LayoutOf(shapeops.Shape{n}, lengths))
	values := tensor.Must(layout.NumRows(-1))
	for i := range 10 {
		key := nestedkey.Key(fmt.Sprint("c", i))
		s := tdict.Spec{Key: key}
		var v tdict.Value = tensor.Must(tensor.Zeros[float64](n))
		switch kind {
		case "float64":
			s.DType = tensor.Float64
		case "masked":
			s.DType, s.Mask = tensor.Float64, "mask"
		case "bool":
			s.DType, v = tensor.Bool, tensor.Must(tensor.Zeros[bool](n))
		case "ragged":
			s.Kind, s.DType, s.Depth = tdict.KindRagged, tensor.Int64, 1
			v = tensor.Must(ragged.New(tensor.Must(tensor.Zeros[int64](values)), layout))
		case "text":
			s.Kind = tdict.KindText
			v = tensor.Must(ragged.New(tensor.Must(tensor.Zeros[uint8](values)), layout))
		}
		schema = append(schema, s)
		if err := td.Set(key, v); err != nil {
			panic(err)
		}
	}
	if kind == "masked" {
		schema = append(schema, tdict.Spec{Key: "mask", DType: tensor.Bool})
		if err := td.Set("mask", tensor.Vector(bits...)); err != nil {
			panic(err)
		}
	}
	return td, schema
}

func BenchmarkColumns(b *testing.B) {
	const n = 1 << 20
	for _, kind := range []string{"float64", "masked", "bool", "ragged", "text"} {
		td, schema := wide(n, kind)
		rec := tensor.Must(columns.FromDict(td, schema))
		b.Run("kind="+kind+"/to=batch", func(b *testing.B) {
			b.SetBytes(int64(td.ByteSize()))
			b.ReportAllocs()
			for b.Loop() {
				_ = tensor.Must(columns.FromDict(td, schema))
			}
		})
		b.Run("kind="+kind+"/to=dict", func(b *testing.B) {
			b.SetBytes(int64(td.ByteSize()))
			b.ReportAllocs()
			for b.Loop() {
				_ = tensor.Must(columns.ToDict(rec, columns.Options{}))
			}
		})
		b.Run("kind="+kind+"/to=dicts", func(b *testing.B) {
			r := tensor.Must(columns.NewReader(rec.Schema(), columns.Options{}))
			b.SetBytes(int64(td.ByteSize()))
			b.ReportAllocs()
			for b.Loop() {
				_ = tensor.Must(r.Dict(rec))
			}
		})
	}
}

// What a Reader allocates for a batch does not depend on its rows, except for offsets.
func TestAllocations(t *testing.T) {
	for kind, most := range map[string]float64{"float64": 110, "masked": 190, "bool": 70, "ragged": 160, "text": 150} {
		counts := []float64{}
		for _, n := range []int{100, 10000} {
			td, schema := wide(n, kind)
			rec := tensor.Must(columns.FromDict(td, schema))
			r := tensor.Must(columns.NewReader(rec.Schema(), columns.Options{}))
			count := testing.AllocsPerRun(20, func() { _ = tensor.Must(r.Dict(rec)) })
			require.LessOrEqual(t, count, most, kind)
			counts = append(counts, count)
		}
		require.InDelta(t, counts[0], counts[1], 2, kind)
	}
}

// A hundred times the rows do not make FromDict and ToDict allocate more for what they share.
func TestSharesMemory(t *testing.T) {
	bytes := []float64{}
	for _, n := range []int{1000, 100000} {
		td, schema := wide(n, "float64")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = tensor.Must(columns.ToDict(tensor.Must(columns.FromDict(td, schema)), columns.Options{}))
		runtime.ReadMemStats(&after)
		bytes = append(bytes, float64(after.TotalAlloc-before.TotalAlloc))
	}
	require.InEpsilon(t, bytes[0], bytes[1], 0.2)
}
