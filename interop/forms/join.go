package forms

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/rowsort"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// JoinOptions say how [Join] matches rows.
type JoinOptions struct {
	Options
	// On are keys that both datasets have, of integers, floating-point numbers, bools or texts.
	// Rows match if all their values are equal. A missing value equals nothing. Categories are
	// compared as texts.
	On []nestedkey.Key
	// Left keeps the rows of the first dataset that match no row of the second: the entries of the
	// second dataset are missing in these rows.
	Left bool
}

// Join saves the rows of two datasets that match, side by side:
//
//	left [N L...], right [M R...] -> output [K L... R...], a row for each pair that matches
//
// The output has all entries of left, and the entries of right except opt.On. It is in the order of
// left, and for one row of left in the order of right. An entry of right whose key left has too
// gets the key KEY_right. With opt.Left each entry of right gets a mask, which the saved schema
// lists. In rows without a match its values are zeros and empty lists, and the mask hides them. A
// mask with a bool for each value of a list hides nothing there: the lists are empty.
// Options.Select applies to the joined rows.
//
// Join needs memory for some 64 MiB of values, and for the rows of right that match one row; the
// other values are in temporary files beside the output. Otherwise it treats the output, memory and
// errors as [Convert] does. It also returns tdict.ErrMissing, tensor.ErrDType and shapeops.ErrShape
// about a key of On, tdict.ErrSchema for a key whose values cannot be compared, tdict.ErrKind for
// an entry of right that is neither a tensor nor ragged, and fs.ErrInvalid if On is empty.
func Join(ctx context.Context, to, left, right string, opt JoinOptions) error {
	if len(opt.On) == 0 {
		return fmt.Errorf("join: %w: got no keys in On, want one", fs.ErrInvalid)
	}
	return saving(ctx, to, []string{left, right}, opt.Options, nil, func(s *saver) error {
		a, err := s.mapped(left, Selection{})
		if err != nil {
			return err
		}
		b, err := s.mapped(right, Selection{})
		if err != nil {
			return err
		}
		j := joiner{s: s, left: a.td, right: b.td, keepLeft: opt.Left}
		if err = j.rightEntries(a, b, opt.On); err != nil {
			return failed("join", right, err)
		}
		pairs, err := j.pairs(a, b, opt.On, left, right)
		if err != nil {
			return err
		}
		r, err := j.rows(pairs)
		if err == nil {
			r, err = s.selected(r, opt.Select)
		}
		if err != nil {
			return failed("join", left, err)
		}
		return s.save(s.at, s.form, r)
	})
}

// A joiner puts rows of two datasets side by side.
type joiner struct {
	s           *saver
	left, right *tdict.TensorDict
	keepLeft    bool
	entries     []joined     // of right
	says        tdict.Schema // of the output
}

// A joined is an entry of right in the output.
type joined struct {
	from, to nestedkey.Key
	mask     nestedkey.Key // a new mask in the output, for rows without a match; or ""
	had      nestedkey.Key // the mask in right, which the new one replaces; or ""
	lists    bool          // a dictionary of lists of objects, of which only the mask is set
}

// rightEntries finds the entries of right, and the schema of the output.
func (j *joiner) rightEntries(a, b rows, on []nestedkey.Key) error {
	j.says = exactly(a)
	taken := map[nestedkey.Key]bool{}
	for key := range j.left.NestedKeys() {
		taken[key] = true
	}
	free := func(key nestedkey.Key) nestedkey.Key {
		key = table.FreeKey(key, func(key nestedkey.Key) bool { return taken[key] })
		taken[key] = true
		return key
	}
	specs := exactly(b)
	left := j.leftMasks(specs, on)
	keys := map[nestedkey.Key]nestedkey.Key{} // of lists of objects, in the output
	for _, s := range specs {
		lists := outermost(keys, s.Key)
		if slices.Contains(on, s.Key) || left[s.Key] || s.Kind == tdict.KindDict && s.Depth == 0 {
			continue
		}
		if s.Kind != tdict.KindTensor && s.Kind != tdict.KindRagged && s.Kind != tdict.KindText && s.Kind != tdict.KindDict {
			return &tdict.KeyError{Op: "join", Key: s.Key, Err: fmt.Errorf("%w: got %v, want a tensor or a ragged one", tdict.ErrKind, s.Kind)}
		}
		e := joined{from: s.Key, lists: s.Kind == tdict.KindDict}
		switch {
		case lists != "":
			e.to = keys[lists] + s.Key[len(lists):]
		case taken[s.Key]:
			e.to = free(s.Key + "_right")
		default:
			e.to = free(s.Key)
		}
		if e.lists {
			keys[s.Key] = e.to
		}
		if left[s.Mask] {
			e.had = s.Mask
		}
		if j.keepLeft && lists == "" && (left[s.Mask] || !j.right.Has(s.Mask)) { // else the lists have one
			e.mask = free(e.to + "_mask")
		}
		j.entries = append(j.entries, e)
	}
	j.describe(specs)
	return nil
}

