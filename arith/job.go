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
type recipe[T, D any] struct {
	first      func() fold[T, D]          // for a first pass, or nil
	fold       func(first []D) fold[T, D] // gets the results of the first pass
	positional bool                       // results depend on positions
	joins      bool                       // the folds are joiners
	tile       int                        // lines side by side at once; 0 means the default
}

// A job is a reduction of contiguous elements: [outer n inner].
type job[T cast.Fixed, D any] struct {
	recipe[T, D]
	outer, n, inner int // n is reduced, in one group or several
	bitmask         bitmask
	splits          []int64        // or nil for one group
	x               *tensor.Tensor // [size], contiguous

	checked bool // all bools among the elements and the bits are valid
}

// errUnaligned means that elements are not contiguous, or not aligned for their type.
var errUnaligned = errors.New("arith: elements are not aligned")

// open calls fn with the elements and the mask bits. Each goroutine must call open itself: a fault
// in borrowed memory is reported only to the goroutine that borrowed it. Bools are checked first,
// unless check has done so.
func (j *job[T, D]) open(fn func(x []T, bits []byte) error) error {
	return openAs(j.x, j.checked, func(x []T) (err error) {
		if j.bitmask.bits == nil {
			return fn(x, nil)
		}
		return openAs(j.bitmask.bits, j.checked, func(bits []byte) error { return fn(x, bits) })
	})
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

// openAs calls fn with the elements of a contiguous tensor [size], as a type T of the same width.
// An invalid bool is an error, unless checked is true.
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

// groups returns the number of groups.
func (j *job[T, D]) groups() int {
	if j.splits == nil {
		return 1
	}
	return len(j.splits) - 1
}

// rowsOf returns the range of rows of a group: from to to-1.
func (j *job[T, D]) rowsOf(group int) (from, to int) {
	if j.splits == nil {
		return 0, j.n
	}
	return int(j.splits[group]), int(j.splits[group+1])
}

// run sets dst to the results: [outer groups inner].
func (j *job[T, D]) run(dst []D) error {
	var first []D
	if j.recipe.first != nil {
		first = make([]D, len(dst))
		if err := j.pass(first, j.recipe.first); err != nil {
			return err
		}
	}
	return j.pass(dst, func() fold[T, D] { return j.fold(first) })
}

// A cut says how a job is divided into units.
type cut struct {
	cores int
	parts []int // part i has the groups parts[i] to parts[i+1]-1
	tile  int   // elements of a row in a unit
	tiles int   // tiles of a row
}

// cut divides the job for as many cores as its size is worth.
func (j *job[T, D]) cut() cut {
	size := j.outer * j.n * j.inner
	c := cut{workers.Count(0, size/minWork+1), []int{0, j.groups()}, cmp.Or(j.tile, 2048), 1}
	c.tiles = max(1, (j.inner+c.tile-1)/c.tile)
	if few := j.outer * c.tiles; c.cores > 1 && few < c.cores {
		switch {
		case j.groups() >= 4*c.cores:
			c.parts = j.someParts(4 * c.cores)
		case !j.joined(c):
			c.tile = max(16, (j.inner+c.cores-1)/c.cores)
		}
	}
	c.tiles = max(1, (j.inner+c.tile-1)/c.tile)
	return c
}

// joined reports whether there are so few lines, and so long, that several cores share each line.
func (j *job[T, D]) joined(c cut) bool {
	return c.cores > 1 && j.joins && j.bitmask.bits == nil && j.splits == nil && j.outer*c.tiles < c.cores
}

// someParts divides the groups into n parts of about equally many rows.
func (j *job[T, D]) someParts(n int) []int {
	at := make([]int, n+1)
	for i := 1; i < n; i++ {
		row := int64(j.n * i / n)
		at[i] = sort.Search(j.groups(), func(g int) bool { return j.splits[g] >= row })
	}
	at[n] = j.groups()
	return at
}

// pass folds all elements once.
func (j *job[T, D]) pass(dst []D, make func() fold[T, D]) error {
	c := j.cut()
	if c.cores > 1 {
		if err := j.check(c.cores); err != nil {
			return err
		}
	}
	if j.joined(c) {
		return j.passJoined(dst, make, c)
	}
	units := j.outer * (len(c.parts) - 1) * c.tiles
	c.cores = min(c.cores, units)
	return workers.Do(context.Background(), c.cores, c.cores, func(core int) error {
		return j.open(func(x []T, bits []byte) error {
			w := &reducer[T, D]{job: j, cut: c, make: make, fold: make(), x: x, bits: bits, dst: dst}
			return w.units(units*core/c.cores, units*(core+1)/c.cores)
		})
	})
}

// pieceRows is the unit of the size of a joined piece: each piece has pieceRows times a power of
// two rows.
const pieceRows = sumBlock

// passJoined is pass for long lines, of which each core folds a part.
func (j *job[T, D]) passJoined(dst []D, make func() fold[T, D], c cut) error {
	rows := pieceRows << mathbits.Len(uint(j.n/(pieceRows*4*c.cores)))
	for u := range j.outer * c.tiles {
		if err := j.joinPieces(dst, make, c, u, rows); err != nil {
			return err
		}
	}
	return nil
}

// joinPieces folds the lines of a unit in pieces of rows rows, and joins the pieces.
func (j *job[T, D]) joinPieces(dst []D, fresh func() fold[T, D], c cut, unit, rows int) error {
	pieces := make([]fold[T, D], (j.n+rows-1)/rows)
	err := workers.Do(context.Background(), len(pieces), c.cores, func(i int) error {
		return j.open(func(x []T, bits []byte) error {
			w := &reducer[T, D]{job: j, cut: c, make: fresh, fold: fresh(), x: x, bits: bits, dst: dst}
			o, from, to := unit/c.tiles, unit%c.tiles*c.tile, min(j.inner, (unit%c.tiles+1)*c.tile)
			w.fold.begin(o*j.inner+from, to-from)
			w.feed(o, 0, i*rows, min(j.n, (i+1)*rows), from)
			pieces[i] = w.fold
			return nil
		})
	})
	if err != nil {
		return err
	}
	return j.endJoined(dst, pieces, unit, c)
}

func (j *job[T, D]) endJoined(dst []D, pieces []fold[T, D], unit int, c cut) error {
	for _, next := range pieces[1:] {
		pieces[0].(joiner[T, D]).join(next)
	}
	from, to := unit%c.tiles*c.tile, min(j.inner, (unit%c.tiles+1)*c.tile)
	at := unit / c.tiles * j.inner
	return pieces[0].end(dst[at+from : at+to])
}
