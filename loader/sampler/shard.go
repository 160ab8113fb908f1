package sampler

import "fmt"

// A Share is the part of something that one of several processes takes. The zero Share is all of
// it.
type Share struct {
	Rank  int  // rank of the process, from 0 to World-1
	World int  // number of processes; 0 means 1
	Drop  bool // leave out the remainder, instead of repeating the first things
}

// maxWorld is the largest number of processes.
const maxWorld = 1 << 20

// Check returns [ErrRank] if World is negative or above 2^20, or Rank is not from 0 to World-1.
func (s Share) Check() error {
	if s.World > maxWorld {
		return fmt.Errorf("%w: got a world of %d, want at most %d", ErrRank, s.World, maxWorld)
	}
	if s.World < 0 || s.Rank < 0 || s.Rank >= s.world() {
		return fmt.Errorf("%w: got rank %d of a world of %d, want a rank from 0 to World-1", ErrRank, s.Rank, s.World)
	}
	return nil
}

func (s Share) world() int { return max(1, s.World) }

// Count returns the number of things that a rank takes of n things. It is the same for all ranks: n
// / World, rounded up, or down with Drop. Of endlessly many, NoEnd, each rank takes NoEnd.
func (s Share) Count(n int) int {
	if n == NoEnd || n == 0 {
		return n
	}
	if s.Drop {
		return n / s.world()
	}
	return (n-1)/s.world() + 1
}

// at returns the i-th of n things that the rank takes; i is from 0 to Count(n)-1. The rank takes
// the positions Rank, Rank + World and so on, and begins again at 0 after the last.
func (s Share) at(i, n int) int {
	at := uint(i)*uint(s.world()) + uint(s.Rank)
	if n == NoEnd {
		return int(at % NoEnd)
	}
	return int(at % uint(n))
}

// Shard returns a sampler of a share of the order of s: the units at the positions Rank, Rank +
// World, Rank + 2*World and so on. All ranks get equally many. If the length of the order is not
// divisible by World, the order wraps around, repeatedly if necessary; with Drop the remainder is
// left out. A share of an endless order is endless.
//
//	half, err := sampler.Shard(sampler.Sequential(), sampler.Share{Rank: 1, World: 2}) // 1, 3, 5
//
// Shard returns the error of [Share.Check], and [ErrNil] if s is nil. The description of the
// sampler does not contain the rank, so that the state of one rank fits the others.
func Shard(s Sampler, share Share) (Sampler, error) {
	if s == nil {
		return nil, fmt.Errorf("%w: got nil, to shard", ErrNil)
	}
	if err := share.Check(); err != nil {
		return nil, err
	}
	return shard{s, share}, nil
}

type shard struct {
	inner Sampler
	share Share
}

// Order implements [Sampler].
func (s shard) Order(e Epoch) (Order, error) {
	inner, err := s.inner.Order(e)
	if err != nil || s.share.world() == 1 {
		return inner, err
	}
	return &shardOrder{inner, s.share, inner.Len()}, nil
}

// String implements [Sampler].
func (s shard) String() string {
	rest := "padded"
	if s.share.Drop {
		rest = "the rest dropped"
	}
	return fmt.Sprintf("shard of %d, %s, of %v", s.share.world(), rest, s.inner)
}

// A shardOrder is the [Order] of a shard. n is the length of inner.
type shardOrder struct {
	inner Order
	share Share
	n     int
}

// Len implements [Order].
func (o *shardOrder) Len() int { return o.share.Count(o.n) }

// AppendTo implements [Order].
func (o *shardOrder) AppendTo(dst []int, start, stop int) []int {
	for i := start; i < stop; i++ {
		at := o.share.at(i, o.n)
		dst = o.inner.AppendTo(dst, at, at+1)
	}
	return dst
}
