package tensor

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shape"
)

// FillRuns adds dst[To:To+Len] = src[From:From+Len] along dim 0 for each run, and dst[row] = the
// only element of value for each row that no run sets:
//
//	src [N F...], dst [M F...], value with one element, of any shape
//
// It has the same result as [Transfer.Fill] followed by [Transfer.Runs]. If dst and each row of src
// are contiguous, and neither src nor value shares dst's memory, it is computed in one pass over
// dst, on several cores if dst is large. Then the whole of src counts as read when the Transfer
// looks for overlaps. Otherwise FillRuns adds a Fill and Runs.
//
// The runs must be sorted by To and must not overlap in dst. The Transfer keeps runs, which must
// not change before Run. FillRuns returns shape.ErrIndex if a run is out of range of dst or src,
// or begins in dst before the end of the run before it. It returns shape.ErrShape unless value
// has exactly one element.
func (tr *Transfer) FillRuns(dst, src, value *Tensor, runs []shape.Run) error {
	copied, err := checkFillRuns(dst, src, value, runs)
	if err != nil || dst.Size() == 0 {
		return err
	}
	row := shape.View{Shape: src.view.Shape[1:], Strides: src.view.Strides[1:]}
	if !dst.view.IsContiguous() || !row.IsContiguous() || dst.SharesMemory(src) || dst.SharesMemory(value) {
		return tr.whole(func() error {
			if err := tr.Fill(dst, value); err != nil {
				return err
			}
			return tr.Runs(dst, src, runs)
		})
	}
	tr.runFill(&runFill{dst: dst, src: src, value: value, runs: runs, copied: copied})
	return nil
}

// checkFillRuns returns the number of rows that the runs copy, or why they cannot be copied.
func checkFillRuns(dst, src, value *Tensor, runs []shape.Run) (copied int, err error) {
	if err := checkRows(dst, src); err != nil {
		return 0, err
	}
	if err := checkFill(dst, value); err != nil {
		return 0, fmt.Errorf("value: %w", err)
	}
	to, from, end := dst.view.Shape[0], src.view.Shape[0], 0
	for i, r := range runs {
		if r.Len < 0 || r.To < end || r.To > to-r.Len || r.From < 0 || r.From > from-r.Len {
			return 0, cmp.Or(plan.CheckRuns(runs[:i+1], to, from), fmt.Errorf(
				"%w: run %d: got row %d of the destination, want row %d or later, where run %d ends",
				shape.ErrIndex, i, r.To, end, i-1))
		}
		end = r.To + r.Len
		copied += r.Len
	}
	return copied, nil
}

// runFill adds f, whose sides share no memory.
func (tr *Transfer) runFill(f *runFill) {
	width, group := f.dst.dtype.Size(), len(tr.moves)+1
	f.row, f.step = f.dst.view.Shape[1:].Size()*width, f.src.view.Strides[0]*width
	tr.side(group, f.dst, writes)
	tr.side(group, f.value, reads)
	if f.copied > 0 {
		tr.side(group, f.src, reads)
	} else {
		f.src, f.runs = f.value, nil // src may have no memory
	}
	tr.task(f)
}

// A runFill copies runs of rows to a tensor and fills the rows between them.
type runFill struct {
	dst, src, value *Tensor
	runs            []shape.Run // none if all are empty
	copied          int         // number of rows in all runs
	row             int         // size of a row in bytes
	step            int         // distance between rows of src in bytes
	pattern         []byte      // value, repeated; nil if all its bytes are zero
}

const (
	// patternBytes is how much of a pattern is copied at a time. It stays in the nearest cache.
	patternBytes = 4 << 10
	// Runs of at most shortBytes on average are copied over aheadBytes that were filled at once and
	// are still in the cache: that is faster than to fill many short stretches.
	shortBytes, aheadBytes = 1 << 10, 16 << 10
	// hugeBytes is from where on clear writes past the caches, which is twice as fast. Then a part
	// is cleared at once.
	hugeBytes = 32 << 20
)

