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

// wideChunk is how many elements are widened at once: whole blocks of a sum.
const wideChunk = 2048

// A wideFold is a fold of elements that another takes widened.
type wideFold[S, T, D any] struct {
	fold[T, D]
	widen func(dst []T, src []S)
	lined int
	room  []T
	list  rowList
}

func widen[S, T, D any](to func(dst []T, src []S), f fold[T, D]) fold[S, D] {
	return &wideFold[S, T, D]{fold: f, widen: to}
}

// grown returns room for n elements, room itself if it has it.
func grown[T any](room []T, n int) []T {
	if len(room) < n {
		return make([]T, n)
	}
	return room
}

func (w *wideFold[S, T, D]) begin(at, lines int) {
	w.fold.begin(at, lines)
	w.lined = lines
}

func (w *wideFold[S, T, D]) line(at int, x []S) {
	for len(x) > 0 {
		n := min(len(x), wideChunk)
		w.room = grown(w.room, n)
		w.widen(w.room[:n], x[:n])
		w.fold.line(at, w.room[:n])
		at, x = at+n, x[n:]
	}
}

func (w *wideFold[S, T, D]) rows(x []S, r rowList) {
	w.room = grown(w.room, max(w.lined, min(wideChunk, w.lined*len(r.at))))
	for n := w.lined; len(r.at) > 0; {
		part := r.first(min(len(r.at), max(1, len(w.room)/n)))
		w.list.offs = w.list.offs[:0]
		for i, off := range part.offs {
			w.widen(w.room[i*n:(i+1)*n], x[off:off+n])
			w.list.offs = append(w.list.offs, i*n)
		}
		w.fold.rows(w.room, rowList{w.list.offs, part.at})
	}
}

func (w *wideFold[S, T, D]) lines(at int, dst []D, x []S, n int) error {
	most := wideChunk / max(1, n)
	w.room = grown(w.room, min(wideChunk, len(x)))
	for len(dst) > 0 && most > 0 {
		k := min(most, len(dst))
		w.widen(w.room[:k*n], x[:k*n])
		if err := foldLines(w.fold, at, dst[:k], w.room[:k*n], n); err != nil {
			return err
		}
		at, dst, x = at+k, dst[k:], x[k*n:]
	}
	for i := range dst {
		w.begin(at+i, 1)
		w.line(0, x[i*n:(i+1)*n])
		if err := w.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (w *wideFold[S, T, D]) join(next fold[S, D]) {
	w.fold.(joiner[T, D]).join(next.(*wideFold[S, T, D]).fold)
}
