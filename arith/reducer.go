package arith

import "github.com/go-tensordict/tensordict/internal/cast"

// A reducer is what one core does of a job.
type reducer[T cast.Fixed, D any] struct {
	*job[T, D]
	cut
	make    func() fold[T, D]
	fold    fold[T, D]
	x       []T
	bits    []byte
	dst     []D
	list    rowList
	room    []T // elements that count
	columns *columns[T, D]
}

// units does units from lo to before hi, each some groups and some lines side by side.
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

// unit does some groups of the lines from column c0 to before c1.
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

// group sets dst, whose first element is result number at, to the results of a group of rows.
func (w *reducer[T, D]) group(dst []D, at, o, from, to, c0 int) error {
	if w.bits != nil && w.sieve.each {
		return w.sift(dst, at, o, from, to, c0)
	}
	w.fold.begin(at, len(dst))
	w.feed(o, from, from, to, c0)
	return w.fold.end(dst)
}

// feed gives the fold the elements that count of the rows from lo to before hi of a group.
func (w *reducer[T, D]) feed(o, from, lo, hi, c0 int) {
	x := w.x[o*w.n*w.inner:]
	switch {
	case w.inner == 1 && w.bits == nil:
		w.fold.line(lo-from, x[lo:hi])
	case w.inner == 1 && w.sieve.rep == 1 && !w.positional:
		w.sifted(x[lo:hi], w.bits[o*w.sieve.outer+lo:][:hi-lo])
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

// listRows lists those rows from lo to before hi that count, in a group that begins with from.
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
		bit, left := o*w.sieve.outer+lo/w.sieve.rep, w.sieve.rep-lo%w.sieve.rep
		for r := lo; r < hi; r++ {
			if left == 0 {
				bit, left = bit+1, w.sieve.rep
			}
			offs[n], at[n] = r*w.inner, r-from
			n += int(w.bits[bit])
			left--
		}
	}
	w.list = rowList{offs[:n], at[:n]}
}

// eachRun calls fn with each run of elements, of the only line, that count.
func (w *reducer[T, D]) eachRun(o, from, to int, fn func(lo, hi int)) {
	bits, lo := w.bits[o*w.sieve.outer:], -1
	for j := from; j < to; j = min(to, (j/w.sieve.rep+1)*w.sieve.rep) {
		switch counts := bits[j/w.sieve.rep] != 0; {
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

// sifted gives the fold the elements of a line whose bit is set, many at a time.
func (w *reducer[T, D]) sifted(x []T, bits []byte) {
	w.room = grown(w.room, min(2*siftChunk, len(x))+1)
	n := 0
	for len(x) > 0 {
		k := min(len(x), siftChunk)
		n += compress(w.room[n:], x[:k], bits)
		x, bits = x[k:], bits[k:]
		n = w.flush(w.fold, w.room[:n], len(x) == 0)
	}
}

// siftChunk is how many elements are sifted at once.
const siftChunk = 4096

// flush gives a fold what has been sifted, or as much of it as is whole blocks, and returns how
// many elements are left at the beginning.
func (w *reducer[T, D]) flush(f fold[T, D], sifted []T, all bool) int {
	n := len(sifted) &^ (8*sumBlock - 1)
	if all {
		n = len(sifted)
	}
	if n == 0 {
		return len(sifted)
	}
	f.line(0, sifted[:n])
	return copy(sifted, sifted[n:])
}

// compress copies those elements of x whose bit is set, and returns how many they are. dst has room
// for one more than x has.
func compress[T any](dst, x []T, bits []byte) int {
	n := 0
	bits = bits[:len(x)]
	for i, v := range x {
		dst[n] = v
		n += int(bits[i])
	}
	return n
}
