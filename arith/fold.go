package arith

// A fold reduces one line, or several lines side by side, to one result each. It takes the elements
// of a line in order, some at a time. It is reused for one set of lines after another, on one core.
type fold[T, D any] interface {
	// begin starts the given number of lines. Their results begin at number at.
	begin(at, lines int)
	// line takes elements of the only line. The first is at position at of the line.
	line(at int, x []T)
	// rows takes rows of x, each with one element for each line.
	rows(x []T, r rowList)
	// end sets dst to the results.
	end(dst []D) error
}

// A rowList lists rows: offs are their offsets in a slice, at their positions in the lines.
type rowList struct{ offs, at []int }

// first removes the first n rows and returns them.
func (r *rowList) first(n int) rowList {
	head := rowList{r.offs[:n], r.at[:n]}
	r.offs, r.at = r.offs[n:], r.at[n:]
	return head
}

// A liner is a fold that takes many short lines of n elements in one call. Their results begin at
// number at.
type liner[T, D any] interface {
	lines(at int, dst []D, x []T, n int) error
}

// A grouper is a fold that takes many short groups of a line in one call.
type grouper[T, D any] interface {
	groups(at int, dst []D, x []T, splits []int64) error
}

// A joiner is a fold that can be joined with the fold of the elements that follow its own. The rows
// before a joined fold must be a multiple of pieceRows.
type joiner[T, D any] interface {
	join(next fold[T, D])
}

// foldLines reduces each line of n elements.
func foldLines[T, D any](f fold[T, D], at int, dst []D, x []T, n int) error {
	if l, ok := f.(liner[T, D]); ok {
		return l.lines(at, dst, x, n)
	}
	for i := range dst {
		f.begin(at+i, 1)
		f.line(0, x[i*n:(i+1)*n])
		if err := f.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// foldGroups reduces each group of a line. x begins with the first group.
func foldGroups[T, D any](f fold[T, D], at int, dst []D, x []T, splits []int64) error {
	if g, ok := f.(grouper[T, D]); ok {
		return g.groups(at, dst, x, splits)
	}
	for i := range dst {
		f.begin(at+i, 1)
		f.line(0, x[splits[i]-splits[0]:splits[i+1]-splits[0]])
		if err := f.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}
