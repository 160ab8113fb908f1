package feed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// prototype returns a dictionary like the largest batch, made from the first batch of the source.
// Only its unbatched tensors have elements.
func prototype(src loader.Source, opt Options) (*tdict.TensorDict, error) {
	probe := opt.Loader
	probe.Workers, probe.Ahead, probe.ReadAhead, probe.Progress = 0, 0, 0, nil
	var splits bool
	if probe.Batching != nil {
		probe.Batching = splitsProbe{probe.Batching, &splits}
	}
	l, err := loader.New(src, probe)
	if err != nil {
		return nil, err
	}
	for batch, err := range l.Batches(context.Background()) {
		if err != nil {
			return nil, err
		}
		return roomy(batch, opt, splits)
	}
	return nil, fmt.Errorf("%w: got a source without batches, want one to make room for", loader.ErrSource)
}

// A splitsProbe is a batching that records whether a batch has splits.
type splitsProbe struct {
	sampler.Batching
	splits *bool
}

// Plan implements [sampler.Batching].
func (p splitsProbe) Plan(o sampler.Order, n int) (sampler.Plan, error) {
	plan, err := p.Batching.Plan(o, n)
	return splitsProbePlan{plan, p.splits}, err
}

// A splitsProbePlan is the plan of a splitsProbe.
type splitsProbePlan struct {
	sampler.Plan
	splits *bool
}

// Batch implements [sampler.Plan].
func (p splitsProbePlan) Batch(k int, dst sampler.Batch) sampler.Batch {
	b := p.Plan.Batch(k, dst)
	*p.splits = b.Splits != nil
	return b
}

// roomy returns the prototype for batches like the given one. If it has splits of groups, they get
// room for Rows groups.
func roomy(batch *tdict.TensorDict, opt Options, splits bool) (*tdict.TensorDict, error) {
	shape := batch.Shape().Clone()
	if len(shape) == 0 || shape[0] > opt.Rows {
		return nil, fmt.Errorf("%w: got a first batch of shape %v, want at most %d rows: set Rows", shapeops.ErrShape, shape, opt.Rows)
	}
	shape[0] = opt.Rows
	schema := tdict.SchemaOf(batch)
	for i := range schema {
		if err := shareable(schema[i]); err != nil {
			return nil, err
		}
	}
	proto, err := schema.Meta(shape...)
	for key, leaf := range batch.Leaves() {
		u, ok := leaf.(*tdict.Unbatched)
		if err != nil || !ok {
			continue
		}
		t := u.Tensor()
		if splits && key == opt.Loader.SplitsKey {
			t, err = tensor.New(tensor.Int64, opt.Rows+1)
		} else {
			t, err = t.Clone()
		}
		if err == nil {
			u, err = tdict.NewUnbatched(t)
		}
		if err == nil {
			err = proto.Set(key, u)
		}
	}
	return proto, err
}

// shareable returns an error for an entry that cannot be in a slot.
func shareable(s tdict.Spec) error {
	switch s.Kind {
	case tdict.KindTensor, tdict.KindDict, tdict.KindUnbatched:
		return nil
	}
	return &tdict.KeyError{Op: "batch", Key: s.Key, Err: fmt.Errorf(
		"%w: got a %v entry, want a tensor, since slots have a fixed size: pad it with loader.Pad, or convert or delete it in Collate",
		tdict.ErrKind, s.Kind)}
}

// makePlaces makes the places of the consumers with their slots, in a new directory of f. After an
// error, f.removeSlots removes what was made.
func (f *Feed) makePlaces(proto *tdict.TensorDict) (err error) {
	if err := vfs.Sweep(f.opt.Dir); err != nil {
		return err
	}
	if f.temp, err = vfs.MakeTemp(vfs.OS, filepath.Join(f.opt.Dir, "feed")); err != nil {
		return err
	}
	if err := os.Mkdir(f.temp.New(), 0o700); err != nil {
		return err
	}
	shared := &epochs{src: f.src, at: make([]uint64, f.opt.Consumers)}
	for rank := range f.opt.Consumers {
		p := &place{rank: rank, src: &rankSource{epochs: shared, rank: rank}, stats: Stats{Rank: rank}}
		if f.opt.Same {
			p.src = &rankSource{epochs: &epochs{src: f.src, at: make([]uint64, 1)}}
		}
		f.places = append(f.places, p)
		for i := range f.opt.Slots {
			at := filepath.Join(f.temp.New(), strconv.Itoa(rank*f.opt.Slots+i))
			ds, err := memmap.Create(at, proto, memmap.CreateOptions{NoSums: true, NoSync: true})
			if err == nil {
				p.slots, p.paths = append(p.slots, ds), append(p.paths, at)
				err = ds.Advise(memmap.Normal) // maps all leaves, for which there may be no room
			}
			if err != nil {
				return fmt.Errorf("slot %d of %d: %w", rank*f.opt.Slots+i+1, f.opt.Consumers*f.opt.Slots, err)
			}
		}
		p.reset()
	}
	return nil
}

// removeSlots closes and removes the slots and the directory that makePlaces made.
func (f *Feed) removeSlots() (err error) {
	for _, p := range f.places {
		err = errors.Join(err, p.src.close())
		for _, ds := range p.slots {
			err = errors.Join(err, ds.Close())
		}
	}
	if f.temp != nil {
		err = errors.Join(err, f.temp.Remove())
	}
	return err
}
