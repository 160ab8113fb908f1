package loader

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// Zip returns a source that combines the rows of several sources, which must have different keys.
// Row i has all entries that row i has in any of the sources:
//
//	batch shapes [N B...] and [N B... C...] -> batch shape [N B...]
//
// The batch shape of the rows is the batch shape of the first source, with which the batch shapes
// of the other sources must begin. Zip returns [ErrLen] if the sources differ in N, and [ErrSource]
// if there are no sources or one is nil. Fetch returns tdict.ErrExists if two sources have the same
// key.
func Zip(sources ...Source) (Source, error) {
	if err := checkSources(sources); err != nil {
		return nil, fmt.Errorf("zip: %w", err)
	}
	if err := checkLens(sources); err != nil {
		return nil, fmt.Errorf("zip: %w", err)
	}
	return newZip(sources), nil
}

// checkLens returns an error if sources differ in length.
func checkLens(sources []Source) error {
	n := sources[0].Len()
	for i, src := range sources {
		if got := src.Len(); got != n {
			return fmt.Errorf("%w: source %d has %d rows, want %d as in source 0", ErrLen, i, got, n)
		}
	}
	return nil
}

// A zipped is the source that Zip returns.
type zipped struct {
	parts []Source
	keys  []atomic.Pointer[[]nestedkey.Key] // keys of the entries of each part, set by its first Fetch
}

func newZip(parts []Source) *zipped {
	return &zipped{slices.Clone(parts), make([]atomic.Pointer[[]nestedkey.Key], len(parts))}
}

// Len implements [Source].
func (z *zipped) Len() int { return z.parts[0].Len() }

// Fetch implements [Source].
func (z *zipped) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	out, err := z.combine(len(rows), func(i int) (*tdict.TensorDict, error) {
		return z.parts[i].Fetch(ctx, rows, z.destination(i, dst))
	})
	if err != nil || dst == nil || !sameKeys(dst, out) {
		return out, err
	}
	for key, v := range out.All() {
		if dst.Set(key, v) != nil { // dst has another batch shape
			return out, nil
		}
	}
	return dst, nil
}

// sameKeys reports whether two dictionaries have entries under the same keys.
func sameKeys(a, b *tdict.TensorDict) bool {
	for key := range a.Keys() {
		if !b.Has(key) {
			return false
		}
	}
	return a.NumEntries() == b.NumEntries()
}

// destination returns the entries of dst into which part i may be fetched, or nil.
func (z *zipped) destination(i int, dst *tdict.TensorDict) *tdict.TensorDict {
	keys := z.keys[i].Load()
	if dst == nil || keys == nil {
		return nil
	}
	room, err := dst.Select(*keys...)
	if err != nil {
		return nil // dst is from another source
	}
	return room
}

// combine returns the entries of all parts in one dictionary of n rows.
func (z *zipped) combine(n int, part func(i int) (*tdict.TensorDict, error)) (*tdict.TensorDict, error) {
	var out *tdict.TensorDict
	for i := range z.parts {
		td, err := part(i)
		if td, err = checkRows(td, err, n); err == nil {
			out, err = z.add(out, td, i)
		}
		if err != nil {
			return nil, fmt.Errorf("source %d: %w", i, err)
		}
	}
	return out, nil
}

// add adds the entries of part i to out, and returns it.
func (z *zipped) add(out, td *tdict.TensorDict, i int) (*tdict.TensorDict, error) {
	if z.keys[i].Load() == nil {
		keys := slices.Collect(td.Keys())
		z.keys[i].Store(&keys)
	}
	if out == nil {
		return td.Copy(), nil
	}
	for key, v := range td.All() {
		if out.Has(key) {
			return nil, &tdict.KeyError{Op: "zip", Key: key, Err: tdict.ErrExists}
		}
		if err := out.Set(key, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Slice implements [Slicer], if all parts are Slicers.
func (z *zipped) Slice(start, stop int) (*tdict.TensorDict, error) {
	return z.combine(stop-start, func(i int) (*tdict.TensorDict, error) {
		s, ok := z.parts[i].(Slicer)
		if !ok {
			return nil, errApart
		}
		return s.Slice(start, stop)
	})
}

// Prefetch implements [Prefetcher]. It skips parts that are not Prefetchers.
func (z *zipped) Prefetch(rows ...int) error {
	for _, part := range z.parts {
		if p, ok := part.(Prefetcher); ok {
			if err := p.Prefetch(rows...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Describe implements [Describer].
func (z *zipped) Describe() (Description, error) {
	var all Description
	var schemas, versions []string
	unknown := false
	for i, part := range z.parts {
		about, err := describe(part)
		if err != nil {
			return Description{}, fmt.Errorf("source %d: %w", i, err)
		}
		all.RowBytes, unknown = all.RowBytes+about.RowBytes, unknown || about.RowBytes == 0
		schemas, versions = append(schemas, about.Schema), append(versions, about.Version)
	}
	if unknown {
		all.RowBytes = 0
	}
	all.Schema, all.Version = joinSchemas(schemas, "\n"), joinVersions(versions)
	return all, nil
}

// Snapshot implements [Snapshotter].
func (z *zipped) Snapshot() (Snapshot, error) {
	parts, all, err := snapshots(z.parts)
	if err != nil {
		return Snapshot{}, err
	}
	if err := checkLens(parts); err != nil {
		return Snapshot{}, cmp.Or(err, all.release())
	}
	all.Source = &zipped{parts, z.keys}
	return all, nil
}
