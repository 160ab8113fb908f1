package arith

import "github.com/go-tensordict/tensordict/internal/cast"

// A reducer is the work of one core on a job.
type reducer[T cast.Fixed, D any] struct {
	*job[T, D]
	cut
	make    func() fold[T, D]
	fold    fold[T, D]
	x       []T
	bits    []byte
	dst     []D
	list    rowList
	room    []T // scratch for elements that count
	columns *columns[T, D]
}

// units reduces units lo to hi-1. Each unit is some groups of some lines side by side.
func (w *reducer[T, D]) units(lo, hi int) error {
	parts := len(w.parts) - 1
	if w.inner == 1 && w.bits == nil && w.splits == nil {
		return foldLines(w.fold, lo, w.dst[lo:hi], w.x[lo*w.n:hi*w.n], w.n)
	}
	for u := lo; u < hi; u++ {
		tile, part, o := u%w.tiles, u/w.tiles%parts, u/w.tiles/parts
		err := w.unit(o, w.parts[part], w.parts[part+1], tile*w.tile, min(w.inner, (tile+1)*w.tile))
		if err != nil {
			return err
		}
	}
	return nil
}

// unit reduces groups g0 to g1-1 of the lines at columns c0 to c1-1, at outer position o.
func (w *reducer[T, D]) unit(o, g0, g1, c0, c1 int) error {
	groups := w.groups()
	if w.inner == 1 && w.bits == nil && g1 > g0 && w.splits != nil {
		at := o * w.n
		return foldGroups(w.fold, o*groups+g0, w.dst[o*groups+g0:o*groups+g1], w.x[at+int(w.splits[g0]):], w.splits[g0:g1+1])
	}
	for g := g0; g < g1; g++ {
		at := (o*groups+g)*w.inner + c0
		from, to := w.rowsOf(g)
		if err := w.group(w.dst[at:at+c1-c0], at, o, from, to, c0); err != nil {
			return err
		}
	}
	return nil
}

// group reduces the group of rows [from, to). It sets dst, whose first element is result number at.
func (w *reducer[T, D]) group(dst []D, at, o, from, to, c0 int) error {
	if w.bits != nil && w.bitmask.each {
		return w.reduceColumns(dst, at, o, from, to, c0)
	}
	w.fold.begin(at, len(dst))
	w.feed(o, from, from, to, c0)
	return w.fold.end(dst)
}

// feed gives the fold the elements that count of rows lo to hi-1, in a group that begins at row
// from.
func (w *reducer[T, D]) feed(o, from, lo, hi, c0 int) {
	x := w.x[o*w.n*w.inner:]
	switch {
	case w.inner == 1 && w.bits == nil:
		w.fold.line(lo-from, x[lo:hi])
	case w.inner == 1 && w.bitmask.rep == 1 && !w.positional:
		w.compressLine(x[lo:hi], w.bits[o*w.bitmask.outer+lo:][:hi-lo])
	case w.inner == 1:
		w.eachRun(o, lo, hi, func(lo, hi int) { w.fold.line(lo-from, x[lo:hi]) })
	default:
		for ; lo < hi; lo += 256 {
			w.listRows(o, from, lo, min(hi, lo+256))
			if len(w.list.at) > 0 {
				w.fold.rows(x[c0:], w.list)
			}
		}
	}
}

// listRows lists the rows that count from lo to hi-1, in a group that begins at row from.
func (w *reducer[T, D]) listRows(o, from, lo, hi int) {
	if w.list.at == nil {
		w.list = rowList{make([]int, 256), make([]int, 256)}
	}
	offs, at, n := w.list.offs[:256], w.list.at[:256], 0
	if w.bits == nil {
		for r := lo; r < hi; r++ {
			offs[n], at[n] = r*w.inner, r-from
			n++
		}
	} else {
		bit, left := o*w.bitmask.outer+lo/w.bitmask.rep, w.bitmask.rep-lo%w.bitmask.rep
		for r := lo; r < hi; r++ {
			if left == 0 {
				bit, left = bit+1, w.bitmask.rep
			}
			offs[n], at[n] = r*w.inner, r-from
			n += int(w.bits[bit])
			left--
		}
	}
	w.list = rowList{offs[:n], at[:n]}
}

// eachRun calls fn with each run of elements that count, of a line that lies by itself.
func (w *reducer[T, D]) eachRun(o, from, to int, fn func(lo, hi int)) {
	bits, lo := w.bits[o*w.bitmask.outer:], -1
	for j := from; j < to; j = min(to, (j/w.bitmask.rep+1)*w.bitmask.rep) {
		switch counts := bits[j/w.bitmask.rep] != 0; {
		case counts && lo < 0:
			lo = j
		case !counts && lo >= 0:
			fn(lo, j)
			lo = -1
		}
	}
	if lo >= 0 {
		fn(lo, to)
	}
}

// compressLine gives the fold the elements of a line whose bit is 1, many at a time.
func (w *reducer[T, D]) compressLine(x []T, bits []byte) {
	w.room = grown(w.room, min(2*compressChunk, len(x))+1)
	n := 0
	for len(x) > 0 {
		k := min(len(x), compressChunk)
		n += compress(w.room[n:], x[:k], bits)
		x, bits = x[k:], bits[k:]
		n = w.flush(w.fold, w.room[:n], len(x) == 0)
	}
}

// compressChunk is the number of elements that are compressed at once.
const compressChunk = 4096

// flush gives a fold the collected elements: whole groups of eight blocks, or, if all is true, all
// of them. It moves the rest to the beginning and returns their number.
func (w *reducer[T, D]) flush(f fold[T, D], collected []T, all bool) int {
	n := len(collected) &^ (8*sumBlock - 1)
	if all {
		n = len(collected)
	}
	if n == 0 {
		return len(collected)
	}
	f.line(0, collected[:n])
	return copy(collected, collected[n:])
}

// compress copies the elements of x whose bit is 1 to dst, and returns their number. It may write
// one element more than that; dst has room for len(x)+1.
func compress[T any](dst, x []T, bits []byte) int {
	n := 0
	bits = bits[:len(x)]
	for i, v := range x {
		dst[n] = v
		n += int(bits[i])
	}
	return n
}
