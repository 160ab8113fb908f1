package sampler

import (
	"fmt"
	"slices"
)

// GroupBatchOptions say how many groups a batch has: as many as fit. Groups or MaxRows must be set;
// if both are, the limit that is reached first ends a batch.
type GroupBatchOptions struct {
	Groups   int  // largest number of groups in a batch; 0 means no limit
	MaxRows  int  // largest number of rows in a batch; 0 means no limit
	DropLast bool // leave out the last batch if the order ends before it is full
}

// Batches returns a batching of whole groups, for the source whose ids were given to [NewGroups]:
//
//	order of groups -> batches, each with its rows and the splits of its groups
//
// The units that a sampler orders are groups, so Shard divides groups among ranks. The Splits of a
// batch are always set: they begin with 0, and there is one more than groups. If the rows of each
// group are consecutive and the order is [Sequential], batches may be views.
//
// With Groups alone, an epoch needs no preparation, and any batch is found in constant time. With
// MaxRows, groups are packed in their order, in one pass at the beginning of the epoch. Then the
// order must end: otherwise Plan returns [ErrSize].
//
// Batches returns [ErrSize] if opt has no limit or a negative one, and [ErrTooLong], with the
// group, if a group has more than MaxRows rows. The batching's Units returns [ErrUnits] for a
// source with another number of rows.
func (g *Groups) Batches(opt GroupBatchOptions) (Batching, error) {
	if opt.Groups < 0 || opt.MaxRows < 0 || opt.Groups == 0 && opt.MaxRows == 0 {
		return nil, fmt.Errorf("%w: got batches of %d groups and %d rows at most, want neither negative and one of them at least 1",
			ErrSize, opt.Groups, opt.MaxRows)
	}
	for group := range g.Len() {
		if size := g.size(group); opt.MaxRows > 0 && size > opt.MaxRows {
			return nil, fmt.Errorf("%w: got %d rows in group %d with id %s, want at most %d",
				ErrTooLong, size, group, g.id(group), opt.MaxRows)
		}
	}
	return groupBatching{g, opt, opt.text(g)}, nil
}

// text describes the batching.
func (opt GroupBatchOptions) text(g *Groups) string {
	text := boundsText(" of %d groups", opt.Groups, opt.MaxRows, opt.DropLast)
	return fmt.Sprintf("%s: %d groups of %d rows %s %s", text, g.Len(), g.numRows(), digest(g.starts), digest(g.rows))
}

type groupBatching struct {
	groups *Groups
	opt    GroupBatchOptions
	text   string
}

// Units implements [Batching].
func (b groupBatching) Units(n int) (int, error) {
	if want := b.groups.numRows(); n != want {
		return 0, fmt.Errorf("%w: got a source of %d rows, want %d, the number of ids", ErrUnits, n, want)
	}
	return b.groups.Len(), nil
}

// Plan implements [Batching].
func (b groupBatching) Plan(o Order, _ int) (Plan, error) {
	_, inOrder := o.(ascending)
	p := groupPlan{groups: b.groups, order: o, run: inOrder && b.groups.rows == nil}
	if b.opt.MaxRows == 0 {
		return &groupCount{p, b.opt.Groups, count(o.Len(), b.opt.Groups, b.opt.DropLast)}, nil
	}
	if o.Len() == NoEnd {
		return nil, fmt.Errorf("%w: got an endless order, want one with an end for batches by rows: set only Groups", ErrSize)
	}
	return &groupPack{p, b.pack(o)}, nil
}

// String implements [Batching].
func (b groupBatching) String() string { return b.text }

// pack returns 0 and the positions of an order at which batches end.
func (b groupBatching) pack(o Order) []int {
	cuts, first, rows := []int{0}, 0, 0
	for position, unit := range each(o) {
		size := b.groups.size(unit % b.groups.Len())
		if b.full(position-first, rows) || rows+size > b.opt.MaxRows {
			cuts, first, rows = append(cuts, position), position, 0
		}
		rows += size
	}
	if first == o.Len() || b.opt.DropLast && !b.full(o.Len()-first, rows) {
		return cuts
	}
	return append(cuts, o.Len())
}

// full reports whether a batch with that many groups and rows has no room for another group.
func (b groupBatching) full(groups, rows int) bool {
	return b.opt.Groups > 0 && groups == b.opt.Groups || rows == b.opt.MaxRows
}

// A groupPlan is the common part of the plans of groupBatching.
type groupPlan struct {
	groups *Groups
	order  Order
	run    bool
}

// batch returns the batch of the groups at positions start up to, not including, stop of the order.
func (p *groupPlan) batch(start, stop int, dst Batch) Batch {
	rows := taken(p.order, dst.Rows[:0], start, stop)
	units := len(rows) // rows begins with the units, which are overwritten below
	splits := append(dst.Splits[:0], 0)
	for i := range units {
		rows = p.groups.appendUnit(rows, rows[i])
		splits = append(splits, int64(len(rows)-units))
	}
	copy(rows, rows[units:])
	return Batch{Rows: rows[:len(rows)-units], Splits: splits, Run: p.run}
}

// appendUnit appends the rows of a unit of an order: a group, or a repetition of one.
func (g *Groups) appendUnit(dst []int, unit int) []int {
	shift := 0
	if n := g.Len(); unit >= n {
		shift = again(0, unit/n, g.numRows())
		unit %= n
	}
	start, stop, at := g.starts[unit], g.starts[unit+1], len(dst)
	dst = slices.Grow(dst, stop-start)[:at+stop-start]
	if g.rows == nil {
		for i := range dst[at:] {
			dst[at+i] = start + i + shift
		}
		return dst
	}
	for i, row := range g.rows[start:stop] {
		dst[at+i] = row + shift
	}
	return dst
}

// A groupCount is a [Plan] of batches of size groups.
type groupCount struct {
	groupPlan
	size, count int
}

// Len implements [Plan].
func (p *groupCount) Len() int { return p.count }

// Batch implements [Plan].
func (p *groupCount) Batch(k int, dst Batch) Batch {
	start := k * p.size
	return p.batch(start, start+min(p.size, p.order.Len()-start), dst)
}

// A groupPack is a [Plan] of batches with a limit on rows.
type groupPack struct {
	groupPlan
	cuts []int // batch k has the positions from cuts[k] to cuts[k+1]
}

// Len implements [Plan].
func (p *groupPack) Len() int { return len(p.cuts) - 1 }

// Batch implements [Plan].
func (p *groupPack) Batch(k int, dst Batch) Batch {
	return p.batch(p.cuts[k], p.cuts[k+1], dst)
}
