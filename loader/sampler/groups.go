package sampler

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Apart says what [NewGroups] makes of rows with equal ids that other rows lie between.
type Apart uint8

// What becomes of rows that lie apart.
const (
	GatherApart   Apart = iota // one group, in the place of its first row; rows keep their order
	SeparateApart              // each run of equal ids is a group
	RefuseApart                // an error, ErrApart
)

// GroupOptions say what is a group.
type GroupOptions struct {
	Apart Apart // of rows that lie apart
}

// Groups are the rows of a dataset that belong together, as those of a patient or of a query. Equal
// ids say which do. [NewGroups] makes Groups. They are numbered from 0 in the order of their first
// rows.
//
// With [Groups.Batches] a sampler orders groups instead of rows: Random puts them in a random
// order, and the rows of each keep theirs.
//
// Safe for concurrent use.
type Groups struct {
	ids      []int64 // of each group
	starts   []int   // group g has the rows from starts[g] to starts[g+1], or has them in rows there
	rows     []int   // group by group; nil if that is 0, 1, 2 and so on
	unsigned bool    // ids are the bits of a uint64
}

// NewGroups returns the groups that the ids of the rows say:
//
//	ids [N], integers or bools -> at most N groups
//
// If each group lies together, which it does if ids are sorted, only where groups begin is kept;
// else that and a list of N rows. The result shares no memory with ids.
//
// NewGroups returns tensor.ErrKind if ids is nil, shapeops.ErrDim unless it has one dim,
// tensor.ErrDType unless it holds integers or bools, [ErrApart], which names an id and two rows, if
// a group lies apart and opt refuses that, [ErrSize] if opt is none of the constants, and an error
// if ids cannot be read.
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

// checkIDs returns what is wrong with a tensor of ids, besides its dtype.
func checkIDs(ids *tensor.Tensor) error {
	if ids == nil {
		return fmt.Errorf("%w: got a nil tensor of ids, want integers: number other ids first", tensor.ErrKind)
	}
	if len(ids.Shape()) != 1 {
		return fmt.Errorf("%w: got ids %v, want one dim", shapeops.ErrDim, ids.Shape())
	}
	return nil
}

// readRuns returns each run of equal ids as a group.
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

// ascend reports whether each id is above the one before, so that none is there twice.
func ascend(ids []int64) bool {
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			return false
		}
	}
	return true
}

// joined returns the groups that runs with equal ids make together, or ErrApart. The runs end.
func (g *Groups) joined(apart Apart) (*Groups, error) {
	table, of := newIDTable(g.ids), g.ids // which become numbers of groups
	all := &Groups{unsigned: g.unsigned}
	var firsts []int // the first run of each group
	for run, id := range g.ids {
		group := table.number(id)
		if group == len(firsts) {
			firsts, all.ids = append(firsts, run), append(all.ids, id)
		} else if apart == RefuseApart {
			return nil, fmt.Errorf("%w: got id %s in row %d and, after others, in row %d, want equal ids together",
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

// gathered returns where groups start, of which each run belongs to one, and the rows, group by
// group.
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

// Len returns how many groups there are.
func (g *Groups) Len() int { return len(g.ids) }

// Firsts returns the first row of each group: what a field has there is one value a group, such as
// a label to order groups by. Each call returns a new slice.
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
