package inspect

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/rowsort"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Group is the rows that have equal values in some columns.
type Group struct {
	// Values are the values of opt.By as text: "missing" for a missing value, and categories and
	// times as the schema says.
	Values []string
	Rows   int
	Leaves []GroupLeaf // in the order of the dictionary
}

// A GroupLeaf summarizes a leaf in the rows of a group.
type GroupLeaf struct {
	Key   nestedkey.Key
	DType tensor.DType // of the values; 0 for text
	// Count is the number of values, without missing ones and NaN; of texts for text. Missing is
	// the number of values that are missing by the mask: of texts for text, and of values or rows
	// for a ragged leaf, as its mask has them.
	Count, Missing, NaN int
	Mean                float64 // NaN if Count is 0, and for text
}

// GroupsOptions are the options of [Groups].
type GroupsOptions struct {
	// By are the keys of the columns whose values make the groups: tensors of one column, or text.
	// A missing value makes a group too.
	By []nestedkey.Key
	// Keys are the leaves to summarize; nil means all numbers, bools and texts but masks and By.
	Keys []nestedkey.Key
	// Schema says which entries have masks; nil means the schema of the dataset, if td is a
	// *memmap.Dataset.
	Schema tdict.Schema
}

// Groups returns an iterator over the groups of the rows of td, [N R...], in the order of their
// values, with count, missing values and mean of each leaf. Means are sums in float64 divided by
// counts. td and the number of groups may be larger than memory: some 64 MiB of values are in
// memory, the others in temporary files.
//
// If it yields an error, it ends: tdict.ErrKind if td is nil or a leaf of opt.Keys has no values to
// count, shapeops.ErrDim for a dictionary without rows, tensor.ErrDType, shapeops.ErrShape and
// tdict.ErrMissing about a key, the cause of ctx, and errors of the disk.
func Groups(ctx context.Context, td tdict.Dictionary, opt GroupsOptions) iter.Seq2[Group, error] {
	return func(yield func(Group, error) bool) {
		opt.Schema = schemaOf(td, opt.Schema)
		g := &grouper{td: tdict.Of(td), opt: opt, yield: yield, specs: specsOf(opt.Schema)}
		if err := g.run(ctx); err != nil {
			yield(Group{}, err)
		}
	}
}

// A grouper summarizes groups, one after the other.
type grouper struct {
	td     *tdict.TensorDict
	opt    GroupsOptions
	yield  func(Group, error) bool
	specs  specs           // of opt.Schema
	keys   []nestedkey.Key // leaves to summarize
	dtypes []tensor.DType
	part   *tdict.TensorDict
	open   *Group    // the group of the last row
	sums   []float64 // of its leaves
	ended  bool      // yield has returned false
}

// run yields the groups.
func (g *grouper) run(ctx context.Context) error {
	if g.td == nil {
		return fmt.Errorf("groups: %w: got nil, want a dictionary", tdict.ErrKind)
	}
	order, err := rowsort.Rows(ctx, g.td, g.opt.Schema, g.opt.By, rowsort.Options{})
	if err != nil {
		return err
	}
	defer order.Close()
	if err := g.choose(); err != nil {
		return err
	}
	most := max(1, min(1<<14, 4<<20/max(1, rowSize(g.part))))
	var rows []int64
	var starts []int // positions in rows at which a group begins
	var last rowsort.Key
	first := true
	for row, err := range order.All() {
		if err != nil {
			return err
		}
		if first || !bytes.Equal(last, row.Key) {
			starts, last, first = append(starts, len(rows)), append(last[:0], row.Key...), false
		}
		if rows = append(rows, row.Number); len(rows) < most {
			continue
		}
		if err := g.add(ctx, rows, starts); err != nil {
			return err
		}
		if rows, starts = rows[:0], starts[:0]; g.ended {
			return nil
		}
	}
	if err := g.add(ctx, rows, starts); err != nil {
		return err
	}
	if g.open != nil && !g.ended {
		g.close()
	}
	return nil
}

