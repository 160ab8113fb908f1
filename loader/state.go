package loader

import (
	"errors"
	"fmt"
	"hash/fnv"
)

// stateVersion changes when the meaning of a state or the order of a sampler changes.
const stateVersion = 1

// A State is the position of a [Loader], in a form to store as JSON. A loader of the same data,
// with the same sampler and batching, that is restored from it returns the remaining batches.
type State struct {
	Version  int    `json:"version"`             // of this format and of the orders of samplers
	Dataset  string `json:"dataset,omitempty"`   // Options.Dataset
	Rows     int    `json:"rows"`                // number of rows of the source
	RowBytes int    `json:"row_bytes,omitempty"` // the source's Description.RowBytes
	Schema   string `json:"schema,omitempty"`    // a checksum of the source's Description.Schema
	Source   string `json:"source,omitempty"`    // the source's Description.Version
	Sampler  string `json:"sampler"`             // from its String method
	Batching string `json:"batching"`            // from its String method
	Seed     uint64 `json:"seed"`
	Epoch    uint64 `json:"epoch"`
	Batch    int    `json:"batch"` // batches of the epoch that were given, counted over all ranks
}

// State returns the position of l: within a loop, after the loop's current batch. It is the same on
// all ranks that have had the same number of batches. It does not contain options that do not
// affect which rows come, such as Workers, Ahead, Collate and Transform.
func (l *Loader) State() State {
	at, p, err := l.here()
	if err != nil {
		p = l.lastPlans()
	}
	s := l.identity(p)
	s.Seed, s.Epoch, s.Batch = at.seed, at.epoch, at.batch
	return s
}

// lastPlans returns the plans of the current epoch; if there are none, it returns the latest plans.
// They describe a source that fails or was replaced.
func (l *Loader) lastPlans() *plans {
	l.mu.Lock()
	p := l.within
	l.mu.Unlock()
	if p != nil {
		return p
	}
	l.planning.Lock()
	defer l.planning.Unlock()
	return l.plans
}

// identity returns the part of the state that does not depend on the position.
func (l *Loader) identity(p *plans) State {
	return State{
		Version: stateVersion, Dataset: l.opt.Dataset,
		Rows: p.rows, RowBytes: p.about.RowBytes, Schema: sum(p.about.Schema), Source: p.about.Version,
		Sampler: l.opt.Sampler.String(), Batching: l.opt.Batching.String(),
	}
}

// sum returns a checksum of a text as 16 hexadecimal digits, or "" for an empty text.
func sum(text string) string {
	if text == "" {
		return ""
	}
	h := fnv.New64a()
	h.Write([]byte(text))
	return fmt.Sprintf("%016x", h.Sum64())
}

// Restore sets the position and the seed of l from a state. The number of ranks may differ: the
// rest of the epoch is divided among the current ranks. Restoring takes the same time at the end of
// an epoch as at its beginning.
//
// Restore returns [ErrState] if the state has another version, dataset, sampler, batching or
// schema, or is past the end of the epoch. Within an epoch it must also have the same number of
// rows and RowBytes, and be of the same version of the source; at the beginning of an epoch, Batch
// 0, the source may have got other rows. Restore also returns [ErrBusy] within a loop over batches,
// and errors about the epoch as from [New]. On an error l keeps its position.
func (l *Loader) Restore(s State) error {
	err := l.seek(cursor{s.Seed, s.Epoch, s.Batch}, func(p *plans) error { return l.identity(p).check(s) })
	if errors.Is(err, ErrSeek) {
		err = fmt.Errorf("%w: %w", ErrState, err)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// check returns an error unless other differs from s only in its position or, between epochs, in
// the rows of the source.
func (s State) check(other State) error {
	if other.Batch == 0 {
		other.Rows, other.RowBytes, other.Source = s.Rows, s.RowBytes, s.Source
	}
	for _, field := range []struct {
		name      string
		got, want any
	}{
		{"version", other.Version, s.Version},
		{"dataset", other.Dataset, s.Dataset},
		{"rows", other.Rows, s.Rows},
		{"row size in bytes", other.RowBytes, s.RowBytes},
		{"checksum of the schema", other.Schema, s.Schema},
		{"version of the source", other.Source, s.Source},
		{"sampler", other.Sampler, s.Sampler},
		{"batching", other.Batching, s.Batching},
	} {
		if field.got != field.want {
			return fmt.Errorf("%w: got a state with %s %#v, want %#v", ErrState, field.name, field.got, field.want)
		}
	}
	return nil
}

// Seek sets the position of l to a batch of an epoch. Batches are counted over all ranks, and all
// ranks must be given the same number: rank r then gets batches batch+r, batch+r+World and so on.
// It returns [ErrSeek] if the epoch has fewer batches, or, for an endless epoch, if batch is above
// 2^40; [ErrBusy] within a loop over batches; and errors about the epoch as from [New]. On an error
// l keeps its position.
func (l *Loader) Seek(epoch uint64, batch int) error {
	to := cursor{l.cursor().seed, epoch, batch}
	if err := l.seek(to, func(*plans) error { return nil }); err != nil {
		return fmt.Errorf("seek: %w", err)
	}
	return nil
}

// seek sets the position of l if it exists and check accepts the plans of its epoch.
func (l *Loader) seek(to cursor, check func(p *plans) error) error {
	l.mu.Lock()
	busy := l.busy
	l.mu.Unlock()
	if busy {
		return ErrBusy
	}
	p, err := l.current(to)
	if err == nil {
		err = check(p)
	}
	if err == nil {
		err = p.check(to)
	}
	if err == nil {
		l.move(to, p)
	}
	return err
}
