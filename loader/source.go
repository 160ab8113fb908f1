package loader

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/tdict"
)

// A Source is a dataset whose rows can be fetched by number. [From], [FromDataset], [FromLive],
// [FromJoint], [FromTensors], [FromRows] and [FromFunc] make Sources, [Concat], [Zip] and [Subset]
// make one of others. Package loadertest checks any other.
//
// A Source may implement [Slicer], [Prefetcher], [Describer] and [Snapshotter], too.
type Source interface {
	// Len returns the number of rows. Len must be safe for concurrent use.
	Len() int

	// Fetch returns the rows with the given numbers, at least one, from 0 to Len-1, in that order,
	// repetitions included:
	//
	//	rows [N] -> batch shape [N B...]
	//
	// It may fill dst and return it, if that is not nil and has the keys, kinds, dtypes and shapes
	// of the result, which saves memory; or it returns another dictionary. Then dst must not be
	// used any more, as with append.
	//
	// What Fetch returns is the caller's, who may change it: it shares no memory with the source,
	// but for the tensors of unbatched leaves, which are to be read only. rows is the caller's,
	// too, and must not be changed or kept.
	//
	// It is an error if a row does not exist, shapeops.ErrIndex by convention, or if ctx ended.
	// Fetch must be safe for concurrent use.
	Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error)
}

// A Slicer is a [Source] whose neighbouring rows can be shown without copying them.
type Slicer interface {
	// Slice returns the rows from start on, before stop, in a new dictionary, the leaves of which
	// are views of the source's memory. An error that wraps errors.ErrUnsupported says that these
	// rows have to be fetched. Slice must be safe for concurrent use.
	Slice(start, stop int) (*tdict.TensorDict, error)
}

// A Prefetcher is a [Source] that can be told which rows will be fetched soon, as
// memmap.Dataset is.
type Prefetcher interface {
	// Prefetch has the rows read in, and does not wait for it. It changes speed, never results.
	// Prefetch must be safe for concurrent use.
	Prefetch(rows ...int) error
}

// A Describer is a [Source] that says what its rows are.
type Describer interface {
	// Describe returns the description, which does not depend on the number of rows. Describe must
	// be safe for concurrent use.
	Describe() (Description, error)
}

// A Description says what the rows of a source are.
type Description struct {
	// RowBytes is how many bytes a row has, on average; 0 if that is not known.
	RowBytes int
	// Schema says what a row consists of, as "image uint8 [8 8]\nlabel int64 []"; "" if that is not
	// known. The state of a run fits sources of an equal schema only.
	Schema string
	// Version says which rows these are, of a source that is one of several in time, as a
	// generation of a samplecache; "" for others. The state of a run fits sources of an equal
	// version only.
	Version string
}

// perRow returns how many bytes each of n rows has.
func perRow(bytes float64, n int) int {
	if n == 0 || bytes == 0 {
		return 0
	}
	return max(1, int(bytes/float64(n)))
}

// A Snapshotter is a [Source] that others may change or replace. An epoch is loaded from a snapshot
// of it.
type Snapshotter interface {
	// Snapshot returns what the source is at present. Snapshot must be safe for concurrent use.
	Snapshot() (Snapshot, error)
}

// A Snapshot is what a source is at one moment.
type Snapshot struct {
	// Source does not change until Release is called; or its Fetch returns an error if what it is a
	// snapshot of has changed.
	Source Source
	// Version differs between snapshots of a source that has changed. An epoch that is loaded in
	// several loops must be of one version.
	Version string
	// Release ends the use of Source; nil if there is nothing to do.
	Release func() error
}

// snapshot returns what src is at present.
func snapshot(src Source) (Snapshot, error) {
	s, ok := src.(Snapshotter)
	if !ok {
		return Snapshot{Source: src}, nil
	}
	now, err := s.Snapshot()
	if err == nil && now.Source == nil {
		err = cmp.Or(fmt.Errorf("%w: got a snapshot of nothing", ErrSource), now.release())
	}
	return now, err
}

// release ends the use of a snapshot.
func (s Snapshot) release() error {
	if s.Release == nil {
		return nil
	}
	return s.Release()
}

// describe returns what is known of the rows of src.
func describe(src Source) (Description, error) {
	if d, ok := src.(Describer); ok {
		return d.Describe()
	}
	return Description{}, nil
}
