package pool

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A Layouts has the layouts that were read, so that leaves with equal lengths share one. The zero
// Layouts has none.
type Layouts struct {
	known map[candidate][]*ragged.Layout
	seed  maphash.Seed
}

// A candidate is what equal layouts have in common.
type candidate struct {
	outer *ragged.Layout // nil for a batch
	sum   uint64         // of the offsets, or of the batch shape, with a random seed: no file can make many equal
}

// Layout returns the layout with the given batch shape and offsets. It keeps offsets. It returns
// fileformat.ErrCorrupt if they are invalid.
func (s *Layouts) Layout(batch shapeops.Shape, offsets ...[]int64) (*ragged.Layout, error) {
	l, err := s.batch(batch)
	for i := 0; i < len(offsets) && err == nil; i++ {
		l, err = s.nest(l, offsets[i])
	}
	return l, err
}

// batch returns the layout of a batch.
func (s *Layouts) batch(shape shapeops.Shape) (*ragged.Layout, error) {
	c := candidate{sum: s.hash(fmt.Append(nil, shape))}
	same := func(l *ragged.Layout) bool { return l.Shape().Equal(shape) }
	return s.find(c, same, func() (*ragged.Layout, error) { return ragged.NewLayout(shape.Clone()) })
}

// nest returns outer with one more level.
func (s *Layouts) nest(outer *ragged.Layout, offsets []int64) (*ragged.Layout, error) {
	c := candidate{outer, s.hash(cast.Bytes(offsets))}
	same := func(l *ragged.Layout) bool {
		known, err := l.Offsets(-1)
		return err == nil && slices.Equal(known, offsets)
	}
	return s.find(c, same, func() (*ragged.Layout, error) { return outer.Nest(offsets) })
}

// hash returns a hash of b.
func (s *Layouts) hash(b []byte) uint64 {
	if s.known == nil {
		s.known, s.seed = map[candidate][]*ragged.Layout{}, maphash.MakeSeed()
	}
	return maphash.Bytes(s.seed, b)
}

// find returns a known layout that is the same, or a new one.
func (s *Layouts) find(c candidate, same func(*ragged.Layout) bool, made func() (*ragged.Layout, error)) (*ragged.Layout, error) {
	for _, l := range s.known[c] {
		if same(l) {
			return l, nil
		}
	}
	l, err := made()
	if err != nil {
		return nil, fileformat.Corrupt("%w", err)
	}
	s.known[c] = append(s.known[c], l)
	return l, nil
}
