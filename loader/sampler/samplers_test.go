package sampler_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// epoch returns an epoch of n units of 1000 bytes.
func epoch(n int, seed, number uint64) sampler.Epoch {
	return sampler.Epoch{Units: n, UnitBytes: 1000, Seed: seed, Number: number}
}

// orderOf returns the order of a sampler.
func orderOf(t testing.TB, s sampler.Sampler, e sampler.Epoch) sampler.Order {
	t.Helper()
	o, err := s.Order(e)
	require.NoError(t, err)
	return o
}

// all returns an order written out.
func all(t testing.TB, s sampler.Sampler, e sampler.Epoch) []int {
	t.Helper()
	return first(t, s, e, orderOf(t, s, e).Len())
}

// first returns the beginning of an order.
func first(t testing.TB, s sampler.Sampler, e sampler.Epoch, n int) []int {
	t.Helper()
	return orderOf(t, s, e).AppendTo([]int{}, 0, n)
}

// isPermutation reports whether order has each unit once.
func isPermutation(order []int, n int) bool {
	seen := make([]bool, n)
	for _, unit := range order {
		if unit < 0 || unit >= n || seen[unit] {
			return false
		}
		seen[unit] = true
	}
	return len(order) == n
}

// labels returns labels of n units in classes of which each is half as large as the one before.
func labels(n int) *tensor.Tensor {
	of := make([]int32, n)
	for i := range of {
		for x := i; x%2 == 1; x /= 2 {
			of[i]++
		}
	}
	return tensor.Vector(of...)
}

// weights returns n weights, some of them 0.
func weights(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = float64((i + 1) % 4)
	}
	return w
}

// every returns one of each kind of sampler, for n units, at least 2, by name.
func every(n int) map[string]sampler.Sampler {
	small := sampler.BlockOptions{BlockBytes: 3000, WindowBytes: 12000}
	part := []sampler.Part{{Units: n - n/2, Weight: 3, Sampler: sampler.Sequential()}, {Units: n / 2, Weight: 2}}
	return map[string]sampler.Sampler{
		"sequential": sampler.Sequential(),
		"random":     sampler.Random(),
		"blocks":     sampler.Blocks(small),
		"among":      tensor.Must(sampler.Among([]int{1, 0, 1}, sampler.Random())),
		"shard":      tensor.Must(sampler.Shard(sampler.Random(), sampler.Share{Rank: 1, World: 3})),
		"dropping":   tensor.Must(sampler.Shard(sampler.Blocks(small), sampler.Share{Rank: 1, World: 3, Drop: true})),
		"endless":    sampler.Endless(sampler.Random()),
		"weighted":   tensor.Must(sampler.Weighted(weights(n), sampler.WeightedOptions{})),
		"once":       tensor.Must(sampler.Weighted(weights(n), sampler.WeightedOptions{WithoutReplacement: true})),
		"stratified": tensor.Must(sampler.Stratified(labels(n), sampler.StratifiedOptions{})),
		"balanced":   tensor.Must(sampler.Stratified(labels(n), sampler.StratifiedOptions{Balanced: true})),
		"mixture":    tensor.Must(sampler.Mixture(part, sampler.MixtureOptions{})),
		"mixed on":   tensor.Must(sampler.Mixture(part, sampler.MixtureOptions{Draws: 5 * n})),
	}
}

// TestEveryEpochIsAPermutation is M28 for all that take each unit once.
func TestEveryEpochIsAPermutation(t *testing.T) {
	for n := range 301 {
		of := map[string]sampler.Sampler{
			"random":     sampler.Random(),
			"blocks":     sampler.Blocks(sampler.BlockOptions{BlockBytes: 1000 * (1 + n%7), WindowBytes: 1000 * (1 + n%40)}),
			"stratified": tensor.Must(sampler.Stratified(labels(n), sampler.StratifiedOptions{})),
			"shard of 1": tensor.Must(sampler.Shard(sampler.Random(), sampler.Share{})),
		}
		for name, s := range of {
			for seed := range uint64(3) {
				got := all(t, s, epoch(n, seed, seed*seed))
				require.True(t, isPermutation(got, n), "%s of %d, seed %d: %v", name, n, seed, got)
			}
		}
	}
	for n := 1; n <= 300; n++ {
		require.True(t, isPermutation(sampler.Feistel(n, uint64(n)).AppendTo(nil, 0, n), n), "feistel of %d", n)
	}
}

// TestEpochs is M28: what an epoch's order depends on.
func TestEpochs(t *testing.T) {
	const n = 120
	for name, s := range every(n) {
		t.Run(name, func(t *testing.T) {
			base := first(t, s, epoch(n, 1, 0), min(30, orderOf(t, s, epoch(n, 1, 0)).Len()))
			require.Equal(t, base, first(t, s, epoch(n, 1, 0), len(base)), "the same epoch")
			if name == "sequential" || name == "among" {
				return // one has no seed, the other 3 positions
			}
			require.NotEqual(t, base, first(t, s, epoch(n, 1, 1), len(base)), "the next epoch")
			require.NotEqual(t, base, first(t, s, epoch(n, 2, 0), len(base)), "another seed")
		})
	}
}

