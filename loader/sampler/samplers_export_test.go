package sampler

// What tests look at that users do not see.
var (
	Again     = again
	Logarithm = logarithm
)

// Shuffled returns a random order that is written out.
func Shuffled(n int, key uint64) Order { return shuffled(n, key) }

// Feistel returns a random order that takes no memory.
func Feistel(n int, key uint64) Order { return newFeistel(n, key) }

// Deal returns which part each position of some cycles belongs to, and which of its part's it is.
func Deal(counts []int, cycles int) (parts, indices []int) {
	in := newInterleave(counts)
	for p := range cycles * len(in.slots) {
		part, index := in.at(p)
		parts, indices = append(parts, part), append(indices, index)
	}
	return parts, indices
}

// Key returns the number that the random choices of an epoch come from.
func Key(seed, number uint64) uint64 { return Epoch{Seed: seed, Number: number}.key() }

// GroupStarts returns where each run of equal ids begins, and how many ids there are.
func GroupStarts[T comparable](ids []T) []int { return groupStarts(ids) }
