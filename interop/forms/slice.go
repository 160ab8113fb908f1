package forms

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// SliceOptions say what of a dataset [Slice] saves: by default all of it.
type SliceOptions struct {
	Options
	// Index selects along the batch dims, as TensorDict.Index does. It begins with positions,
	// ranges, "...", a list, or a mask of one dim: not with a new dim, nor with what covers several.
	Index []ix.Index
	// Keep returns a mask, bool [n], of the rows of a chunk [n R...] that are saved. It gets all
	// entries, also those that are not saved. Not together with Index.
	Keep func(chunk *tdict.TensorDict) (*tensor.Tensor, error)
	Keys []nestedkey.Key // of entries that are saved; nil means all
	Drop []nestedkey.Key // of entries that are not saved, taken away after Keys
}

// Slice saves a part of a dataset at to. What is said of the output, of memory and of errors at
// [Convert] holds here too. A table is laid on the disk once to be indexed.
//
// Slice also returns shapeops.ErrIndex for an Index that does not fit or begins with what is not
// allowed, or comes with Keep, tdict.ErrMissing for one of Keys or Drop that is not there, and the
// error of Keep.
func Slice(ctx context.Context, to, from string, opt SliceOptions) error {
	if opt.Index != nil && opt.Keep != nil {
		return fmt.Errorf("slice: %w: got Index and Keep, want one of them", shapeops.ErrIndex)
	}
	return saving(ctx, to, []string{from}, opt.Options, func(s *saver) error {
		in, err := s.open(from, opt.Open)
		if err != nil {
			return err
		}
		r, err := s.part(s.rows(in), opt)
		if err != nil {
			return failed("slice", from, err)
		}
		r.from = from
		return s.save(s.at, s.form, r)
	})
}

// part returns the rows and the entries that options say.
func (s *saver) part(r rows, opt SliceOptions) (_ rows, err error) {
	switch {
	case opt.Keep != nil:
		r = r.kept(opt.Keep)
	case opt.Index != nil && r.td == nil:
		if r, err = s.stage(r); err == nil {
			r, err = s.indexed(r, opt.Index)
		}
	case opt.Index != nil:
		r, err = s.indexed(r, opt.Index)
	}
	if err != nil || opt.Keys == nil && opt.Drop == nil {
		return r, err
	}
	r.copyOf = ""
	return r.each(func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return entries(td, opt.Keys, opt.Drop) })
}

// entries returns td with some entries, and without others. A mask goes with its entry.
func entries(td *tdict.TensorDict, keys, drop []nestedkey.Key) (_ *tdict.TensorDict, err error) {
	if keys != nil {
		if td, err = td.Select(withMasks(td, keys)...); err != nil {
			return nil, err
		}
	}
	for _, key := range drop {
		if !td.Has(key) {
			return nil, &tdict.KeyError{Op: "drop", Key: key, Err: tdict.ErrMissing}
		}
	}
	return td.Exclude(withMasks(td, drop)...), nil
}

// withMasks returns keys, each followed by its mask if td has one.
func withMasks(td *tdict.TensorDict, keys []nestedkey.Key) (all []nestedkey.Key) {
	for _, key := range keys {
		all = append(all, key)
		mask, err := td.Tensor(key + maskSuffix)
		if err == nil && mask.DType() == tensor.Bool && !slices.Contains(keys, key+maskSuffix) {
			all = append(all, key+maskSuffix)
		}
	}
	return all
}

// kept returns the rows for which keep returns true.
func (r rows) kept(keep func(*tdict.TensorDict) (*tensor.Tensor, error)) rows {
	r.td, r.copyOf = nil, ""
	r.chunks = mapped(r.chunks, func(chunk *tdict.TensorDict) (*tdict.TensorDict, error) {
		mask, err := keep(chunk)
		if err != nil {
			return nil, err
		}
		if mask == nil {
			return nil, fmt.Errorf("%w: got no mask of rows", tensor.ErrKind)
		}
		if err := mask.Shape().CheckEqual(chunk.Shape()[:1]); err != nil {
			return nil, fmt.Errorf("mask of rows: %w", err)
		}
		return chunk.MaskedSelect(mask)
	})
	return r
}

