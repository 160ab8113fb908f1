package tdict_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkJSON writes and reads a leaf of float32 that lies so deep in dictionaries, beside what
// encoding/json does with the same numbers in a slice, and in slices of slices.
func BenchmarkJSON(b *testing.B) {
	const rows, cols = 1000, 10
	flat, nested := make([]float32, rows*cols), make([][]float32, rows)
	for i := range flat {
		flat[i] = float32(i) / 7
	}
	for i := range nested {
		nested[i] = flat[i*cols : (i+1)*cols]
	}
	plain := tensor.Must(json.Marshal(flat))
	lists := tensor.Must(json.Marshal(nested))
	b.Run("op=marshal/how=slice", func(b *testing.B) { marshals(b, plain, flat) })
	b.Run("op=marshal/how=slices", func(b *testing.B) { marshals(b, lists, nested) })
	b.Run("op=unmarshal/how=slice", func(b *testing.B) { unmarshals(b, plain, func() any { return new([]float32) }) })
	b.Run("op=unmarshal/how=slices", func(b *testing.B) { unmarshals(b, lists, func() any { return new([][]float32) }) })
	td := dict([]int{rows}, entry{"x", tensor.Must(tensor.From(flat, rows, cols))})
	for depth := 0; depth <= 100; depth++ {
		if depth == 0 || depth == 10 || depth == 100 {
			text := tensor.Must(td.MarshalJSON())
			how := fmt.Sprintf("how=dict/depth=%d", depth)
			b.Run("op=marshal/"+how, func(b *testing.B) { marshals(b, text, td) })
			b.Run("op=append/"+how, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				buffer := make([]byte, 0, len(text))
				loop(b, func() (err error) { buffer, err = td.Ops().AppendJSON(buffer[:0]); return err })
			})
			b.Run("op=unmarshal/"+how, func(b *testing.B) { unmarshals(b, text, func() any { return new(tdict.TensorDict) }) })
		}
		td = dict([]int{rows}, entry{"d", td})
	}
}

func marshals(b *testing.B, text []byte, v any) {
	b.SetBytes(int64(len(text)))
	loop(b, func() error { _, err := json.Marshal(v); return err })
}

func unmarshals(b *testing.B, text []byte, v func() any) {
	b.SetBytes(int64(len(text)))
	loop(b, func() error { return json.Unmarshal(text, v()) })
}
