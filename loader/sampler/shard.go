package sampler

import "fmt"

// A Share says which part of something one of several processes takes. The zero Share is all of it.
type Share struct {
	Rank  int  // of the process, from 0 to World-1
	World int  // how many processes there are; 0: 1
	Drop  bool // leave out what is left over, instead of repeating what comes first
}

// maxWorld is how many processes there may be.
const maxWorld = 1 << 20

// Check returns [ErrRank] if World is negative or above 2^20, or Rank is not from 0 to World-1.
func (s Share) Check() error {
	if s.World > maxWorld {
		return fmt.Errorf("%w: got a world of %d, want at most %d", ErrRank, s.World, maxWorld)
	}
	if s.World < 0 || s.Rank < 0 || s.Rank >= s.world() {
		return fmt.Errorf("%w: got rank %d of a world of %d, want one from 0 on below it", ErrRank, s.Rank, s.World)
	}
	return nil
}

func (s Share) world() int { return max(1, s.World) }

// Count returns how many of n things a rank takes, which is the same for all ranks: n / World,
// rounded up, or down with Drop. Of things without end, NoEnd, it takes so many too.
func (s Share) Count(n int) int {
	if n == NoEnd || n == 0 {
		return n
	}
	if s.Drop {
		return n / s.world()
	}
	return (n-1)/s.world() + 1
}

// at returns which of n things is the i-th that the rank takes, i from 0 to Count(n)-1: those at
// Rank, Rank + World and so on, which go on from 0 at n.
func (s Share) at(i, n int) int {
	at := uint(i)*uint(s.world()) + uint(s.Rank)
	if n == NoEnd {
		return int(at % NoEnd)
	}
	return int(at % uint(n))
}

// Shard returns a sampler of a share of the order of s: what is at the positions Rank, Rank +
// World, Rank + 2*World and so on. All ranks get equally many. If the order of s cannot be divided,
// it wraps around, repeatedly if necessary, or, with Drop, what is left over is left out. A share
// of an order without end has no end.
//
//	half, err := sampler.Shard(sampler.Sequential(), sampler.Share{Rank: 1, World: 2}) // 1, 3, 5
//
// It returns the error of [Share.Check], and [ErrNil] if s is nil. The sampler's description does
// not contain the rank: the state of one rank fits the others.
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

// A shardOrder is the [Order] of a shard, of an order of n positions.
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