// indexed returns the rows that an expression selects of mapped rows.
func (s *saver) indexed(r rows, expr []ix.Index) (_ rows, err error) {
	td := r.td
	expr = opened(expr, len(td.Shape()))
	for len(expr) > 0 && expr[0].Kind() == ix.KindAt { // views of one row
		if td, err = td.Index(expr[0]); err != nil {
			return r, err
		}
		expr = opened(expr[1:], len(td.Shape()))
	}
	if len(expr) == 0 {
		return rows{like: td, td: td, schema: schemaOf(td), chunks: chunksOf(s.ctx, td)}, nil
	}
	first, rest := expr[0], expr[1:]
	switch kind := first.Kind(); {
	case kind == ix.KindAll || kind == ix.KindRange:
		return s.ranged(td, first, rest)
	case (kind == ix.KindTake || kind == ix.KindMask) && first.Rank() == 1:
		return s.listed(td, first, rest)
	}
	return r, fmt.Errorf("%w: got %v, want a position, a range, a list or a mask of one dim first", shapeops.ErrIndex, first)
}

// opened replaces "..." at the beginning of an expression over a number of dims by ":" for each dim
// that it stands for.
func opened(expr []ix.Index, dims int) []ix.Index {
	if len(expr) == 0 || expr[0].Kind() != ix.KindRest {
		return expr
	}
	for _, x := range expr[1:] {
		switch x.Kind() {
		case ix.KindNew:
		case ix.KindMask:
			dims -= x.Rank()
		default:
			dims--
		}
	}
	var all []ix.Index
	for range dims {
		all = append(all, ix.All)
	}
	return append(all, expr[1:]...)
}

// ranged returns a range of rows, and the same part of each row.
func (s *saver) ranged(td *tdict.TensorDict, first ix.Index, rest []ix.Index) (rows, error) {
	td, err := td.Index(first)
	if err != nil {
		return rows{}, err
	}
	if len(rest) == 0 {
		return rows{like: td, td: td, schema: schemaOf(td), chunks: chunksOf(s.ctx, td)}, nil
	}
	inner := append([]ix.Index{ix.All}, rest...)
	like, err := emptied(td)
	if err == nil {
		like, err = like.Index(inner...)
	}
	if err != nil {
		return rows{}, err
	}
	chunks := mapped(chunksOf(s.ctx, td), func(chunk *tdict.TensorDict) (*tdict.TensorDict, error) { return chunk.Index(inner...) })
	return rows{like: like, schema: schemaOf(like), chunks: chunks}, nil
}

// listed returns listed rows, and the same part of each row. Lists after the first are of equal
// length, and are taken along with it.
func (s *saver) listed(td *tdict.TensorDict, first ix.Index, rest []ix.Index) (rows, error) {
	list, err := positions(first, td.Shape()[0])
	if err != nil {
		return rows{}, err
	}
	none, err := td.Index(block(list, rest, 0, min(1, len(list)))...)
	if err == nil {
		none, err = emptied(none)
	}
	if err != nil {
		return rows{}, err
	}
	chunks := taken(s.ctx, td, list, func(start, n int) []ix.Index { return block(list, rest, start, n) })
	return rows{like: none, schema: schemaOf(none), chunks: chunks}, nil
}

// block returns the part of an expression, a list of rows and what follows, that selects n of the
// rows.
func block(list []int, rest []ix.Index, start, n int) []ix.Index {
	expr := []ix.Index{ix.Take(list[start : start+n]...)}
	for _, x := range rest {
		advanced := x.Kind() == ix.KindTake || x.Kind() == ix.KindMask
		if other := x.List(); advanced && x.Rank() == 1 && len(other) == len(list) {
			x = ix.Take(other[start : start+n]...)
		}
		expr = append(expr, x)
	}
	return expr
}

// positions returns the rows that a list or a mask selects among n.
func positions(x ix.Index, n int) ([]int, error) {
	if x.Kind() == ix.KindMask && x.Shape()[0] != n {
		return nil, fmt.Errorf("%w: got a mask of %d rows, want %d", shapeops.ErrIndex, x.Shape()[0], n)
	}
	var list []int
	for _, at := range x.List() {
		if at < -n || at >= n {
			return nil, fmt.Errorf("%w: got row %d, want one of %d rows", shapeops.ErrIndex, at, n)
		}
		list = append(list, (at+n)%n)
	}
	return list, nil
}