// prepare reads the fill value.
func (f *runFill) prepare(bool, int) error {
	var arena [16]byte
	element := arena[:f.dst.dtype.Size()]
	if err := f.value.use(func(b []byte) { copy(element, f.value.own(b)) }); err != nil {
		return err
	}
	if f.pattern = nil; arena != [16]byte{} {
		f.pattern = make([]byte, min(patternBytes, f.dst.ByteSize()))
		cast.Repeat(f.pattern, element)
	}
	return nil
}

// run does the fill on at most most cores. The Transfer holds the memory.
func (f *runFill) run(most int) error {
	return useBoth(f.dst, f.src, func(to, from []byte) error { return f.parts(to, from, most) })
}

// parts divides the rows of the destination among the cores.
func (f *runFill) parts(to, from []byte, most int) error {
	to = f.dst.own(to)
	if f.copied > 0 {
		from = from[f.src.view.Offset*f.src.dtype.Size():]
	}
	rows := f.dst.view.Shape[0]
	cores := workers.Count(most, min(len(to)/parallelBytes+1, rows))
	return workers.Do(context.Background(), cores, cores, func(w int) error {
		return f.part(to, from, rows*w/cores, rows*(w+1)/cores)
	})
}

// part sets rows lo to hi of the destination. A fault in lent memory is an error.
func (f *runFill) part(to, from []byte, lo, hi int) error {
	return guarded(f.dst.mem, f.src.mem, func() { f.rows(to, from, lo, hi) })
}

// rows sets rows lo to hi of the destination.
func (f *runFill) rows(to, from []byte, lo, hi int) {
	runs := f.runs[f.first(lo):]
	n := f.ahead(hi - lo)
	if n == 0 {
		f.between(to, from, runs, lo, hi)
		return
	}
	for ; lo < hi; lo += n {
		end := min(lo+n, hi)
		f.fill(to[lo*f.row : end*f.row])
		runs = f.over(to, from, runs, lo, end)
	}
}

// over copies the runs to rows lo to hi, and returns the runs that continue after hi.
func (f *runFill) over(to, from []byte, runs []shape.Run, lo, hi int) []shape.Run {
	for i, r := range runs {
		if r.To >= hi {
			return runs[i:]
		}
		start, end := max(r.To, lo), min(r.To+r.Len, hi)
		f.copy(to[start*f.row:end*f.row], from, r.From+start-r.To)
		if r.To+r.Len > hi {
			return runs[i:]
		}
	}
	return nil
}

// between copies the runs to rows lo to hi, and fills the rows between them.
func (f *runFill) between(to, from []byte, runs []shape.Run, lo, hi int) {
	for _, r := range runs {
		if r.To >= hi {
			break
		}
		start, end := max(r.To, lo), min(r.To+r.Len, hi)
		f.fill(to[lo*f.row : start*f.row])
		f.copy(to[start*f.row:end*f.row], from, r.From+start-r.To)
		lo = end
	}
	f.fill(to[lo*f.row : hi*f.row])
}

// first returns the index of the first run that ends after row.
func (f *runFill) first(row int) int {
	i, _ := slices.BinarySearchFunc(f.runs, row, func(r shape.Run, row int) int {
		return r.To + r.Len - row - 1
	})
	return i
}

// ahead returns how many of rows rows are filled at once before runs are copied over them. It
// returns 0 if only the gaps between runs are filled.
func (f *runFill) ahead(rows int) int {
	switch {
	case f.copied == 0 || f.copied > f.dst.view.Shape[0]/2:
		return 0
	case f.pattern == nil && rows >= hugeBytes/f.row:
		return rows
	case f.copied*f.row <= len(f.runs)*shortBytes:
		return max(1, aheadBytes/f.row)
	}
	return 0
}

// fill sets rows to the fill value.
func (f *runFill) fill(to []byte) {
	if f.pattern == nil {
		clear(to)
		return
	}
	for len(to) > 0 {
		to = to[copy(to, f.pattern):]
	}
}

// copy copies to to the rows of from that begin at row.
func (f *runFill) copy(to, from []byte, row int) {
	if f.step == f.row {
		copy(to, from[row*f.row:])
		return
	}
	for ; len(to) > 0; row++ {
		to = to[copy(to[:f.row], from[row*f.step:]):]
	}
}
