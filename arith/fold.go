package arith

// A fold takes the elements of a line in their order, some at a time, or those of several lines
// that lie side by side, and makes one result of each. It serves one line after another, on one
// core.
type fold[T, D any] interface {
	// begin begins with so many lines, of which the first result is number at.
	begin(at, lines int)
	// line takes elements of the only line, the first of which is at a position of it.
	line(at int, x []T)
	// rows takes rows, each with one element of each line.
	rows(x []T, r rowList)
	// end sets dst to the results.
	end(dst []D) error
}

// A rowList says where rows begin in a slice, and which position each has in its lines.
type rowList struct{ offs, at []int }

// first cuts off the first rows.
func (r *rowList) first(n int) rowList {
	head := rowList{r.offs[:n], r.at[:n]}
	r.offs, r.at = r.offs[n:], r.at[n:]
	return head
}

// A liner is a fold that takes many short lines of n elements at once: their results begin with
// number at.
type liner[T, D any] interface {
	lines(at int, dst []D, x []T, n int) error
}

// A grouper is a fold that takes many short groups of a line at once.
type grouper[T, D any] interface {
	groups(at int, dst []D, x []T, splits []int64) error
}

// A joiner is a fold that can go on with what another of its kind has made of the elements that
// follow, if those before it are pieceRows rows or a multiple.
type joiner[T, D any] interface {
	join(next fold[T, D])
}

// foldLines makes a result of each line of n elements.
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

// foldGroups makes a result of each group of a line, which x begins with the first of.
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