// TestRandomAccess cuts orders into pieces of random size, in a random order.
func TestRandomAccess(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 7, 100, 1000} {
		for name, s := range every(n) {
			o := orderOf(t, s, epoch(n, 3, 1))
			want := o.AppendTo([]int{}, 0, min(o.Len(), 4*n))
			got, at := []int{}, 0
			for at < len(want) {
				stop := min(len(want), at+1+r.IntN(n))
				got = o.AppendTo(got, at, stop)
				at = stop
			}
			require.Equal(t, want, got, "%s of %d", name, n)
			for range 50 {
				if len(want) > 0 {
					p := r.IntN(len(want))
					require.Equal(t, want[p:p+1], o.AppendTo(nil, p, p+1), "%s of %d at %d", name, n, p)
				}
			}
		}
	}
}

// TestAppendToAllocates pins that walking an order allocates nothing.
func TestAppendToAllocates(t *testing.T) {
	const n = 60_000
	dst := make([]int, 0, 64)
	for name, s := range every(n) {
		switch name {
		case "mixed on":
			continue // makes the orders of further passes
		case "blocks", "dropping":
			s = sampler.Blocks(sampler.BlockOptions{}) // in one window
		}
		o := orderOf(t, s, epoch(n, 3, 1))
		start := min(o.Len(), 1000) / 2
		walk := func() { dst = o.AppendTo(dst[:0], start, min(o.Len(), start+64)) }
		require.Zero(t, testing.AllocsPerRun(50, walk), name)
	}
}

// TestSharedOrders reads one order from many goroutines.
func TestSharedOrders(t *testing.T) {
	const n = 400
	for name, s := range every(n) {
		o := orderOf(t, s, epoch(n, 3, 1))
		length := min(o.Len(), 3*n)
		want := orderOf(t, s, epoch(n, 3, 1)).AppendTo([]int{}, 0, length)
		errs := make([]error, 4)
		var wait sync.WaitGroup
		for g := range errs {
			wait.Go(func() {
				for p := range length {
					p = (p + g*length/4) % length
					if o.AppendTo(nil, p, p+1)[0] != want[p] {
						errs[g] = errors.New("another unit than alone")
					}
				}
			})
		}
		wait.Wait()
		require.NoError(t, errors.Join(errs...), name)
	}
}

// TestDescriptions pins what a state is compared with.
func TestDescriptions(t *testing.T) {
	want := map[string]string{
		"sequential": "sequential",
		"random":     "random",
		"blocks":     "blocks of 3000 bytes in windows of 12000",
		"among":      "among 3 units (sum SUM), random",
		"shard":      "shard of 3, padded, of random",
		"dropping":   "shard of 3, the rest dropped, of blocks of 3000 bytes in windows of 12000",
		"endless":    "endless, of random",
		"weighted":   "weighted, 10 draws by 10 weights (sum SUM)",
		"once":       "weighted, 8 of 10 units once by weights (sum SUM)",
		"stratified": "stratified by 10 labels of 4 classes (sum SUM)",
		"balanced":   "stratified, balanced, by 10 labels of 4 classes (sum SUM)",
		"mixture":    "mixture: 3 of (5 units, sequential), 2 of (5 units, random)",
		"mixed on":   "mixture, 50 draws: 3 of (5 units, sequential), 2 of (5 units, random)",
	}
	got := map[string]string{}
	for name, s := range every(10) {
		got[name] = sums.ReplaceAllString(s.String(), "sum SUM")
	}
	require.Equal(t, want, got)
}

// sums matches what stands for a long list.
var sums = regexp.MustCompile(`sum [0-9a-f]{16}`)

// TestDescriptionsTellListsApart checks that another list is another description.
func TestDescriptionsTellListsApart(t *testing.T) {
	apart := [][2]sampler.Sampler{
		{tensor.Must(sampler.Among([]int{1, 2}, sampler.Random())), tensor.Must(sampler.Among([]int{2, 1}, sampler.Random()))},
		{tensor.Must(sampler.Weighted([]float64{1, 0.5}, sampler.WeightedOptions{})),
			tensor.Must(sampler.Weighted([]float64{1, 0.25}, sampler.WeightedOptions{}))},
		{tensor.Must(sampler.Stratified(tensor.Vector[int32](0, 1, 1, 0), sampler.StratifiedOptions{})),
			tensor.Must(sampler.Stratified(tensor.Vector[int32](0, 1, 0, 1), sampler.StratifiedOptions{}))},
	}
	for _, pair := range apart {
		require.NotEqual(t, pair[0].String(), pair[1].String())
	}
}
