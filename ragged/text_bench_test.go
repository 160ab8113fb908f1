package ragged_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkText compares texts with plain copies of their bytes.
func BenchmarkText(b *testing.B) {
	texts, size := make([]string, 100_000), 0
	for i := range texts {
		texts[i] = fmt.Sprint("text ", i%1000)
		size += len(texts[i])
	}
	x := tensor.Must(ragged.FromStrings(texts))
	joined := strings.Join(texts, "")
	var builder ragged.TextBuilder
	var again []byte
	for _, how := range []struct {
		name string
		run  func()
	}{
		{"op=from/how=join", func() { strings.Join(texts, "") }},
		{"op=from/how=ragged", func() { _, _ = ragged.FromStrings(texts) }},
		{"op=build/how=append", func() {
			again = again[:0]
			for _, text := range texts {
				again = append(again, text...)
			}
		}},
		{"op=build/how=ragged", func() {
			builder.Reset()
			for _, text := range texts {
				builder.Append(text)
			}
			_, _ = builder.Tensor()
		}},
		{"op=strings/how=slice", func() {
			out, at := make([]string, len(texts)), 0
			whole := string([]byte(joined))
			for i, text := range texts {
				out[i] = whole[at : at+len(text)]
				at += len(text)
			}
		}},
		{"op=strings/how=ragged", func() { _, _ = ragged.Strings(x) }},
		{"op=categories/how=map", func() {
			codes, out := map[string]int32{}, make([]int32, len(texts))
			for i, text := range texts {
				code, ok := codes[text]
				if !ok {
					code = int32(len(codes))
					codes[text] = code
				}
				out[i] = code
			}
		}},
		{"op=categories/how=ragged", func() { _, _, _ = ragged.Categories(x) }},
	} {
		b.Run(how.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				how.run()
			}
		})
	}
}
