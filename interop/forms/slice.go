package forms

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

// SliceOptions select the rows and entries that [Slice] saves. The zero value selects all.
type SliceOptions struct {
	Options
	// Index selects along the batch dims, as TensorDict.Index does. It must begin with a position,
	// a range, "...", or a list or mask over one dim.
	Index []ix.Index
	// Keep returns a mask, bool [n], of the rows to save of a chunk [n R...]. The chunk has all
	// entries, also entries that are not saved. Keep excludes Index.
	Keep func(chunk *tdict.TensorDict) (*tensor.Tensor, error)
}

// Slice saves a part of a dataset at to. It treats the output, memory and errors as [Convert] does.
// It compares only the checksums of the blocks that it reads, memmap.BlockSize bytes each, or of
// whole members. A table is saved beside the output before it is indexed.
//
// Slice also returns shapeops.ErrIndex for an Index that does not fit, begins with another kind of
// index, or is given with Keep; tdict.ErrMissing if a key of Keys or Drop is missing; and the error
// of Keep.
func Slice(ctx context.Context, to, from string, opt SliceOptions) error {
	if opt.Index != nil && (opt.Keep != nil || opt.Select.Where != nil) {
		return fmt.Errorf("slice: %w: got several of Index, Keep and Where, want one of them", shapeops.ErrIndex)
	}
	if opt.Index == nil && opt.Keep == nil {
		return Convert(ctx, to, []string{from}, opt.Options)
	}
	return saving(ctx, to, []string{from}, opt.Options, nil, func(s *saver) error {
		in, err := s.open(from, s.opt.Open)
		if err != nil {
			return err
		}
		r, err := s.part(s.rows(in), opt)
		if err != nil {
			return failed("slice", from, err)
		}
		err = s.save(s.at, s.form, r)
		if errors.Is(err, shapeops.ErrDim) && len(opt.Index) > 0 && opt.Index[0].Kind() == ix.KindAt {
			err = fmt.Errorf("%w; the index [%v] keeps it", err, opt.Index[0])
		}
		return err
	})
}

// part returns the rows and entries that the options select.
func (s *saver) part(r rows, opt SliceOptions) (_ rows, err error) {
	if opt.Keep != nil {
		r = s.filtered(r, opt.Keep)
	}
	if opt.Index != nil {
		says := r.says
		if r, err = s.stage(r); err == nil {
			r, err = s.indexed(r.td, opt.Index, says)
		}
		if err != nil {
			return r, err
		}
	}
	return s.selected(r, opt.Select)
}

// filtered returns the rows for which keep returns true.
func (s *saver) filtered(r rows, keep func(*tdict.TensorDict) (*tensor.Tensor, error)) rows {
	r.td = nil
	r.chunks = ahead(s.ctx, mapped(r.chunks, func(chunk *tdict.TensorDict) (*tdict.TensorDict, error) { return kept(chunk, keep) }))
	return r
}

// keeping returns a function that returns the mask of the rows for which a condition holds.
func keeping(c *where.Condition, says tdict.Schema) func(*tdict.TensorDict) (*tensor.Tensor, error) {
	return func(chunk *tdict.TensorDict) (*tensor.Tensor, error) {
		filter, err := c.BindSchema(chunk, says)
		if err != nil {
			return nil, err
		}
		return filter.Mask(chunk)
	}
}

// kept returns the rows for which keep returns true.
func kept(chunk *tdict.TensorDict, keep func(*tdict.TensorDict) (*tensor.Tensor, error)) (*tdict.TensorDict, error) {
	mask, err := keep(chunk)
	if err != nil {
		return nil, err
	}
	if mask == nil {
		return nil, fmt.Errorf("%w: Keep returned nil, want a mask of rows", tensor.ErrKind)
	}
	if err := mask.Shape().CheckEqual(chunk.Shape()[:1]); err != nil {
		return nil, fmt.Errorf("mask of rows: %w", err)
	}
	return chunk.MaskedSelect(mask)
}

// indexed returns the rows of td, which is mapped, that an expression selects. says describes the
// entries, as far as known.
func (s *saver) indexed(td *tdict.TensorDict, expr []ix.Index, says tdict.Schema) (r rows, err error) {
	expr = opened(expr, len(td.Shape()))
	for len(expr) > 0 && expr[0].Kind() == ix.KindAt { // positions select views
		if td, err = td.Index(expr[0]); err != nil {
			return r, err
		}
		expr = opened(expr[1:], len(td.Shape()))
	}
	if len(expr) == 0 {
		return s.mappedRows(td, says), nil
	}
	var list []int
	switch first := expr[0]; {
	case first.Kind() == ix.KindAll || first.Kind() == ix.KindRange:
		if td, err = td.Index(first); err == nil && len(expr) == 1 {
			return s.mappedRows(td, says), nil
		}
	case (first.Kind() == ix.KindTake || first.Kind() == ix.KindMask) && first.Rank() == 1:
		list, err = positions(first, td.Shape())
	default:
		err = fmt.Errorf("%w: got %v, want a position, a range, a list or a mask of one dim first", shapeops.ErrIndex, first)
	}
	if err != nil {
		return r, err
	}
	return s.picked(td, list, expr[1:], says)
}

// picked returns all rows of td, or the rows of a list, and the same part of each row.
func (s *saver) picked(td *tdict.TensorDict, list []int, rest []ix.Index, says tdict.Schema) (r rows, err error) {
	n, expr := len(list), func(start, n int) []ix.Index { return block(list, rest, start, n) }
	if list == nil {
		n = td.Shape()[0]
		expr = func(start, n int) []ix.Index { return append([]ix.Index{ix.Range(start, start+n)}, rest...) }
	}
	like, err := td.Index(expr(0, min(1, n))...)
	if err == nil {
		like, err = emptied(like)
	}
	if err != nil {
		return r, err
	}
	return rows{like: like, source: td, schema: schemaOf(like, says), says: carried(says, like), chunks: cut(s.ctx, td, n, list, expr)}, nil
}

// opened replaces "..." at the beginning of an expression by a ":" for each dim that it means. dims
// is the number of dims.
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

// block returns an index expression that selects n of the rows: a list of rows, and the rest of the
// expression.
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

// positions returns the rows that a list or a mask selects. It never returns nil.
func positions(x ix.Index, batch shapeops.Shape) ([]int, error) {
	if len(batch) == 0 {
		return nil, fmt.Errorf("%w: got %v, want none for batch shape []", shapeops.ErrIndex, x)
	}
	n, list := batch[0], []int{}
	if x.Kind() == ix.KindMask && x.Shape()[0] != n {
		return nil, fmt.Errorf("%w: got a mask of %d rows, want %d", shapeops.ErrIndex, x.Shape()[0], n)
	}
	for _, at := range x.List() {
		if at < -n || at >= n {
			return nil, fmt.Errorf("%w: got row %d, want one of %d rows", shapeops.ErrIndex, at, n)
		}
		list = append(list, (at+n)%n)
	}
	return list, nil
}