// choose finds the leaves to summarize.
func (g *grouper) choose() error {
	masks := map[nestedkey.Key]bool{}
	for _, s := range g.opt.Schema {
		if s.Mask != "" {
			masks[s.Mask] = true
		}
	}
	g.keys = g.opt.Keys
	for key, leaf := range g.td.Leaves() {
		if g.opt.Keys == nil && !masks[key] && !slices.Contains(g.opt.By, key) && countable(leaf) {
			g.keys = append(g.keys, key)
		}
	}
	for _, key := range g.keys {
		leaf, err := g.td.Get(key)
		if err == nil && !countable(leaf) {
			err = &tdict.KeyError{Op: "groups", Key: key, Err: fmt.Errorf("%w: got %s, want real numbers, bools or text", tdict.ErrKind, described(leaf))}
		}
		if err != nil {
			return err
		}
		dtype := dtypeOf(leaf)
		if kindOf(leaf) == tdict.KindText {
			dtype = 0
		}
		g.dtypes = append(g.dtypes, dtype)
	}
	g.part = g.td.SelectPresent(g.specs.withMasks(g.keys)...)
	return nil
}

// countable reports whether a leaf has numbers, bools or texts.
func countable(leaf tdict.Value) bool {
	switch leaf := leaf.(type) {
	case *tensor.Tensor:
		return !leaf.DType().IsComplex()
	case *ragged.Tensor:
		return !leaf.DType().IsComplex()
	}
	return false
}

// add adds rows, of which groups begin at some.
func (g *grouper) add(ctx context.Context, rows []int64, starts []int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(rows) == 0 {
		return nil
	}
	chunk, err := g.part.Take(0, tensor.Vector(rows...))
	if err != nil {
		return err
	}
	leaves := make([]leafRows, len(g.keys))
	for i, key := range g.keys {
		if leaves[i], err = leafRowsOf(chunk, key, g.specs); err != nil {
			return &tdict.KeyError{Op: "groups", Key: key, Err: err}
		}
	}
	for at, row := range rows {
		if len(starts) > 0 && starts[0] == at {
			if starts = starts[1:]; g.open != nil {
				g.close()
			}
			if g.ended {
				return nil
			}
			if err := g.begin(int(row)); err != nil {
				return err
			}
		}
		g.open.Rows++
		for i := range leaves {
			g.sums[i] += leaves[i].count(at, &g.open.Leaves[i])
		}
	}
	return nil
}

// begin begins a group with a row.
func (g *grouper) begin(row int) error {
	g.open = &Group{Leaves: make([]GroupLeaf, len(g.keys))}
	g.sums = make([]float64, len(g.keys))
	for i, key := range g.keys {
		g.open.Leaves[i].Key, g.open.Leaves[i].DType = key, g.dtypes[i]
	}
	for _, key := range g.opt.By {
		text, err := valueText(g.td, key, row, g.specs)
		if err != nil {
			return err
		}
		g.open.Values = append(g.open.Values, text)
	}
	return nil
}

// close yields the group.
func (g *grouper) close() {
	for i := range g.open.Leaves {
		leaf := &g.open.Leaves[i]
		if leaf.Mean = g.sums[i] / float64(leaf.Count); math.IsNaN(g.sums[i]) {
			leaf.Mean = math.NaN()
		}
	}
	g.ended = !g.yield(*g.open, nil)
	g.open = nil
}

// leafRows are the values of a leaf in some rows. A unit is the part that has one bool of the mask:
// a row, a list, or a value.
type leafRows struct {
	values  []float64 // nil for text
	units   []int64   // row i has the units from units[i] to units[i+1]
	offsets []int64   // unit i has the values from offsets[i] to offsets[i+1]
	mask    []bool    // of the units; or nil
	hides   int       // number of missing values for false in the mask
}

