package forms

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"

	"github.com/go-tensordict/tensordict/tdict"
)

// Convert saves the rows of one or more datasets at to, one after the other, in the form of its
// name or of opt.Form:
//
//	inputs [n R...] with the same entries -> output [N R...], N = sum(n)
//
// If Convert returns nil, the output is there, durably unless NoSync is set; on an error, and if ctx
// ends, nothing has changed. What the form of the output cannot hold is a [*LossError] that lists
// it, unless opt.Lossy is set. Several inputs must have the same keys, kinds, dtypes and shapes of
// rows; tables among them are read with one schema of each form.
//
// Memory is bounded, see the package. Rows that do not come from one mapped input lie on the disk
// twice while Npy, Npz, Safetensors and NRT are written, and while an Archive is.
//
// Convert returns [ErrForm], [ErrLoss], [ErrOverlap], fs.ErrExist if something is at to and Force
// is not set, memmap.ErrBusy if a memmap.Writer is at work there, fs.ErrNotExist if no directory is
// around it, tdict.ErrSchema, with path and key, for inputs that differ, shapeops.ErrDim for an
// input that has no rows where rows are needed, tdict.ErrMissing if there is no input, and the
// errors of the packages of the forms.
func Convert(ctx context.Context, to string, from []string, opt Options) error {
	if len(from) == 0 {
		return fmt.Errorf("convert: %w: got no input, want one", tdict.ErrMissing)
	}
	return saving(ctx, to, from, opt, func(s *saver) error {
		r, err := s.laid(from)
		if err != nil {
			return err
		}
		return s.save(s.at, s.form, r)
	})
}

// rows returns all rows of an input.
func (s *saver) rows(in *Input) rows {
	r := rows{like: in.like, td: in.Dict, schema: in.Schema, from: in.Path}
	if in.Form == Directory || in.Form == Archive {
		r.copyOf = in.Path
	}
	s.meter.total += in.size()
	if in.Dict == nil {
		r.chunks = in.read(s.ctx, s.meter.add)
	} else {
		r.chunks = s.meter.count(in.Chunks(s.ctx))
	}
	return r
}

// A meter tells progress.
type meter struct {
	done, total int64
	progress    func(done, total int64)
}

// size returns the bytes that Chunks reads, 0 if they are not known.
func (in *Input) size() int64 {
	if in.Dict != nil {
		return int64(in.Dict.ByteSize())
	}
	info, err := os.Stat(in.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (m *meter) add(n int) {
	if m.done += int64(n); m.progress != nil {
		m.progress(m.done, m.total)
	}
}

// count adds the sizes of chunks when they were used.
func (m *meter) count(chunks iter.Seq2[*tdict.TensorDict, error]) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		for chunk, err := range chunks {
			if !yield(chunk, err) || err != nil {
				return
			}
			m.add(chunk.ByteSize())
		}
	}
}

// laid returns the rows of all inputs, one after the other.
func (s *saver) laid(from []string) (r rows, err error) {
	opts := []OpenOptions{s.opt.Open}
	if len(from) > 1 {
		if opts, err = s.agree(from); err != nil {
			return r, err
		}
	}
	var first *Input
	var all []iter.Seq2[*tdict.TensorDict, error]
	for i, path := range from {
		in, err := s.open(path, opts[i])
		if err != nil {
			return r, err
		}
		if i == 0 {
			first, r = in, s.rows(in)
			all = append(all, r.chunks)
			continue
		}
		if err := same(first, in); err != nil {
			return r, failed("open", path, err)
		}
		r.td, r.copyOf = nil, ""
		all = append(all, s.rows(in).chunks)
	}
	r.chunks = joined(all)
	return r, nil
}

// joined yields the chunks of several iterators, until one yields an error.
func joined(all []iter.Seq2[*tdict.TensorDict, error]) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		for _, chunks := range all {
			for chunk, err := range chunks {
				if !yield(chunk, err) || err != nil {
					return
				}
			}
		}
	}
}

// emptied returns a copy of td without rows.
func emptied(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	if len(td.Shape()) == 0 {
		return nil, errNoRows(td)
	}
	none, err := td.Narrow(0, 0, 0)
	if err != nil {
		return nil, err
	}
	return none.Clone()
}

// same returns tdict.ErrSchema unless an input has rows like those of the first.
func same(first, in *Input) error {
	want, err := emptied(first.like)
	if err != nil {
		return err
	}
	got, err := emptied(in.like)
	if err != nil {
		return err
	}
	if a, b := want.Shape(), got.Shape(); !a.Equal(b) || !slices.Equal(want.Names(), got.Names()) {
		return fmt.Errorf("%w: got batch shape %v %q, want %v %q of %s, whatever the first size is",
			tdict.ErrSchema, in.like.Shape(), got.Names(), first.like.Shape(), want.Names(), first.Path)
	}
	if err := tdict.SchemaOf(want).Check(got); err != nil {
		return fmt.Errorf("rows differ from those of %s: %w", first.Path, err)
	}
	return nil
}

// agree returns options with which all tables of one form have one schema.
func (s *saver) agree(from []string) ([]OpenOptions, error) {
	opts := make([]OpenOptions, len(from))
	tables := map[Form][]string{}
	for i, path := range from {
		opts[i] = s.opt.Open
		if opts[i].Form == 0 {
			f, err := Of(path)
			if err != nil {
				return nil, err
			}
			opts[i].Form = f
		}
		if f := opts[i].Form; f == CSV || f == JSONL {
			tables[f] = append(tables[f], path)
		}
	}
	if s.opt.Open.Schema != nil {
		return opts, nil
	}
	for f, paths := range tables {
		schema, err := infer(f, paths, s.opt.Open.CSV)
		if err != nil {
			return nil, err
		}
		for i := range opts {
			if opts[i].Form == f {
				opts[i].Schema, opts[i].raw = schema, true
			}
		}
	}
	return opts, nil
}
