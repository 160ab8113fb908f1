package arith

import (
	"cmp"
	"context"
	"errors"
	mathbits "math/bits"
	"sort"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tensor"
)

// A recipe says how a reduction computes results D from elements T.
type recipe[T, D element] struct {
	first func() fold[T, D]          // for a first pass, or nil
	fold  func(first []D) fold[T, D] // gets the results of the first pass
	joins bool                       // the folds are joiners
	tile  int                        // lines side by side at once; 0 means the default
	slow  bool                       // an element takes several ns
}

// A job is a reduction of contiguous elements: [outer n inner].
type job[T, D element] struct {
	recipe[T, D]
	outer, n, inner int // n is reduced, in one group or several
	bitmask         bitmask
	splits          []int64        // n+1 numbers for n groups, or nil for one group
	x               *tensor.Tensor // [size], contiguous
	checked         bool           // all bools among the elements and the bits are valid
}

const (
	cacheLine = 64       // bytes of a cache line, or a multiple
	minWork   = 1 << 14  // elements below which a second core does not pay
	maskChunk = 1 << 12  // elements with a mask that a fold gets at once
	pieceRows = sumBlock // the unit of the size of a joined piece, which has a power of two of them
)

// minFold is minWork for folds that are not slow. For sums, products and deviations of float32 in
// the cache, a second core took longer below 1 MiB, and began to pay at 1 or 2 MiB. Tests make it
// smaller.
var minFold = 1 << 18

// errUnaligned means that elements are not contiguous, or not aligned for their type.
var errUnaligned = errors.New("arith: elements are not aligned")

// openAs calls fn with the elements of a contiguous tensor [size], as a type T of the same width.
// An invalid bool is an error, unless checked is true. Each goroutine must call openAs itself: a
// fault in borrowed memory is reported only to the goroutine that borrowed it.
func openAs[T cast.Fixed](t *tensor.Tensor, checked bool, fn func(s []T) error) error {
	var failed error
	as := func(b []byte) {
		s, ok := cast.Slice[T](b)
		if failed = errUnaligned; ok {
			failed = fn(s)
		}
	}
	if t.DType() == tensor.Bool && !checked {
		err := tensor.Read(t, func(s []bool) { as(cast.Bytes(s)) })
		return cmp.Or(err, failed)
	}
	raw, err := t.Reinterpret(tensor.Uint8)
	if err == nil {
		err = tensor.Read(raw, as)
	}
	return cmp.Or(err, failed)
}

// withBits returns a function that calls fn with elements and the mask bits, for openAs.
func (j *job[T, D]) withBits(fn func(x []T, bits []byte) error) func(x []T) error {
	return func(x []T) error {
		if j.bitmask.bits == nil {
			return fn(x, nil)
		}
		return openAs(j.bitmask.bits, j.checked, func(bits []byte) error { return fn(x, bits) })
	}
}

// check checks bools once, a part on each core, so that not every core checks all of them.
func (j *job[T, D]) check(cores int) error {
	if j.checked {
		return nil
	}
	for _, t := range []*tensor.Tensor{j.x, j.bitmask.bits} {
		if t == nil || t.DType() != tensor.Bool {
			continue
		}
		err := workers.Do(context.Background(), cores, cores, func(core int) error {
			return openAs(t, true, func(b []byte) error {
				return tensor.CheckBools(b[len(b)*core/cores : len(b)*(core+1)/cores])
			})
		})
		if err != nil {
			return cmp.Or(tensor.Read(t, func([]bool) {}), err) // the error of Read has the position
		}
	}
	j.checked = true
	return nil
}

// groups returns the number of groups.
func (j *job[T, D]) groups() int { return max(1, len(j.splits)-1) }

// A cut divides each [n inner] of a job into units, which cores reduce:
//
//	        | tile 0 | tile 1 | tile 2 |
//	part 0  | unit 0 | unit 1 | unit 2 |  the rows of some groups
//	part 1  | unit 3 | unit 4 | unit 5 |  the rows of the next groups
type cut struct {
	cores int
	parts []int // part i has the groups parts[i] to parts[i+1]-1
	width int   // columns of a tile
	tiles int
	joins bool // all cores share each unit: they fold pieces of its rows, which are then joined
}

