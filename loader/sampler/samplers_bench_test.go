package sampler_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// orders returns what is measured, for n units.
func orders(n int) map[string]sampler.Sampler {
	weights, labels := make([]float64, n), make([]int32, n)
	for i := range weights {
		weights[i], labels[i] = float64(1+i%7), int32(i*i%10)
	}
	return map[string]sampler.Sampler{
		"blocks":     sampler.Blocks(sampler.BlockOptions{}),
		"weighted":   tensor.Must(sampler.Weighted(weights, sampler.WeightedOptions{})),
		"stratified": tensor.Must(sampler.Stratified(tensor.Vector(labels...), sampler.StratifiedOptions{})),
		"shard":      tensor.Must(sampler.Shard(sampler.Random(), sampler.Share{Rank: 1, World: 2})),
		"mixture": tensor.Must(sampler.Mixture([]sampler.Part{{Units: n / 2, Weight: 2}, {Units: n - n/2, Weight: 1}},
			sampler.MixtureOptions{})),
		"endless": sampler.Endless(sampler.Random()),
	}
}

// perUnit reports the time that one unit takes.
func perUnit(b *testing.B, units int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(units), "ns/unit")
}

// BenchmarkOrder walks orders in batches of 64.
func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{50_000, 200_000, 1<<20 + 1} {
		all := map[string]sampler.Order{"shuffled": sampler.Shuffled(n, 1), "feistel": sampler.Feistel(n, 1)}
		for name, s := range orders(n) {
			all[name] = orderOf(b, s, epoch(n, 1, 0))
		}
		for name, o := range all {
			b.Run(fmt.Sprintf("order=%s/n=%d", name, n), func(b *testing.B) {
				dst := make([]int, 0, 64)
				length := min(o.Len(), n)
				b.ReportAllocs()
				for b.Loop() {
					for start := 0; start < length; start += 64 {
						dst = o.AppendTo(dst[:0], start, min(length, start+64))
					}
				}
				perUnit(b, length)
			})
		}
	}
}

// BenchmarkEpoch makes orders.
func BenchmarkEpoch(b *testing.B) {
	const n = 200_000
	all := orders(n)
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = float64(1 + i%7)
	}
	all["once"] = tensor.Must(sampler.Weighted(weights, sampler.WeightedOptions{WithoutReplacement: true}))
	all["random"] = sampler.Random()
	for name, s := range all {
		b.Run(fmt.Sprintf("order=%s/n=%d", name, n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := s.Order(epoch(n, 1, 0))
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkMake makes samplers.
func BenchmarkMake(b *testing.B) {
	const n = 200_000
	weights, labels, singles := make([]float64, n), make([]int32, n), make([]int32, n)
	for i := range weights {
		weights[i], labels[i], singles[i] = float64(1+i%7), int32(i*i%10), int32(i/2)
	}
	makers := map[string]func() (sampler.Sampler, error){
		"weighted": func() (sampler.Sampler, error) { return sampler.Weighted(weights, sampler.WeightedOptions{}) },
		"stratified": func() (sampler.Sampler, error) {
			return sampler.Stratified(tensor.Vector(labels...), sampler.StratifiedOptions{})
		},
		"pairs": func() (sampler.Sampler, error) {
			return sampler.Stratified(tensor.Vector(singles...), sampler.StratifiedOptions{})
		},
	}
	for name, fn := range makers {
		b.Run(fmt.Sprintf("sampler=%s/n=%d", name, n), func(b *testing.B) {
			for b.Loop() {
				_, err := fn()
				require.NoError(b, err)
			}
		})
	}
}
