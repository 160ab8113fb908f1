package loader

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/tdict"
)

// Subset returns a source of some rows of src, in the given order, repetitions included: its row i
// is row rows[i] of src. Subset keeps a copy of the slice rows. It returns [ErrSource] if src is
// nil, and shapeops.ErrIndex if a row does not exist.
func Subset(src Source, rows []int) (Source, error) {
	if src == nil {
		return nil, fmt.Errorf("subset: %w: got a nil source", ErrSource)
	}
	if err := checkExist(rows, src.Len()); err != nil {
		return nil, fmt.Errorf("subset: %w", err)
	}
	return subset{src, slices.Clone(rows)}, nil
}

// A subset is some rows of a source.
type subset struct {
	src  Source
	rows []int
}

// Len implements [Source].
func (s subset) Len() int { return len(s.rows) }

// Fetch implements [Source].
func (s subset) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	if err := checkFetch(ctx, rows, len(s.rows)); err != nil {
		return nil, err
	}
	return s.src.Fetch(ctx, s.of(rows), dst)
}

// of converts rows of the subset to rows of the source.
func (s subset) of(rows []int) []int {
	of := make([]int, len(rows))
	for i, row := range rows {
		of[i] = s.rows[row]
	}
	return of
}

// Slice implements [Slicer], for rows that are consecutive in a source that is a Slicer.
func (s subset) Slice(start, stop int) (*tdict.TensorDict, error) {
	src, ok := s.src.(Slicer)
	if !ok || start < 0 || stop <= start || stop > len(s.rows) {
		return nil, errApart
	}
	rows := s.rows[start:stop]
	for i, row := range rows {
		if row != rows[0]+i {
			return nil, errApart
		}
	}
	return src.Slice(rows[0], rows[0]+len(rows))
}

// Prefetch implements [Prefetcher]. It does nothing if the source is not a Prefetcher.
func (s subset) Prefetch(rows ...int) error {
	if err := checkExist(rows, len(s.rows)); err != nil {
		return err
	}
	if p, ok := s.src.(Prefetcher); ok {
		of := s.of(rows)
		slices.Sort(of) // so that neighbours are read together
		return p.Prefetch(of...)
	}
	return nil
}

// Describe implements [Describer].
func (s subset) Describe() (Description, error) { return describe(s.src) }

// Snapshot implements [Snapshotter].
func (s subset) Snapshot() (Snapshot, error) {
	now, err := snapshot(s.src)
	if err == nil {
		now.Source = subset{now.Source, s.rows}
	}
	return now, err
}
