package arith

// wideChunk is the number of elements that are widened at once. It is a multiple of sumBlock.
const wideChunk = 2048

// A wideFold is a fold that widens elements, and gives them to another fold.
type wideFold[S, T, D any] struct {
	fold[T, D]
	widen  func(dst []T, src []S)
	nlines int
	room   []T
	list   rowList
}

func widen[S, T, D any](to func(dst []T, src []S), f fold[T, D]) fold[S, D] {
	return &wideFold[S, T, D]{fold: f, widen: to}
}

// widenRecipe returns the recipe r with elements widened first.
func widenRecipe[S, T, D any](r recipe[T, D], to func(dst []T, src []S)) recipe[S, D] {
	out := recipe[S, D]{positional: r.positional, joins: r.joins, tile: r.tile}
	out.fold = func(first []D) fold[S, D] { return widen(to, r.fold(first)) }
	if r.first != nil {
		out.first = func() fold[S, D] { return widen(to, r.first()) }
	}
	return out
}

// grown returns room if it has n elements, otherwise new memory of n elements.
func grown[T any](room []T, n int) []T {
	if len(room) < n {
		return make([]T, n)
	}
	return room
}

func (w *wideFold[S, T, D]) begin(at, lines int) {
	w.fold.begin(at, lines)
	w.nlines = lines
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
	w.room = grown(w.room, max(w.nlines, min(wideChunk, w.nlines*len(r.at))))
	for n := w.nlines; len(r.at) > 0; {
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