// outermost returns the outermost dictionary around a key that is in keys, or "".
func outermost(keys map[nestedkey.Key]nestedkey.Key, key nestedkey.Key) (found nestedkey.Key) {
	for at, ok := key.Parent(); ok; at, ok = at.Parent() {
		if keys[at] != "" {
			found = at
		}
	}
	return found
}

// leftMasks returns the masks of right that the output lacks: masks that only keys of On have, and
// with Left the masks that new masks replace.
func (j *joiner) leftMasks(specs tdict.Schema, on []nestedkey.Key) map[nestedkey.Key]bool {
	left := map[nestedkey.Key]bool{}
	for _, s := range specs {
		if s.Mask != "" && slices.Contains(on, s.Key) {
			left[s.Mask] = true
		}
	}
	for _, s := range specs {
		if s.Mask != "" && !slices.Contains(on, s.Key) {
			_, err := j.right.Tensor(s.Mask)
			left[s.Mask] = j.keepLeft && err == nil
		}
	}
	return left
}

// describe adds the entries of right to the schema of the output.
func (j *joiner) describe(specs tdict.Schema) {
	out, known := map[nestedkey.Key]nestedkey.Key{}, specsOf(specs)
	for _, e := range j.entries {
		out[e.from] = e.to
	}
	for _, e := range j.entries {
		s := known[e.from]
		s.Key = e.to
		if s.Mask = out[s.Mask]; e.mask != "" {
			s.Mask = e.mask
		}
		if e.from != e.to {
			s.Columns = nil
		}
		j.says = append(j.says, s)
	}
}

// exactly returns a schema for the entries of r: their known specs, otherwise specs made from the
// values.
func exactly(r rows) tdict.Schema {
	if r.says == nil {
		return tdict.SchemaOf(r.like)
	}
	return slices.DeleteFunc(slices.Clone(r.says), func(s tdict.Spec) bool { return !r.like.Has(s.Key) })
}

// unmatched is the number of right in a pair of a row that matches none.
const unmatched = -1

// pairs returns the pairs of rows that match, in the order of left: the key of a row is its number
// in left, its number is the number in right or unmatched.
func (j *joiner) pairs(a, b rows, on []nestedkey.Key, nameA, nameB string) (_ *rowsort.Sorter, err error) {
	if err := rowsort.Alike(a.td, b.td, a.says, b.says, on); err != nil {
		return nil, failed("join", nameA, err)
	}
	left, err := rowsort.Rows(j.s.ctx, a.td, a.says, on, rowsort.Options{Beside: j.s.at, Apart: 1, Texts: true})
	if err != nil {
		return nil, failed("join", nameA, err)
	}
	defer func() { err = errors.Join(err, left.Close()) }()
	right, err := rowsort.Rows(j.s.ctx, b.td, b.says, on, rowsort.Options{Beside: j.s.at, Apart: 2, Texts: true})
	if err != nil {
		return nil, failed("join", nameB, err)
	}
	defer func() { err = errors.Join(err, right.Close()) }()
	pairs := rowsort.NewSorter(j.s.at, 64<<20)
	j.s.done = append(j.s.done, pairs.Close)
	next, stop := iter.Pull2(rowsort.Groups(right.All()))
	defer stop()
	group, err, more := next()
	for row, failed := range left.All() {
		if failed != nil {
			return nil, failed
		}
		for more && err == nil && group.Compare(row.Key) < 0 {
			group, err, more = next()
		}
		if err != nil {
			return nil, err
		}
		key := binary.BigEndian.AppendUint64(nil, uint64(row.Number))
		matches := []int64{unmatched}
		if more && group.Compare(row.Key) == 0 {
			matches = group.Numbers
		} else if !j.keepLeft {
			continue
		}
		for _, match := range matches {
			if err := pairs.Add(key, match); err != nil {
				return nil, err
			}
		}
	}
	return pairs, err
}