// leafRowsOf reads the leaf under a key of the rows chunk.
func leafRowsOf(chunk *tdict.TensorDict, key nestedkey.Key, says specs) (r leafRows, err error) {
	v, err := chunk.Get(key)
	if err != nil {
		return r, err
	}
	mask, err := says[key].MaskOf(chunk, key)
	if err != nil {
		return r, err
	}
	n := chunk.Shape()[0]
	r.hides = 1
	switch v := v.(type) {
	case *tensor.Tensor:
		r.units, r.offsets = evenly(n, v.Size()), evenly(v.Size(), v.Size())
		r.values, err = floats(v)
	case *ragged.Tensor:
		outer := 0 // levels of the mask
		if lists, ok := mask.(*ragged.Tensor); ok {
			outer = lists.Depth()
		}
		err = r.lists(v, n, outer, kindOf(v) == tdict.KindText || says.of(key).Kind == tdict.KindText)
	}
	if err == nil {
		r.mask, err = maskBits(mask)
	}
	return r, err
}

// lists reads the values of lists, whose mask has outer levels. If they are texts, it only counts
// them.
func (r *leafRows) lists(v *ragged.Tensor, n, outer int, isText bool) error {
	all, layout, err := values(v)
	if err != nil {
		return err
	}
	rows := layout.Shape().Size()
	r.units, r.offsets = evenly(n, rows), evenly(rows, rows)
	depth := layout.Depth()
	if isText {
		depth--
	}
	for level := range depth {
		inner, err := layout.Offsets(level + 1)
		if err != nil {
			return err
		}
		if level < outer {
			pass(r.units, inner)
			units := int(inner[len(inner)-1])
			r.offsets = evenly(units, units)
		} else {
			pass(r.offsets, inner)
		}
	}
	if isText {
		return nil
	}
	width := v.Features().Size()
	for i := range r.offsets {
		r.offsets[i] *= int64(width)
	}
	if outer == depth {
		r.hides = width
	}
	r.values, err = floats(all)
	return err
}

// pass replaces offsets of lists by offsets of the elements of the lists.
func pass(offsets, inner []int64) {
	for i, at := range offsets {
		offsets[i] = inner[at]
	}
}

// evenly returns the offsets of n rows that have total values together.
func evenly(n, total int) []int64 {
	offsets := make([]int64, n+1)
	for i := range offsets {
		offsets[i] = int64(i * (total / max(1, n)))
	}
	return offsets
}

// floats returns the elements as float64.
func floats(t *tensor.Tensor) (all []float64, err error) {
	if t, err = t.Cast(tensor.Float64); err == nil {
		err = tensor.Read(t, func(v []float64) { all = slices.Clone(v) })
	}
	if all == nil {
		all = []float64{}
	}
	return all, err
}

// maskBits returns the bools of a mask, or nil for none.
func maskBits(mask tdict.Leaf) (bits []bool, err error) {
	switch mask := mask.(type) {
	case *ragged.Tensor:
		return bitsOf(mask)
	case *tensor.Tensor:
		err = tensor.Read(mask, func(v []bool) { bits = slices.Clone(v) })
	}
	return bits, err
}

// count counts the values of row i, and returns their sum.
func (r *leafRows) count(i int, leaf *GroupLeaf) (sum float64) {
	if r.values == nil {
		sum = math.NaN()
	}
	for unit := r.units[i]; unit < r.units[i+1]; unit++ {
		if r.mask != nil && !r.mask[unit] {
			leaf.Missing += r.hides
			continue
		}
		for at := r.offsets[unit]; at < r.offsets[unit+1]; at++ {
			switch {
			case r.values == nil:
				leaf.Count++
			case math.IsNaN(r.values[at]):
				leaf.NaN++
			default:
				leaf.Count++
				sum += r.values[at]
			}
		}
	}
	return sum
}
