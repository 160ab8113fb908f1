package sampler_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// groupLayout returns ids of n rows, 8 in a group on average: sorted, in a random order, or so and
// far from each other.
func groupLayout(layout string, n int) *tensor.Tensor {
	r, ids := rand.New(rand.NewPCG(1, 2)), make([]int64, n)
	for i := range ids {
		ids[i] = r.Int64N(int64(n / 8))
		if layout == "sparse" {
			ids[i] *= 0x9e3779b97f4a7c1
		}
	}
	if layout == "runs" {
		slices.Sort(ids)
	}
	return tensor.Vector(ids...)
}

// BenchmarkNewGroups makes groups of 200,000 rows, and of 10 and 100 times as many.
func BenchmarkNewGroups(b *testing.B) {
	for _, layout := range []string{"runs", "scattered", "sparse"} {
		for _, n := range []int{200_000, 2_000_000, 20_000_000} {
			b.Run(fmt.Sprintf("rows=%d/layout=%s", n, layout), func(b *testing.B) {
				ids := groupLayout(layout, n)
				b.SetBytes(int64(8 * n))
				b.ReportAllocs()
				for b.Loop() {
					_, _ = sampler.NewGroups(ids, sampler.GroupOptions{})
				}
			})
		}
	}
}

// BenchmarkGroupEpoch makes all batches of an epoch of groups in a random order, and of as many
// rows by themselves.
func BenchmarkGroupEpoch(b *testing.B) {
	const n = 200_000
	for _, layout := range []string{"runs", "scattered"} {
		groups := tensor.Must(sampler.NewGroups(groupLayout(layout, n), sampler.GroupOptions{}))
		for _, opt := range []sampler.GroupBatchOptions{{Groups: 64}, {MaxRows: 512}} {
			b.Run(fmt.Sprintf("groups=%d/rows=%d/layout=%s", opt.Groups, opt.MaxRows, layout), func(b *testing.B) {
				benchmarkEpoch(b, tensor.Must(groups.Batches(opt)), n)
			})
		}
	}
	b.Run("rows=512", func(b *testing.B) { benchmarkEpoch(b, tensor.Must(sampler.Rows(512, false)), n) })
	lengths := make([]int64, n)
	for i := range lengths {
		lengths[i] = int64(i*7919%500 + 1)
	}
	b.Run("tokens=100000", func(b *testing.B) {
		benchmarkEpoch(b, tensor.Must(sampler.Buckets(lengths, sampler.BucketOptions{Tokens: 100_000})), n)
	})
}

func benchmarkEpoch(b *testing.B, batching sampler.Batching, n int) {
	units := tensor.Must(batching.Units(n))
	var batch sampler.Batch
	b.ReportAllocs()
	for b.Loop() {
		plan := tensor.Must(batching.Plan(tensor.Must(sampler.Random().Order(sampler.Epoch{Units: units})), n))
		for k := range plan.Len() {
			batch = plan.Batch(k, batch)
		}
	}
}
