package tensor

import (
	"cmp"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shape"
)

// A site is one side of a move: the range of bytes that it touches in a memory, or, once folded, in
// a stride.
type site struct {
	memory    int
	low, high int
	side      int // 2*move for the side read, 2*move+1 for the side written
}

func (s site) written() bool { return s.side&1 == 1 }

func (s site) read() bool { return s.side&1 == 0 }

// conflicts finds the moves that read bytes which an earlier move may write.
type conflicts struct {
	moves  []move
	prints []footprint // of each side, once computed
	footprints
}

// stageConflicts stages each move that reads bytes which an earlier move may write: the move then
// reads from new memory. It returns ErrOverlap if such a move is a side of a task.
//
// First it compares memories. Within a memory that is read after it is written, it compares the
// byte ranges of the sides. That separates rows; here move 1 may read what move 0 writes:
//
//	[read by 0]  [written by 0]  [written by 1]
//	                      [read by 1]
//
// If too many ranges overlap, it compares them modulo a stride, the bytes of a row, which separates
// columns. Here the first column is written and the second one read:
//
//	| row 0  | row 1  | row 2  |      | folded |
//	[w]......[w]......[w]             [w]
//	   [r].......[r].......[r]           [r]
func stageConflicts(moves []move) error {
	if len(moves) < 2 {
		return nil
	}
	t := &conflicts{moves: moves}
	sites := t.sites()
	for len(sites) > 0 {
		n := patch(sites)
		t.compare(sites[:n])
		sites = sites[n:]
	}
	for i := range moves {
		if m := &moves[i]; m.staged && m.half == reads {
			return errCrossing
		}
	}
	return nil
}

// sites returns the sides of all moves that have bytes, sorted by memory; each has the bounds of
// its memory.
func (t *conflicts) sites() []site {
	a := atlas{}
	sites := make([]site, 0, 2*len(t.moves))
	for i := range t.moves {
		m := &t.moves[i]
		if m.bytes() == 0 {
			continue
		}
		for side, mem := range [...]memory{m.from, m.to} {
			if m.half == reads && side == 1 || m.half == writes && side == 0 {
				continue
			}
			s := site{side: 2*i + side}
			s.memory, s.low, s.high = a.find(mem)
			sites = append(sites, s)
		}
	}
	sortSites(sites)
	return sites
}

func sortSites(sites []site) {
	slices.SortFunc(sites, func(a, b site) int {
		return cmp.Or(cmp.Compare(a.memory, b.memory), cmp.Compare(a.low, b.low))
	})
}

// patch returns the number of leading sites that lie in one memory without a gap between them.
func patch(sites []site) int {
	end := sites[0].high
	for i, s := range sites {
		if s.memory != sites[0].memory || s.low >= end {
			return i
		}
		end = max(end, s.high)
	}
	return len(sites)
}

// compare finds conflicts among sites of one patch. If that takes too many steps, they count as
// overlapping.
func (t *conflicts) compare(sites []site) {
	written, read := len(t.moves), -1
	for _, s := range sites {
		if s.written() {
			written = min(written, t.order(s))
		} else {
			read = max(read, t.order(s))
		}
	}
	if read <= written {
		return // nothing is read after it is written
	}
	dims := t.survey(sites)
	done := t.sweep(sites)
	for i := 0; i < len(dims) && !done; i++ {
		done = t.sweep(t.folded(sites, dims[i].stride))
	}
	for _, s := range sites {
		m := &t.moves[s.side/2]
		m.staged = m.staged || !done && s.read()
	}
}

// survey narrows sites to their byte ranges, sorts them, and returns the dims of the site that has
// most.
func (t *conflicts) survey(sites []site) (most []pitch) {
	if t.prints == nil {
		t.prints = make([]footprint, 2*len(t.moves))
	}
	for i := range sites {
		s := &sites[i]
		f := t.moves[s.side/2].footprint(s.written(), s.low, &t.footprints)
		s.low, s.high = f.bounds(0)
		if t.prints[s.side] = f; len(f.dims) > len(most) {
			most = f.dims
		}
	}
	sortSites(sites)
	return most
}

// sweep compares each site of a sorted line with the sites that overlap it. It reports whether it
// finished within a number of steps linear in the sites.
func (t *conflicts) sweep(line []site) bool {
	steps := 16*len(line) + 1024
	var open [2][]site // read and written
	for _, s := range line {
		mine, others := &open[s.side&1], &open[1-s.side&1]
		*others = slices.DeleteFunc(*others, func(o site) bool { return o.high <= s.low })
		for _, o := range *others {
			if steps--; steps < 0 {
				return false
			}
			t.against(s, o)
		}
		*mine = append(*mine, s)
	}
	return true
}

// against compares two sites, one of which is written.
func (t *conflicts) against(r, w site) {
	if r.written() {
		r, w = w, r
	}
	if m := &t.moves[r.side/2]; !m.staged && t.order(r) > t.order(w) {
		m.staged = !t.prints[r.side].apart(t.prints[w.side])
	}
}

