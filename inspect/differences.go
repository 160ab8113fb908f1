package inspect

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// DifferencesOptions are the options of [Differences]. The zero value compares everything exactly,
// and NaN differs from itself.
type DifferencesOptions struct {
	// Keys selects the entries to compare, as tdict.TensorDict.Select does; the key of a dictionary
	// selects all entries in it. Empty means all.
	Keys []nestedkey.Key
	// Tolerance says when numbers that differ count as equal, and whether NaN equals NaN.
	Tolerance tensor.Tolerance
	// Most bounds the elements that a Difference lists, in Elements and Text; 0 means 3, and a
	// negative Most means none.
	Most int
	// TrustSums skips leaves whose stored checksums prove them equal: see memmap.SameSums. Leaves
	// of floats are skipped only if Tolerance.EqualNaN is true, since they may hold NaN. A checksum
	// is of the elements that were saved, and does not show later damage. Without TrustSums
	// everything is read.
	TrustSums bool
	// Workers is how many blocks are compared at a time; 0 means GOMAXPROCS.
	Workers int
}

// Differences returns an iterator over the differences between a and b. Differences of structure
// come first, in the order of a; it reads no element for them. Differences of elements follow, leaf
// by leaf.
//
//   - Structure: batch shapes, names of dims, classes, keys that only one of the two has, kinds,
//     dtypes, shapes.
//   - Lengths of ragged rows: a tdict.DiffShape whose Elements are the rows with their lengths.
//     The values of such a leaf are not compared.
//   - Elements: one Difference for each leaf, with the first elements that differ and the number
//     of all. In text, which is ragged uint8 without features, each row is an element, and A and
//     B are quoted.
//
// Numbers are compared within opt.Tolerance, as tensor.Tensor.AllClose does. Integers are not
// rounded. Complex numbers are compared by their distance, bools and Data exactly.
//
// Leaves are read in blocks of 1 MiB, opt.Workers of them at a time. A block of a view with gaps is
// copied. A ragged leaf that was permuted is copied as a whole.
//
// If the iterator yields an error, with a zero Difference, it ends: tdict.ErrKind if a or b is nil
// or an option is invalid, tdict.ErrMissing for a key that neither has, the cause of ctx, or the
// error of a read, with the key. Each range over it compares again. It must not run while a or b is
// changed.
func Differences(ctx context.Context, a, b tdict.Dictionary, opt DifferencesOptions) iter.Seq2[tdict.Difference, error] {
	return func(yield func(tdict.Difference, error) bool) {
		c := &comparison{ctx: ctx, opt: opt, yield: yield}
		a, b := tdict.Of(a), tdict.Of(b)
		if err := c.check(a, b); err != nil {
			yield(tdict.Difference{}, err)
			return
		}
		if !c.dicts("", a, b) {
			return
		}
		for _, p := range c.pairs {
			d, differ, err := c.leaf(p)
			if err != nil {
				yield(tdict.Difference{}, &tdict.KeyError{Op: "differences", Key: p.key, Err: err})
				return
			}
			if differ && !yield(d, nil) {
				return
			}
		}
	}
}

// check checks the options.
func (c *comparison) check(a, b *tdict.TensorDict) (err error) {
	if tol := c.opt.Tolerance; !(tol.Relative >= 0) || !(tol.Absolute >= 0) {
		return fmt.Errorf("differences: %w: got the tolerances %v and %v, want none negative or NaN", tdict.ErrKind, tol.Relative, tol.Absolute)
	}
	c.keys, err = newSelection("differences", c.opt.Keys, a, b)
	return err
}

// most returns the bound on the elements that a Difference lists.
func (opt *DifferencesOptions) most() int {
	if opt.Most == 0 {
		return 3
	}
	return max(0, opt.Most)
}

// A comparison is one loop over Differences.
type comparison struct {
	ctx   context.Context
	opt   DifferencesOptions
	keys  selection
	yield func(tdict.Difference, error) bool
	pairs []pair // leaves whose elements are to be compared
}