// A pair is a row of left and a row of right, or unmatched.
type pair struct{ left, right int64 }

// rows returns the joined rows.
func (j *joiner) rows(pairs *rowsort.Sorter) (r rows, err error) {
	all := func(yield func(pair, error) bool) {
		for row, err := range pairs.All() {
			p := pair{right: row.Number}
			if err == nil {
				p.left = int64(binary.BigEndian.Uint64(row.Key))
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
	like, err := j.side(nil)
	if err != nil {
		return r, err
	}
	r = rows{like: like, source: like, says: carried(j.says, like), schema: schemaOf(like, j.says)}
	most := max(1, min(chunkPairs, chunkBytes/max(1, rowBytes(j.left)+rowBytes(j.right))))
	r.chunks = func(yield func(*tdict.TensorDict, error) bool) {
		for list, err := range lists(all) {
			for start := 0; err == nil && (start == 0 || start < len(list)); start += most {
				var chunk *tdict.TensorDict
				if err = context.Cause(j.s.ctx); err == nil {
					chunk, err = j.side(list[start:min(start+most, len(list))])
				}
				if !yield(chunk, err) || err != nil {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
	return r, nil
}

// chunkPairs is the largest number of rows of a chunk.
const chunkPairs = 4096

// rowBytes returns the mean size of a row of td.
func rowBytes(td *tdict.TensorDict) int { return td.ByteSize() / max(1, td.Shape()[0]) }

// side returns the rows of pairs side by side.
func (j *joiner) side(pairs []pair) (*tdict.TensorDict, error) {
	left, right, matched := make([]int64, len(pairs)), make([]int64, len(pairs)), make([]bool, len(pairs))
	for i, p := range pairs {
		left[i], right[i], matched[i] = p.left, p.right, p.right != unmatched
	}
	out, err := j.left.Take(0, tensor.Vector(left...))
	if err != nil {
		return nil, err
	}
	other, err := j.rightRows(right)
	if err != nil {
		return nil, err
	}
	for _, e := range j.entries {
		if err := e.join(out, other, matched); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rightRows returns rows of right, with zeros and empty lists for unmatched.
func (j *joiner) rightRows(rows []int64) (*tdict.TensorDict, error) {
	var has []int64
	for i, row := range rows {
		if rows[i] = -1; row != unmatched { // -1 is the last row
			rows[i] = int64(len(has))
			has = append(has, row)
		}
	}
	part, err := j.right.Take(0, tensor.Vector(has...))
	if err != nil || len(has) == len(rows) {
		return part, err
	}
	zero, err := tdict.SchemaOf(j.right).Zeros(append([]int{1}, j.right.Shape()[1:]...)...)
	if err == nil {
		part, err = shapeops.Cat([]*tdict.TensorDict{part, zero}, 0)
	}
	if err != nil {
		return nil, err
	}
	return part.Take(0, tensor.Vector(rows...))
}

// join sets the entry of right and its mask in a dictionary.
func (e joined) join(out, right *tdict.TensorDict, matched []bool) error {
	v, err := right.Get(e.from)
	if err == nil && !e.lists {
		err = out.Set(e.to, v)
	}
	if err != nil || e.mask == "" {
		return err
	}
	mask, err := tensor.Full(true, v.Shape()...)
	if err == nil && e.had != "" {
		mask, err = right.Tensor(e.had)
	}
	if err != nil {
		return err
	}
	rows, err := tensor.From(matched, append([]int{len(matched)}, slices.Repeat([]int{1}, len(mask.Shape())-1)...)...)
	if err == nil {
		mask, err = arith.And(mask, rows)
	}
	if err != nil {
		return &tdict.KeyError{Op: "join", Key: e.mask, Err: err}
	}
	return out.Set(e.mask, mask)
}