// order returns the place of a site in the order in which sides take effect.
func (t *conflicts) order(s site) int {
	if g := t.moves[s.side/2].group; g > 0 {
		return g - 1
	}
	return s.side / 2
}

// folded returns the sites modulo spacing, sorted. A site that crosses a multiple of spacing
// appears twice.
func (t *conflicts) folded(sites []site, spacing int) []site {
	out := make([]site, 0, len(sites))
	for _, s := range sites {
		low, high := t.prints[s.side].bounds(spacing)
		rest := low - floorDiv(low, spacing)*spacing
		end := rest + high - low
		if high-low >= spacing {
			rest, end = 0, spacing
		}
		s.memory, s.low, s.high = 0, rest, min(end, spacing)
		out = append(out, s)
		if end > spacing {
			s.low, s.high = 0, end-spacing
			out = append(out, s)
		}
	}
	sortSites(out)
	return out
}

// An atlas numbers memories: 0 for all Go memory, and another number for each distinct lender.
type atlas map[any]int

// find returns the number of a memory and its byte range.
func (a atlas) find(m memory) (n, low, high int) {
	if m.loan == nil {
		low = int(cast.Address(m.bytes))
		return 0, low, low + len(m.bytes)
	}
	id := identity(m.loan.lender)
	n, known := a[id]
	if !known {
		n = len(a) + 1
		a[id] = n
	}
	return n, m.loan.start, m.loan.start + m.loan.size
}

// CheckApart returns [ErrOverlap] unless arithmetic on strides proves that writing a tensor of dst
// changes no other tensor of dst and none of src. It reads no element. It allocates nothing if
// len(dst) * (len(dst)+len(src)) is at most 4096 and no two tensors share memory. It returns
// [ErrKind] if a tensor is nil or zero.
func CheckApart(dst, src []*Tensor) error {
	if err := checkMade(dst, src); err != nil {
		return err
	}
	const few = 1 << 12 // pairs
	if n := len(dst); n == 0 || n+len(src) <= few/n {
		for i, t := range dst {
			if slices.ContainsFunc(dst[i+1:], t.meets) || slices.ContainsFunc(src, t.meets) {
				return errCrossing
			}
		}
		return nil
	}
	var tr Transfer
	for i, t := range dst {
		tr.side(i+1, t, writes)
	}
	for i, t := range slices.Concat(dst, src) {
		tr.side(i+1, t, reads)
	}
	return stageConflicts(tr.moves)
}

// checkMade returns [ErrKind] if a tensor of the lists is nil or zero.
func checkMade(lists ...[]*Tensor) error {
	for _, list := range lists {
		for _, t := range list {
			if t == nil {
				return errNil
			}
			if t.dtype == 0 {
				return errZero
			}
		}
	}
	return nil
}

// meets reports whether two tensors may share a byte.
func (t *Tensor) meets(u *Tensor) bool {
	distance, shared := shift(t.mem, u.mem)
	if !shared || t.Size() == 0 || u.Size() == 0 {
		return false
	}
	var arena footprints
	return !t.footprint(0, &arena).apart(u.footprint(distance, &arena))
}

// footprint returns the bytes of t's elements, where t's memory begins at byte origin.
func (t *Tensor) footprint(origin int, all *footprints) footprint {
	var m move
	m.all(t.dtype.Size(), t.mem, t.mem, t.view, t.view)
	return m.footprint(true, origin, all)
}

// CheckOnto returns [ErrOverlap] unless arithmetic on strides proves that writing an element of a
// tensor of dst changes no other element of dst and src. There is one exception: two tensors of
// dst, or one of dst and one of src, may share memory if their elements coincide one by one, that
// is, if they have the same view of the same memory and equally wide elements. ([CheckApart] has no
// exception.) CheckOnto reads no element. It returns [ErrKind] if a tensor is nil or zero.
func CheckOnto(dst, src []*Tensor) error {
	if err := checkMade(dst, src); err != nil {
		return err
	}
	a, known := atlas{}, map[[2]int][]*Tensor{} // by memory and first byte
	var apart [2][]*Tensor
	for i, list := range [...][]*Tensor{dst, src} {
		for _, t := range list {
			memory, low, _ := a.find(t.mem)
			place := [2]int{memory, low + t.view.Offset*t.dtype.Size()}
			if !slices.ContainsFunc(known[place], t.inPlaceOf) {
				known[place] = append(known[place], t)
				apart[i] = append(apart[i], t)
			}
		}
	}
	return CheckApart(apart[0], apart[1])
}

// sameView reports whether two views with the same first element have the same elements at the same
// positions.
func sameView(a, b shape.View) bool {
	if !a.Shape.Equal(b.Shape) {
		return false
	}
	for dim, size := range a.Shape {
		if size > 1 && a.Strides[dim] != b.Strides[dim] {
			return false
		}
	}
	return true
}