// unit returns the position of unit u in outer, its part, and its columns c0 to c1-1.
func (c *cut) unit(u, inner int) (o, part, c0, c1 int) {
	tile, parts := u%c.tiles, len(c.parts)-1
	return u / c.tiles / parts, u / c.tiles % parts, tile * c.width, min(inner, (tile+1)*c.width)
}

// cut divides the job for as many cores as its size is worth. If wide tiles are fewer than cores,
// it makes parts of groups; of one group joined pieces, if the folds are joiners; otherwise narrow
// tiles.
func (j *job[T, D]) cut() cut {
	size := j.outer * j.n * j.inner
	least := minFold
	if j.slow {
		least = minWork
	}
	c := cut{cores: workers.Count(0, size/least+1), parts: []int{0, j.groups()}, width: cmp.Or(j.tile, 2048)}
	c.tiles = max(1, (j.inner+c.width-1)/c.width)
	if c.cores == 1 || j.outer*c.tiles >= c.cores {
		return c
	}
	switch few := 4 * c.cores; {
	case j.groups() >= few: // parts of about equally many rows
		c.parts = make([]int, few+1)
		for i := 1; i < few; i++ {
			row := int64(j.n * i / few)
			c.parts[i] = sort.Search(j.groups(), func(g int) bool { return j.splits[g] >= row })
		}
		c.parts[few] = j.groups()
	case j.joins && j.splits == nil:
		c.joins = true
	default:
		c.width = max(16, (j.inner+c.cores-1)/c.cores)
		c.tiles = max(1, (j.inner+c.width-1)/c.width)
	}
	return c
}

// pass folds all elements once, and sets dst to the results: [outer groups inner].
func (j *job[T, D]) pass(dst []D, fresh func() fold[T, D]) error {
	c := j.cut()
	if c.cores > 1 {
		if err := j.check(c.cores); err != nil {
			return err
		}
	}
	if c.joins {
		return j.passJoined(dst, fresh, c)
	}
	units := j.outer * (len(c.parts) - 1) * c.tiles
	c.cores = min(c.cores, units)
	part := func(core int) func(x []T) error {
		return j.withBits(func(x []T, bits []byte) error {
			w := &reducer[T, D]{job: j, cut: c, fold: fresh(), x: x, bits: bits, dst: dst}
			return w.units(units*core/c.cores, units*(core+1)/c.cores)
		})
	}
	if c.cores == 1 {
		return openAs(j.x, j.checked, part(0))
	}
	return workers.Do(context.Background(), c.cores, c.cores, func(core int) error { return openAs(j.x, j.checked, part(core)) })
}

// passJoined is pass for long lines, of which each core folds pieces, which are then joined.
func (j *job[T, D]) passJoined(dst []D, fresh func() fold[T, D], c cut) error {
	rows := pieceRows << mathbits.Len(uint(j.n/(pieceRows*4*c.cores)))
	for u := range j.outer * c.tiles {
		o, _, from, to := c.unit(u, j.inner)
		pieces := make([]fold[T, D], (j.n+rows-1)/rows)
		err := workers.Do(context.Background(), len(pieces), c.cores, func(i int) error {
			return openAs(j.x, j.checked, j.withBits(func(x []T, bits []byte) error {
				w := &reducer[T, D]{job: j, cut: c, fold: fresh(), x: x, bits: bits}
				w.fold.begin(o*j.inner+from, to-from)
				w.feed(o, i*rows, i*rows, min(j.n, (i+1)*rows), from, to-from)
				pieces[i] = w.fold
				return nil
			}))
		})
		if err != nil {
			return err
		}
		for i, next := range pieces[1:] {
			pieces[0].(joiner[T, D]).join(next, (i+1)*rows)
		}
		if err := pieces[0].end(dst[o*j.inner+from : o*j.inner+to]); err != nil {
			return err
		}
	}
	return nil
}

// A reducer is the work of one core on a job.
type reducer[T, D element] struct {
	*job[T, D]
	cut
	fold fold[T, D]
	x    []T
	bits []byte
	dst  []D
	list rowList
	room []byte // for bits, each repeated for the elements that it stands for
}

