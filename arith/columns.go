package arith

// A columns collects the elements that count of several lines side by side, whose masks differ.
type columns[T, D any] struct {
	folds []fold[T, D]
	step  int    // elements of room for each line
	room  []T    // the collected elements, line by line
	bits  []byte // the mask of a row
	count []int  // number of elements in room, for each line
}

// Lines and rows that are handled at once.
const (
	columnsAtOnce = 64
	rowsAtOnce    = 256
	lineStep      = 8*sumBlock + rowsAtOnce + 16 // the 16 keep lines from sharing a cache set
)

// reduceColumns reduces the group of rows [from, to), where each element has its own mask bit,
// beginning at column c0. It sets dst, whose first element is result number at.
func (w *reducer[T, D]) reduceColumns(dst []D, at, o, from, to, c0 int) error {
	if w.columns == nil {
		n, step := min(columnsAtOnce, w.inner), min(lineStep, w.n+16)
		w.columns = &columns[T, D]{step: step, room: make([]T, n*step), bits: make([]byte, n), count: make([]int, n)}
		for range n {
			w.columns.folds = append(w.columns.folds, w.make())
		}
	}
	for done := 0; done < len(dst); done += columnsAtOnce {
		n := min(columnsAtOnce, len(dst)-done)
		for c, f := range w.columns.folds[:n] {
			f.begin(at+done+c, 1)
		}
		clear(w.columns.count)
		for lo := from; lo < to; lo += rowsAtOnce {
			w.collectRows(o, from, lo, min(to, lo+rowsAtOnce), c0+done, n)
		}
		for c, f := range w.columns.folds[:n] {
			w.flush(f, w.columns.room[c*w.columns.step:][:w.columns.count[c]], true)
			if err := f.end(dst[done+c : done+c+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// collectRows gives the elements that count, of rows lo to hi-1, to the folds of n columns from c0
// on.
func (w *reducer[T, D]) collectRows(o, from, lo, hi, c0, n int) {
	if w.positional {
		w.collectPositions(o, from, lo, hi, c0, n)
		return
	}
	cs := w.columns
	for r := lo; r < hi; r++ {
		x := w.x[(o*w.n+r)*w.inner+c0:][:n]
		bits, count := w.rowBits(o, r, c0, n), cs.count[:n]
		for c, v := range x {
			k := count[c]
			cs.room[c*cs.step+k] = v
			count[c] = k + int(bits[c])
		}
	}
	for c, f := range cs.folds[:n] {
		cs.count[c] = w.flush(f, cs.room[c*cs.step:][:cs.count[c]], false)
	}
}

// rowBits returns the mask bits of n elements of a row.
func (w *reducer[T, D]) rowBits(o, r, c0, n int) []byte {
	row := w.bits[o*w.bitmask.outer+r*w.bitmask.row:]
	if w.bitmask.rep == 1 {
		return row[c0 : c0+n]
	}
	out := w.columns.bits[:n]
	for c := range out {
		out[c] = row[(c0+c)/w.bitmask.rep]
	}
	return out
}

// collectPositions is collectRows for folds that need positions: it gives them one run at a time.
func (w *reducer[T, D]) collectPositions(o, from, lo, hi, c0, n int) {
	cs := w.columns
	for c, f := range cs.folds[:n] {
		run := -1
		for r := lo; r < hi; r++ {
			cs.room[r-lo] = w.x[(o*w.n+r)*w.inner+c0+c]
			counts := w.bits[o*w.bitmask.outer+r*w.bitmask.row+(c0+c)/w.bitmask.rep] != 0
			if counts && run < 0 {
				run = r
			}
			if run >= 0 && (!counts || r == hi-1) {
				end := r
				if counts {
					end++
				}
				f.line(run-from, cs.room[run-lo:end-lo])
				run = -1
			}
		}
	}
}
