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
	Version  int    `json:"version"`           // of this form and of the orders of package sampler
	Dataset  string `json:"dataset,omitempty"` // Options.Dataset
	Rows     int    `json:"rows"`              // of the source
	Schema   string `json:"schema,omitempty"`  // a sum of the source's Description.Schema
	Sampler  string `json:"sampler"`           // as it describes itself
	Batching string `json:"batching"`          // as it describes itself
	Seed     uint64 `json:"seed"`
	Epoch    uint64 `json:"epoch"`
	Batch    int    `json:"batch"` // how many batches of the epoch all ranks together have been given
}

// State returns where l stands: within a loop, after the batch that the loop has. It is the same on
// all ranks that have had equally many batches. Workers, Ahead, Collate, Transform and what else
// does not change which rows come are not part of it.
func (l *Loader) State() State {
	s := l.identity()
	at := l.cursor()
	s.Seed, s.Epoch, s.Batch = at.seed, at.epoch, at.batch
	return s
}

// identity returns the part of the state that does not change as batches come, of the source that
// the epoch was planned for.
func (l *Loader) identity() State {
	l.mu.Lock()
	rows, schema := l.plans.rows, l.plans.schema
	l.mu.Unlock()
	return State{
		Version: stateVersion, Dataset: l.opt.Dataset,
		Rows: rows, Schema: schema,
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
// Restore returns [ErrState] if the state is of another version, dataset, sampler or batching, or
// lies beyond the end of the epoch, [ErrBusy] within a loop over batches, and the errors of [New]
// about the epoch. Then l stays where it is.
func (l *Loader) Restore(s State) error {
	if err := l.checkState(s); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	err := l.seek(cursor{s.Seed, s.Epoch, s.Batch})
	if errors.Is(err, ErrSeek) {
		err = fmt.Errorf("%w: %w", ErrState, err)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// checkState returns an error if a state is of another run.
func (l *Loader) checkState(s State) error {
	if _, err := l.current(); err != nil {
		return err
	}
	own := l.identity()
	for _, field := range []struct {
		name      string
		got, want any
	}{
		{"version", s.Version, own.Version},
		{"dataset", s.Dataset, own.Dataset},
		{"rows", s.Rows, own.Rows},
		{"sum of the schema", s.Schema, own.Schema},
		{"sampler", s.Sampler, own.Sampler},
		{"batching", s.Batching, own.Batching},
	} {
		if field.got != field.want {
			return fmt.Errorf("%w: got %s %#v, want %#v", ErrState, field.name, field.got, field.want)
		}
	}
	return nil
}

// Seek has l stand at the beginning of an epoch, or before a batch of it, counted over all ranks
// together. It returns [ErrSeek] if the epoch has fewer batches, [ErrBusy] within a loop over
// batches, and the errors of [New] about the epoch. Then l stays where it is.
func (l *Loader) Seek(epoch uint64, batch int) error {
	if err := l.seek(cursor{l.cursor().seed, epoch, batch}); err != nil {
		return fmt.Errorf("seek: %w", err)
	}
	return nil
}

// seek has l stand at a place that there is.
func (l *Loader) seek(to cursor) error {
	l.mu.Lock()
	was, busy := l.at, l.busy
	l.mu.Unlock()
	if busy {
		return ErrBusy
	}
	l.move(to)
	plan, err := l.current()
	if err == nil && (to.batch < 0 || to.batch > plan.Len()) {
		err = fmt.Errorf("%w: got batch %d, want one from 0 to %d", ErrSeek, to.batch, plan.Len())
	}
	if err != nil {
		l.move(was)
		return err
	}
	l.mu.Lock()
	l.version = nil
	l.mu.Unlock()
	return nil
}
