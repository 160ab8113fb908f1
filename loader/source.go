package loader

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/tdict"
)

// A Source is a dataset whose rows can be fetched by number. [From], [FromDataset], [FromLive],
// [FromTensors], [FromRows] and [FromFunc] return Sources; [Concat], [Zip] and
// [Subset] combine them. Package loadertest checks other implementations.
//
// A Source may also implement [Slicer], [Prefetcher], [Describer] and [Snapshotter].
type Source interface {
	// Len returns the number of rows. Len must be safe for concurrent use.
	Len() int

	// Fetch returns the given rows, in that order, repetitions included. There is at least one row,
	// and each is from 0 to Len-1:
	//
	//	rows [N] -> batch shape [N B...]
	//
	// To save memory, Fetch may fill dst and return it, if dst is not nil and has the keys, kinds,
	// dtypes and shapes of the result. Otherwise it returns another dictionary. In both cases the
	// caller must afterwards use only the result, not dst, as with append.
	//
	// The result belongs to the caller, who may change it. It shares no memory with the source,
	// except for the tensors of unbatched leaves, which are read-only. rows also belongs to the
	// caller; Fetch must not change or keep it.
	//
	// Fetch returns an error if a row does not exist, by convention shapeops.ErrIndex, or if ctx
	// ended. It must be safe for concurrent use.
	Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error)
}

// A Slicer is a [Source] that can return consecutive rows without copying them.
type Slicer interface {
	// Slice returns the rows from start up to, not including, stop, in a new dictionary whose
	// leaves are views of the source's memory. If it returns an error that wraps
	// errors.ErrUnsupported, the loader calls Fetch for these rows instead. Slice must be safe for
	// concurrent use.
	Slice(start, stop int) (*tdict.TensorDict, error)
}

// A Prefetcher is a [Source] that can read rows in advance, such as memmap.Dataset.
type Prefetcher interface {
	// Prefetch starts to read the rows into memory and does not wait. It affects speed, never
	// results. Prefetch must be safe for concurrent use.
	Prefetch(rows ...int) error
}

// A Describer is a [Source] that describes its rows.
type Describer interface {
	// Describe returns the description. It does not depend on the number of rows. Describe must be
	// safe for concurrent use.
	Describe() (Description, error)
}

// A Description describes the rows of a source.
type Description struct {
	// RowBytes is the average size of a row in bytes; 0 means unknown.
	RowBytes int
	// Schema describes the entries of a row, for example "image uint8 [8 8]\nlabel int64 []"; ""
	// means unknown. A state fits only sources with an equal Schema.
	Schema string
	// Version identifies the current rows of a source whose rows are replaced over time, such as
	// the generation of a samplecache. It is "" for other sources. A state within an epoch fits
	// only sources with an equal Version.
	Version string
}

// perRow returns the bytes of each of n rows.
func perRow(bytes float64, n int) int {
	if n == 0 || bytes == 0 {
		return 0
	}
	return max(1, int(bytes/float64(n)))
}

// A Snapshotter is a [Source] that others may change or replace. An epoch is loaded from a
// snapshot.
type Snapshotter interface {
	// Snapshot returns the current state of the source. Snapshot must be safe for concurrent use.
	Snapshot() (Snapshot, error)
}

// A Snapshot is the state of a source at one time.
type Snapshot struct {
	// Source is the state. The implementation must ensure one of two things: Source does not change
	// until Release is called, or its Fetch returns an error once the original source has changed.
	Source Source
	// Version differs between two snapshots if the source has changed between them. If an epoch is
	// loaded in several loops, its snapshots must all have the same Version; otherwise the loop
	// returns [ErrReplaced].
	Version string
	// Release ends the use of Source; nil means that there is nothing to do.
	Release func() error
}

// snapshot returns a snapshot of src, or src itself if it is not a Snapshotter.
func snapshot(src Source) (Snapshot, error) {
	s, ok := src.(Snapshotter)
	if !ok {
		return Snapshot{Source: src}, nil
	}
	now, err := s.Snapshot()
	if err == nil && now.Source == nil {
		err = cmp.Or(fmt.Errorf("%w: got a snapshot without a source", ErrSource), now.release())
	}
	return now, err
}

// release calls s.Release.
func (s Snapshot) release() error {
	if s.Release == nil {
		return nil
	}
	return s.Release()
}

// describe returns the description of src, which is empty if src is not a Describer.
func describe(src Source) (Description, error) {
	if d, ok := src.(Describer); ok {
		return d.Describe()
	}
	return Description{}, nil
}