// units reduces units lo to hi-1. Each unit is some groups of some lines side by side.
func (w *reducer[T, D]) units(lo, hi int) error {
	own := w.bits != nil && w.bitmask.rep == 1 && w.bitmask.outer == w.n && w.n <= maskChunk // bits of each line
	for w.inner == 1 && w.splits == nil && (w.bits == nil || own) && lo < hi {
		k := hi - lo
		if own {
			k = min(k, maskChunk/w.n)
		}
		if err := foldLines(w.fold, lo, w.dst[lo:lo+k], w.x[lo*w.n:(lo+k)*w.n], w.n, partOf(w.bits, lo*w.n, k*w.n)); err != nil {
			return err
		}
		lo += k
	}
	groups := w.groups()
	for u := lo; u < hi; u++ {
		o, part, c0, c1 := w.unit(u, w.inner)
		g0, g1 := w.parts[part], w.parts[part+1]
		if w.inner == 1 && w.bits == nil && w.splits != nil && g1 > g0 {
			err := foldGroups(w.fold, o*groups+g0, w.dst[o*groups+g0:o*groups+g1], w.x[o*w.n+int(w.splits[g0]):], w.splits[g0:g1+1])
			if err != nil {
				return err
			}
			continue
		}
		for g := g0; g < g1; g++ {
			from, to, at := 0, w.n, (o*groups+g)*w.inner+c0
			if w.splits != nil {
				from, to = int(w.splits[g]), int(w.splits[g+1])
			}
			w.fold.begin(at, c1-c0)
			w.feed(o, from, from, to, c0, c1-c0)
			if err := w.fold.end(w.dst[at : at+c1-c0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// feed gives the fold the n elements from column c0 on of rows lo to hi-1, in a group that begins
// at row from.
func (w *reducer[T, D]) feed(o, from, lo, hi, c0, n int) {
	x, step := w.x[o*w.n*w.inner:], max(1, hi-lo)
	if w.inner == 1 {
		bits := w.bits
		if bits != nil {
			step, bits = maskChunk, bits[o*w.bitmask.outer:]
		}
		for rep := w.bitmask.rep; lo < hi; lo += step {
			if rep > 1 { // the elements up to the next bit that differs
				bit, end := bits[lo/rep], lo/rep+1
				for end*rep < hi && bits[end] == bit {
					end++
				}
				if step = min(hi, end*rep) - lo; bit != 0 {
					w.fold.line(lo-from, x[lo:lo+step], nil)
				}
				continue
			}
			end := min(hi, lo+step)
			w.fold.line(lo-from, x[lo:end], partOf(bits, lo, end-lo))
		}
		return
	}
	most := min(256, w.n)
	if w.list.offs == nil {
		w.list = rowList{offs: make([]int, most), at: make([]int, most)}
	}
	if step = min(step, most); w.bits != nil && w.bitmask.each {
		step = max(1, min(step, maskChunk/n))
		w.list.bitOffs = grown(w.list.bitOffs, most)
	}
	for ; lo < hi; lo += step {
		k := 0
		list := rowList{offs: w.list.offs[:most], at: w.list.at[:most]}
		if w.bits != nil && w.bitmask.each {
			list.bits, list.bitOffs = w.bits, w.list.bitOffs
			if w.bitmask.rep > 1 {
				w.room = grown(w.room, step*n)
				list.bits = w.room
			}
		}
		for r := lo; r < min(hi, lo+step); r++ {
			list.offs[k], list.at[k] = r*w.inner+c0, r-from
			switch {
			case w.bits == nil:
				k++
			case !w.bitmask.each:
				k += int(w.bits[o*w.bitmask.outer+r/w.bitmask.rep])
			case w.bitmask.rep == 1:
				list.bitOffs[k] = o*w.bitmask.outer + r*w.bitmask.row + c0
				k++
			default:
				list.bitOffs[k] = k * n
				w.expand(k*n, o*w.bitmask.outer+r*w.bitmask.row, c0, n)
				k++
			}
		}
		if list.offs, list.at = list.offs[:k], list.at[:k]; k > 0 {
			if list.bits != nil {
				list.bitOffs = list.bitOffs[:k]
			}
			w.fold.rows(x, list)
		}
	}
}

// expand writes the bits of elements first to first+n-1 of a row, whose bits begin at base, to
// room, from position at on.
func (w *reducer[T, D]) expand(at, base, first, n int) {
	rep, out := w.bitmask.rep, w.room[at:at+n]
	for done := 0; done < n; {
		k := min(n-done, rep-(first+done)%rep)
		repeated(out[done:done+k], w.bits[base+(first+done)/rep])
		done += k
	}
}
