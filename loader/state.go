package loader

import (
	"errors"
	"fmt"
	"hash/fnv"
)

// stateVersion changes when what a state or an order means does.
const stateVersion = 1

// A State says where a run stands, in a form to keep, as JSON: a loader of the same data, with the
// same sampler and batching, that is restored from it gives the batches that were left.
type State struct {
	Version  int    `json:"version"`             // of this form and of the orders of sampler
	Dataset  string `json:"dataset,omitempty"`   // Options.Dataset
	Rows     int    `json:"rows"`                // of the source
	RowBytes int    `json:"row_bytes,omitempty"` // the source's Description.RowBytes
	Schema   string `json:"schema,omitempty"`    // a sum of the source's Description.Schema
	Source   string `json:"source,omitempty"`    // the source's Description.Version
	Sampler  string `json:"sampler"`             // as it describes itself
	Batching string `json:"batching"`            // as it describes itself
	Seed     uint64 `json:"seed"`
	Epoch    uint64 `json:"epoch"`
	Batch    int    `json:"batch"` // how many of the epoch all ranks together have been given
}

// State returns where l stands: within a loop, after the batch that the loop has. It is the same on
// all ranks that have had equally many batches. Workers, Ahead, Collate, Transform and what else
// does not change which rows come are not part of it.
func (l *Loader) State() State {
	at, p, err := l.here()
	if err != nil {
		p = l.lastPlans()
	}
	s := l.identity(p)
	s.Seed, s.Epoch, s.Batch = at.seed, at.epoch, at.batch
	return s
}

// lastPlans returns the plans of the version that l stands in, or else those made last: what is
// known of a source that fails or was replaced.
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

// identity returns the part of the state that does not change as batches come.
func (l *Loader) identity(p *plans) State {
	return State{
		Version: stateVersion, Dataset: l.opt.Dataset,
		Rows: p.rows, RowBytes: p.about.RowBytes, Schema: sum(p.about.Schema), Source: p.about.Version,
		Sampler: l.opt.Sampler.String(), Batching: l.opt.Batching.String(),
	}
}

// sum returns 16 hexadecimal digits that stand for a text, or "" for none.
func sum(text string) string {
	if text == "" {
		return ""
	}
	h := fnv.New64a()
	h.Write([]byte(text))
	return fmt.Sprintf("%016x", h.Sum64())
}

// Restore has l stand where a state says, with its seed. The number of ranks may be another one:
// what is left of the epoch is dealt to those that there are now. That takes no longer at the end
// of an epoch than at its beginning.
//
// Restore returns [ErrState] if the state is of another version, dataset, sampler or batching, of
// other rows, another schema or another version of the source, or lies beyond the end of the epoch,
// [ErrBusy] within a loop over batches, and the errors of [New] about the epoch. Then l stays where
// it is.
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

// check returns an error if a state is of another run than that which s says.
func (s State) check(other State) error {
	for _, field := range []struct {
		name      string
		got, want any
	}{
		{"version", other.Version, s.Version},
		{"dataset", other.Dataset, s.Dataset},
		{"rows", other.Rows, s.Rows},
		{"bytes of a row", other.RowBytes, s.RowBytes},
		{"sum of the schema", other.Schema, s.Schema},
		{"version of the source", other.Source, s.Source},
		{"sampler", other.Sampler, s.Sampler},
		{"batching", other.Batching, s.Batching},
	} {
		if field.got != field.want {
			return fmt.Errorf("%w: got %s %#v, want %#v", ErrState, field.name, field.got, field.want)
		}
	}
	return nil
}

// Seek has l stand at the beginning of an epoch, or before a batch of it, counted over all ranks
// together. It returns [ErrSeek] if the epoch has fewer batches, or one without end more than 2^40
// before it, [ErrBusy] within a loop over batches, and the errors of [New] about the epoch. Then l
// stays where it is.
func (l *Loader) Seek(epoch uint64, batch int) error {
	to := cursor{l.cursor().seed, epoch, batch}
	if err := l.seek(to, func(*plans) error { return nil }); err != nil {
		return fmt.Errorf("seek: %w", err)
	}
	return nil
}

// seek has l stand at a place that there is, unless check finds something wrong with its epoch.
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
