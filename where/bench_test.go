package where_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

// BenchmarkMask counts the bytes of the leaves that a condition reads. The last sums a leaf, to
// compare with.
func BenchmarkMask(b *testing.B) {
	const n = 1 << 18
	td := tdict.New(n)
	names := make([]string, n)
	for i := range names {
		names[i] = "name"
	}
	tensor.Must(0, td.Set("label", tensor.Must(tensor.Arange[int64](0, n, 1))))
	tensor.Must(0, td.Set("age", tensor.Must(tensor.Arange[float32](0, n, 1))))
	tensor.Must(0, td.Set("age_mask", tensor.Must(tensor.Full(true, n))))
	tensor.Must(0, td.Set("name", tensor.Must(ragged.FromStrings(names))))
	for _, bench := range []struct {
		name, text string
		bytes      int64
	}{
		{"int64", "label > 1000", 8}, {"float32", "age_ > 40", 4}, {"masked", "age > 40", 5},
		{"two", "label > 1000 and age > 40", 13}, {"text", "name == 'name'", 12},
	} {
		b.Run("where="+bench.name, func(b *testing.B) {
			tensor.Must(0, td.Set("age_", tensor.Must(td.Tensor("age"))))
			filter := tensor.Must(tensor.Must(where.Parse(bench.text)).BindSchema(td, tdict.Schema{{Key: "age", Mask: "age_mask"}}))
			b.SetBytes(bench.bytes * n)
			b.ReportAllocs()
			for b.Loop() {
				tensor.Must(filter.Mask(td))
			}
		})
	}
	b.Run("sum=int64", func(b *testing.B) {
		labels, sum := tensor.Must(tdict.Slice[int64](td, "label")), int64(0)
		b.SetBytes(8 * n)
		for b.Loop() {
			for _, v := range labels {
				sum += v
			}
		}
		_ = sum
	})
}
