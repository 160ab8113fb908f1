package forms

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// Convert saves the rows of one or more datasets at to, one after the other. The form of the output
// follows from the name to, or is opt.Form:
//
//	inputs [n R...] with the same entries -> output [N R...], N = sum(n)
//
// If Convert returns nil, the output exists, durably unless NoSync is set. After an error that is
// memmap.ErrDone it exists too; after any other error, or if ctx ends, nothing has changed. If the
// form of the output cannot hold everything, Convert returns a [*LossError] with a list, unless
// opt.Lossy is set.
//
// Several inputs must have the same keys, kinds, dtypes and shapes of rows; all tables of one form
// are read with one schema. Convert checks the inputs before it writes anything, and then reads
// them one at a time, so the limit of open files does not limit their number. For checksums, inputs
// that are replaced meanwhile, memory and room on the disk see the package documentation.
//
// Convert returns
//
//   - [ErrForm] for an unknown form, [ErrDriver] for arrow and parquet without a driver,
//   - [ErrLoss] for a loss, [ErrOverlap] if to overlaps an input,
//   - fs.ErrExist if to exists and Force is not set, fs.ErrNotExist without a directory for it,
//   - memmap.ErrBusy if a memmap.Writer is writing there,
//   - fs.ErrInvalid for a Schema if neither an input nor the output is a table,
//   - tdict.ErrSchema, with path and key, if inputs differ,
//   - tdict.ErrMissing for no input, shapeops.ErrDim for one without rows where rows are needed,
//   - the errors of the packages of the forms.
func Convert(ctx context.Context, to string, from []string, opt Options) error {
	if len(from) == 0 {
		return fmt.Errorf("convert: %w: got no input, want one", tdict.ErrMissing)
	}
	return saving(ctx, to, from, opt, nil, func(s *saver) error {
		if len(from) > 1 {
			r, err := s.several(from)
			if err == nil {
				r, err = s.selected(r, opt.Select)
			}
			if err != nil {
				return err
			}
			return s.save(s.at, s.form, r)
		}
		in, err := s.open(from[0], s.opt.Open)
		if err != nil {
			return err
		}
		r := s.rows(in)
		if in.Form.isDataset() && s.form.isDataset() && opt.Select.all() && !opt.MissingNaN { // keeps nested tensors of Python
			opt := memmap.CopyOptions{Save: s.datasetOptions(s.form, r), Open: memmap.OpenOptions{SkipPickled: s.opt.Open.SkipPickled}, SkipSums: s.opt.SkipSums}
			opt.Save.Progress = s.opt.Progress
			return memmap.Copy(ctx, in.Path, s.at, opt)
		}
		if r, err = s.selected(r, opt.Select); err != nil {
			return failed("open", from[0], err)
		}
		return s.save(s.at, s.form, r)
	})
}

// several returns the rows of several inputs, one after the other. Each input except the first is
// opened twice: to check it, and to read it.
func (s *saver) several(from []string) (r rows, err error) {
	opts, err := s.agree(from)
	if err != nil {
		return r, err
	}
	first, err := s.open(from[0], opts[0])
	if err != nil {
		return r, err
	}
	says, schema, known := first.saved(), first.Schema, first
	for i, path := range from {
		in, err := openLike(first, path, opts[i])
		if err == nil && known != first {
			if err = sameMeaning(known, in); err != nil {
				_ = in.Close() // nothing was written
				err = failed("open", path, err)
			}
		}
		if err != nil {
			return r, err
		}
		if says == nil && in.saved() != nil { // an input without a schema means what the others say
			says = in.saved()
			schema = schemaOf(first.like, says)
			known = in
		}
		s.meter.total += in.size()
		_ = in.Close() // nothing was written
	}
	only := new([]nestedkey.Key)
	return rows{only: only, like: first.like, source: first.like, schema: schema, says: says, chunks: s.joined(first, from, opts, only)}, nil
}

// joined yields the rows of inputs. Each input is open only while it is read. Drivers read only
// some entries, see rows.only.
func (s *saver) joined(first *Input, from []string, opts []OpenOptions, only *[]nestedkey.Key) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		for i, more := 0, true; more && i < len(from); i++ {
			in, err := openLike(first, from[i], opts[i])
			if err != nil {
				yield(nil, err)
				return
			}
			in.only = only
			for chunk, err := range in.chunks(s.ctx, s.meter.add) {
				if more = yield(chunk, err) && err == nil; !more {
					break
				}
			}
			_ = in.Close() // nothing was written
		}
	}
}

// agree returns options with one schema for all tables of a form.
func (s *saver) agree(from []string) (opts []OpenOptions, err error) {
	tables := map[Form][]string{}
	for _, path := range from {
		opt := s.opt.Open
		if opt.Form, err = formOf(path, opt); err != nil {
			return nil, err
		}
		if opt.Form.IsTable() && opt.Schema == nil {
			tables[opt.Form] = append(tables[opt.Form], path)
		}
		opts = append(opts, opt)
	}
	for f, paths := range tables {
		schema, _, err := infer(f, paths, s.opt.Open)
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

// openLike opens an input whose rows must be like the rows of the first.
func openLike(first *Input, path string, opt OpenOptions) (*Input, error) {
	in, err := Open(path, opt)
	if err != nil {
		return nil, err
	}
	if err := same(first, in); err != nil {
		_ = in.Close() // nothing was written
		return nil, failed("open", path, err)
	}
	return in, nil
}

// same returns tdict.ErrSchema unless the rows of an input are like the rows of the first.
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
		return fmt.Errorf("%w: got batch shape %v %q, want %v %q of %s with any number of rows",
			tdict.ErrSchema, in.like.Shape(), got.Names(), first.like.Shape(), want.Names(), first.Path)
	}
	if err := tdict.SchemaOf(want).Check(got); err != nil {
		return fmt.Errorf("rows differ from the rows of %s: %w", first.Path, err)
	}
	return sameMeaning(first, in)
}

// sameMeaning returns tdict.ErrSchema unless the numbers of an input mean what the numbers of the
// first mean: with the same masks, units, times and categories.
func sameMeaning(first, in *Input) error {
	others := specsOf(in.saved())
	for _, a := range first.saved() {
		b, says := others[a.Key]
		if in.saved() == nil || !says && a.Optional {
			continue
		}
		if a.Mask != b.Mask || a.Unit != b.Unit || a.Time != b.Time || !slices.Equal(a.Categories, b.Categories) {
			a.Doc, b.Doc, a.Columns, b.Columns = "", "", nil, nil
			return &tdict.KeyError{Op: "rows", Key: a.Key, Err: fmt.Errorf("%w: rows differ from the rows of %s: %s",
				tdict.ErrSchema, first.Path, tdict.Schema{b}.Diff(tdict.Schema{a}))}
		}
	}
	return nil
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
