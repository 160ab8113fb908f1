package inspect_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

const benchElements = 1 << 26 // 256 MiB

// mapped returns a dataset of one float32 leaf.
func mapped(b *testing.B) *memmap.Dataset {
	dir := filepath.Join(testkit.TempDir(b), "data")
	data := make([]float32, benchElements)
	for i := range data {
		data[i] = float32(i%1001) - 400
	}
	td := tdict.New(1 << 20)
	if err := td.Set("x", tensor.Must(tensor.From(data, 1<<20, 64))); err != nil {
		b.Fatal(err)
	}
	if err := memmap.SaveWith(context.Background(), dir, td, memmap.SaveOptions{NoSync: true}); err != nil {
		b.Fatal(err)
	}
	d, err := memmap.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	return d
}

// sumLoop adds up the elements in a plain loop, in parts on some goroutines.
func sumLoop(td *tdict.TensorDict, n int) (total float32, err error) {
	x, err := td.Tensor("x")
	if err != nil {
		return 0, err
	}
	err = tensor.Read(x, func(s []float32) {
		sums := make([]float32, n)
		_ = workers.Do(context.Background(), n, n, func(i int) error {
			sum := float32(0)
			for _, v := range s[i*len(s)/n : (i+1)*len(s)/n] {
				sum += v
			}
			sums[i] = sum
			return nil
		})
		for _, v := range sums {
			total += v
		}
	})
	return total, err
}

func BenchmarkDescribe(b *testing.B) {
	d := mapped(b)
	ctx := context.Background()
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("what=sumloop/workers=%d", n), func(b *testing.B) {
			b.SetBytes(4 * benchElements)
			for b.Loop() {
				if _, err := sumLoop(d.TensorDict, n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for name, opt := range map[string]inspect.DescribeOptions{
		"describe": {Workers: 2}, "quantiles": {Workers: 2, Quantiles: []float64{0.5}}, "columns": {Workers: 2, ByColumn: true},
	} {
		b.Run("what="+name+"/workers=2", func(b *testing.B) {
			b.SetBytes(4 * benchElements)
			for b.Loop() {
				if _, err := inspect.Describe(ctx, d.TensorDict, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDifferences(b *testing.B) {
	d, e := mapped(b), mapped(b)
	b.Run("what=sumloops/workers=2", func(b *testing.B) {
		b.SetBytes(8 * benchElements)
		for b.Loop() {
			for _, td := range []*tdict.TensorDict{d.TensorDict, e.TensorDict} {
				if _, err := sumLoop(td, 2); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	for _, trust := range []bool{false, true} {
		b.Run(fmt.Sprintf("what=differences/trust=%t/workers=2", trust), func(b *testing.B) {
			b.SetBytes(8 * benchElements)
			opt := inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}, Workers: 2, TrustSums: trust}
			for b.Loop() {
				for d, err := range inspect.Differences(context.Background(), d.TensorDict, e.TensorDict, opt) {
					b.Fatal(d, err)
				}
			}
		})
	}
}

// BenchmarkProfiles has 32 MB of float64, and 60 leaves of 1 MB. Describe has the same quantiles.
func BenchmarkProfiles(b *testing.B) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	few := make([]float64, 4_000_000)
	many := make([]float64, len(few))
	for i := range few {
		few[i], many[i] = float64(r.IntN(12))/4, r.NormFloat64()
	}
	wall := tdict.New(1 << 17)
	for i := range 60 {
		if err := wall.Set(nestedkey.Key(fmt.Sprint(i)), tensor.Vector(many[i:i+1<<17]...)); err != nil {
			b.Fatal(err)
		}
	}
	one := func(x []float64) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap(nil, tdict.Entries{"x": tensor.Vector(x...)}))
	}
	for name, td := range map[string]*tdict.TensorDict{"normal": one(many), "few": one(few), "wall": wall} {
		b.Run("data="+name+"/what=describe", func(b *testing.B) {
			for b.Loop() {
				if _, err := inspect.Describe(ctx, td, inspect.DescribeOptions{Workers: 2, Quantiles: []float64{0.01, 0.25, 0.5, 0.75, 0.99}}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("data="+name+"/what=profiles", func(b *testing.B) {
			for b.Loop() {
				if _, err := inspect.Profiles(ctx, td, inspect.ProfileOptions{Workers: 2}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