// A pair is two leaves under one key, with equal structure.
type pair struct {
	key  nestedkey.Key
	a, b tdict.Value
}

// dicts compares the structure of two dictionaries, and adds the leaves of equal structure to
// pairs. It returns false if the loop has ended.
func (c *comparison) dicts(key nestedkey.Key, a, b *tdict.TensorDict) bool {
	if c.keys.has(key) && !c.batches(key, a, b) {
		return false
	}
	for name, v := range a.All() {
		at := below(key, name)
		if c.keys.within(at) && !c.entry(at, v, b, name) {
			return false
		}
	}
	for name, v := range b.All() {
		at := below(key, name)
		if c.keys.within(at) && !a.Has(name) && !c.say(tdict.DiffExtra, at, "", described(v)) {
			return false
		}
	}
	return true
}

// batches compares batch shapes, names of dims, and classes.
func (c *comparison) batches(key nestedkey.Key, a, b *tdict.TensorDict) bool {
	if !a.Shape().Equal(b.Shape()) {
		return c.say(tdict.DiffShape, key, described(a), described(b))
	}
	if !slices.Equal(a.Names(), b.Names()) {
		return c.say(tdict.DiffShape, key, fmt.Sprintf("dims %q", a.Names()), fmt.Sprintf("dims %q", b.Names()))
	}
	return a.Class() == b.Class() || c.say(tdict.DiffKind, key, fmt.Sprintf("class %q", a.Class()), fmt.Sprintf("class %q", b.Class()))
}

// entry compares the structure of v with the entry name of b.
func (c *comparison) entry(key nestedkey.Key, v tdict.Value, b *tdict.TensorDict, name nestedkey.Key) bool {
	if !b.Has(name) {
		return c.say(tdict.DiffMissing, key, described(v), "")
	}
	w, err := b.Get(name)
	if err != nil {
		c.yield(tdict.Difference{}, err)
		return false
	}
	inA, isDict := v.(*tdict.TensorDict)
	inB, alsoDict := w.(*tdict.TensorDict)
	if isDict && alsoDict {
		return c.dicts(key, inA, inB)
	}
	if kind := unlike(v, w); kind != "" {
		return c.say(kind, key, described(v), described(w))
	}
	c.pairs = append(c.pairs, pair{key, v, w})
	return true
}

// say yields a difference of structure.
func (c *comparison) say(kind tdict.DifferenceKind, key nestedkey.Key, a, b string) bool {
	d := tdict.Difference{Kind: kind, Key: key, A: a, B: b}
	switch kind {
	case tdict.DiffMissing:
		d.Text = fmt.Sprintf("%q: %s, missing in the other", string(key), a)
	case tdict.DiffExtra:
		d.Text = fmt.Sprintf("%q: %s, only in the other", string(key), b)
	default:
		d.Text = fmt.Sprintf("%q: %s, other %s", string(key), a, b)
	}
	return c.yield(d, nil)
}

// unlike returns the structural difference between two values, or "".
func unlike(v, w tdict.Value) tdict.DifferenceKind {
	if kindOf(v) != kindOf(w) {
		return tdict.DiffKind
	}
	if dtypeOf(v) != dtypeOf(w) {
		return tdict.DiffDType
	}
	if s, ok := v.(*tdict.Stacked); ok {
		return unlikeMembers(s, w.(*tdict.Stacked))
	}
	same := v.Shape().Equal(w.Shape())
	switch v := v.(type) {
	case *ragged.Tensor:
		w := w.(*ragged.Tensor)
		same = same && v.Depth() == w.Depth() && v.Features().Equal(w.Features())
	case *tdict.Unbatched:
		same = same && v.Tensor().Shape().Equal(w.(*tdict.Unbatched).Tensor().Shape())
	}
	if !same {
		return tdict.DiffShape
	}
	return ""
}
