package pool

import (
	"fmt"
	"hash/crc32"
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
}

// A candidate is what equal layouts have in common.
type candidate struct {
	outer *ragged.Layout // nil for a batch
	sum   uint32         // of the offsets, or of the batch shape
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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
	c := candidate{sum: crc32.Checksum(fmt.Append(nil, shape), castagnoli)}
	same := func(l *ragged.Layout) bool { return l.Shape().Equal(shape) }
	return s.find(c, same, func() (*ragged.Layout, error) { return ragged.NewLayout(shape.Clone()) })
}

// nest returns outer with one more level.
func (s *Layouts) nest(outer *ragged.Layout, offsets []int64) (*ragged.Layout, error) {
	c := candidate{outer, crc32.Checksum(cast.Bytes(offsets), castagnoli)}
	same := func(l *ragged.Layout) bool {
		known, err := l.Offsets(-1)
		return err == nil && slices.Equal(known, offsets)
	}
	return s.find(c, same, func() (*ragged.Layout, error) { return outer.Nest(offsets) })
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
	if s.known == nil {
		s.known = map[candidate][]*ragged.Layout{}
	}
	s.known[c] = append(s.known[c], l)
	return l, nil
}
