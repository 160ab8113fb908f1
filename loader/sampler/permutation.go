package sampler

import (
	"math"
	"math/bits"

	"github.com/go-tensordict/tensordict/internal/splitmix"
)

// maxListed is the largest number of units for which a permutation is kept as a list, which takes 8
// bytes per unit. A longer one takes no memory, but twice the time per unit.
const maxListed = 50_000

// Random returns a sampler that puts the units, each once, in a random order, which differs from
// epoch to epoch. Up to 50,000 units the order is computed as a list at the beginning of the epoch.
// For more units it takes no memory: a Feistel network computes the unit at a position.
func Random() Sampler { return random{} }

type random struct{}

// Order implements [Sampler].
func (random) Order(e Epoch) (Order, error) { return permuted(e.Units, e.key()), nil }

// String implements [Sampler].
func (random) String() string { return "random" }

// permuted returns a random order of n units, each once. Equal keys give equal orders.
func permuted(n int, key uint64) Order { return permutedIn(n, key, maxListed) }

// permutedIn is permuted with limit in place of maxListed.
func permutedIn(n int, key uint64, limit int) Order {
	if n > limit {
		return newFeistel(n, key)
	}
	return shuffled(n, key)
}

// shuffled returns a random order as a list (Fisher and Yates; Durstenfeld 1964).
func shuffled(n int, key uint64) listed {
	order := make(listed, n)
	for i := range order {
		j := below(i+1, splitmix.Mix(key, uint64(i)))
		order[i] = order[j]
		order[j] = i
	}
	return order
}

// rounds is the number of rounds of a [feistel].
const rounds = 6

// A feistel is a random order of n units that takes no memory. A Feistel network permutes the cells
// of a grid of low x high, which are numbered row by row; there are few more than n. If the result
// is n or more, the network is applied again until it is less (Black and Rogaway, Ciphers with
// Arbitrary Finite Domains, 2002, describe both the generalized network and cycle walking).
type feistel struct {
	n         int
	low, high uint64
	keys      [rounds]uint64
}

// newFeistel returns a random order of n units, at least 1.
func newFeistel(n int, key uint64) *feistel {
	low := uint64(math.Sqrt(float64(n)))
	f := &feistel{n: n, low: low, high: (uint64(n)-1)/low + 1}
	for i := range f.keys {
		f.keys[i] = splitmix.Mix(key, uint64(i))
	}
	return f
}

// Len implements [Order].
func (f *feistel) Len() int { return f.n }

// AppendTo implements [Order].
func (f *feistel) AppendTo(dst []int, start, stop int) []int {
	for position := start; position < stop; position++ {
		dst = append(dst, f.at(position))
	}
	return dst
}

// at returns the unit at a position.
func (f *feistel) at(position int) int {
	x := f.permute(uint64(position))
	for x >= uint64(f.n) {
		x = f.permute(x)
	}
	return int(x)
}

// permute applies the network to the number of a cell. Each pair of rounds moves the cell first
// along its row, then along its column. There are no unpredictable branches, so that the processor
// works on several positions at a time.
func (f *feistel) permute(x uint64) uint64 {
	low, high := x%f.low, x/f.low
	for i := 0; i < rounds; i += 2 {
		step, _ := bits.Mul64(scramble(high, f.keys[i]), f.low)
		if low += step; low >= f.low {
			low -= f.low
		}
		step, _ = bits.Mul64(scramble(low, f.keys[i+1]), f.high)
		if high += step; high >= f.high {
			high -= f.high
		}
	}
	return high*f.low + low
}

// scramble returns 64 bits, the highest of which depend on all bits of x and key.
func scramble(x, key uint64) uint64 {
	x = (x ^ key) * 0x9e3779b97f4a7c15
	return (x ^ x>>32) * 0xd6e8feb86659fd93
}
