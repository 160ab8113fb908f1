package sampler

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Apart says how [NewGroups] treats rows with equal ids that are not consecutive.
type Apart uint8

// The values of [GroupOptions].Apart.
const (
	GatherApart   Apart = iota // one group, at the position of its first row; rows keep their order
	SeparateApart              // each run of equal ids is a group
	RefuseApart                // ErrApart
)

// GroupOptions say which rows form a group.
type GroupOptions struct {
	Apart Apart // treatment of rows that are not consecutive
}

// Groups are the rows of a dataset that belong together, such as the rows of a patient or of a
// query. Rows with equal ids form a group. [NewGroups] returns Groups. They are numbered from 0 in
// the order of their first rows.
//
// With [Groups.Batches] a sampler orders groups instead of rows: Random puts the groups in random
// order, and the rows of each group keep their order.
//
// Safe for concurrent use.
type Groups struct {
	ids      []int64 // of each group
	starts   []int   // group g has the rows from starts[g] to starts[g+1], or that part of rows
	rows     []int   // row numbers, group by group; nil if they are 0, 1, 2 and so on
	unsigned bool    // ids are the bits of a uint64
}

// NewGroups returns the groups of rows with equal ids:
//
//	ids [N], integers or bools -> at most N groups
//
// If the rows of each group are consecutive, as with sorted ids, NewGroups keeps only the start of
// each group; otherwise also a list of N rows. It keeps no reference to ids.
//
// NewGroups returns tensor.ErrKind if ids is nil, shapeops.ErrDim unless it has one dim,
// tensor.ErrDType unless it holds integers or bools, [ErrApart], with an id and two rows, if a
// group is not consecutive and opt.Apart is RefuseApart, [ErrSize] if opt.Apart is not one of the
// constants, and an error if ids cannot be read.
func NewGroups(ids *tensor.Tensor, opt GroupOptions) (*Groups, error) {
	if err := checkIDs(ids); err != nil {
		return nil, err
	}
	if opt.Apart > RefuseApart {
		return nil, fmt.Errorf("%w: got Apart(%d), want GatherApart, SeparateApart or RefuseApart", ErrSize, opt.Apart)
	}
	runs, err := readRuns(ids)
	if err != nil {
		return nil, err
	}
	if opt.Apart == SeparateApart || ascend(runs.ids) {
		return runs, nil
	}
	return runs.joined(opt.Apart)
}

// checkIDs returns an error about a tensor of ids, except about its dtype.
func checkIDs(ids *tensor.Tensor) error {
	if ids == nil {
		return fmt.Errorf("%w: got a nil tensor of ids, want integers: number other ids first", tensor.ErrKind)
	}
	if len(ids.Shape()) != 1 {
		return fmt.Errorf("%w: got ids %v, want one dim", shapeops.ErrDim, ids.Shape())
	}
	return nil
}

// readRuns returns Groups in which each run of equal ids is a group.
func readRuns(ids *tensor.Tensor) (*Groups, error) {
	switch d := ids.DType(); {
	case d == tensor.Uint64:
		return runsOf[uint64](ids)
	case !d.IsInteger() && d != tensor.Bool:
		return nil, fmt.Errorf("%w: got ids of %v, want integers or bools", tensor.ErrDType, d)
	case d != tensor.Int64:
		wide, err := ids.Cast(tensor.Int64)
		if err != nil {
			return nil, err
		}
		ids = wide
	}
	return runsOf[int64](ids)
}

func runsOf[T int64 | uint64](ids *tensor.Tensor) (*Groups, error) {
	g := &Groups{unsigned: ids.DType() == tensor.Uint64}
	err := tensor.Read(ids, func(all []T) {
		g.starts = groupStarts(all)
		g.ids = make([]int64, len(g.starts)-1)
		for i := range g.ids {
			g.ids[i] = int64(all[g.starts[i]])
		}
	})
	return g, err
}

// ascend reports whether each id is greater than the one before, so that all are different.
func ascend(ids []int64) bool {
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			return false
		}
	}
	return true
}

// joined returns Groups in which runs with equal ids are one group, or ErrApart. g must not be used
// afterwards.
func (g *Groups) joined(apart Apart) (*Groups, error) {
	table, of := newIDTable(g.ids), g.ids // of: ids, replaced by group numbers below
	all := &Groups{unsigned: g.unsigned}
	var firsts []int // the first run of each group
	for run, id := range g.ids {
		group := table.number(id)
		if group == len(firsts) {
			firsts, all.ids = append(firsts, run), append(all.ids, id)
		} else if apart == RefuseApart {
			return nil, fmt.Errorf("%w: got id %s in row %d and, after other ids, in row %d",
				ErrApart, g.id(run), g.starts[firsts[group]], g.starts[run])
		}
		of[run] = int64(group)
	}
	if len(firsts) == len(of) {
		all.starts = g.starts
	} else {
		all.starts, all.rows = gathered(of, g.starts, len(all.ids))
	}
	return all, nil
}

// gathered returns the starts of groups, and their rows, group by group. of is the group of each
// run, and runs are the starts of the runs.
func gathered(of []int64, runs []int, groups int) (starts, rows []int) {
	starts, rows = make([]int, groups+1), make([]int, runs[len(of)])
	for run, group := range of {
		starts[group+1] += runs[run+1] - runs[run]
	}
	for group := range groups {
		starts[group+1] += starts[group]
	}
	next := slices.Clone(starts)
	for run, group := range of {
		at := next[group]
		for row := runs[run]; row < runs[run+1]; row++ {
			rows[at] = row
			at++
		}
		next[group] = at
	}
	return starts, rows
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.ids) }

// Firsts returns the first row of each group. Take it of a field to get one value for each group,
// such as a label to order groups by. Each call returns a new slice.
func (g *Groups) Firsts() []int {
	firsts := make([]int, g.Len())
	copy(firsts, g.starts)
	if g.rows != nil {
		for i, start := range firsts {
			firsts[i] = g.rows[start]
		}
	}
	return firsts
}

// Sizes returns the number of rows of each group. Each call returns a new slice.
func (g *Groups) Sizes() []int {
	sizes := make([]int, g.Len())
	for i := range sizes {
		sizes[i] = g.size(i)
	}
	return sizes
}

// size returns the number of rows of a group.
func (g *Groups) size(group int) int { return g.starts[group+1] - g.starts[group] }

// numRows returns the number of rows of all groups.
func (g *Groups) numRows() int { return g.starts[g.Len()] }

// id returns the id of a group as text.
func (g *Groups) id(group int) string {
	if g.unsigned {
		return strconv.FormatUint(uint64(g.ids[group]), 10)
	}
	return strconv.FormatInt(g.ids[group], 10)
}
