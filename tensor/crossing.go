package tensor

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
)

// allSteps is how many steps the copies of a Transfer within one memory are compared for before it
// gives up.
const allSteps = 1 << 20

// checkCrossing returns ErrOverlap if one of the moves reads what another writes, so that the
// result would depend on their order.
func checkCrossing(moves []move) error {
	if len(moves) < 2 {
		return nil
	}
	c := crossing{moves: moves}
	sites := c.sites()
	slices.SortFunc(sites, func(a, b site) int {
		return cmp.Or(cmp.Compare(a.memory, b.memory), cmp.Compare(a.low, b.low))
	})
	memory, steps := 0, allSteps
	for len(sites) > 0 {
		if sites[0].memory != memory {
			memory, steps = sites[0].memory, allSteps
		}
		n := patch(sites)
		if v := c.compare(sites[:n], &steps); v != apart {
			return v.crossing()
		}
		sites = sites[n:]
	}
	return nil
}

// patch returns how many of the first sites lie in one memory without a gap between them.
func patch(sites []site) int {
	end := sites[0].high
	for i, s := range sites {
		if s.memory != sites[0].memory || s.low >= end && i > 0 {
			return i
		}
		end = max(end, s.high)
	}
	return len(sites)
}

// A crossing compares the moves of a Transfer with one another. What it knows of a side it works
// out when that is first wanted.
type crossing struct {
	moves    []move
	surveyor surveyor
	origins  []int       // of each side: where its memory begins
	known    []footprint // of each side
}

// A site is one side of a move: between which bytes of a memory it lies, or, in a sweep by spacing,
// between which of a stride.
type site struct {
	memory    int
	low, high int
	side      int // twice the number of the move, and one more if it is written
	group     int // of the move
}

func (s site) written() bool { return s.side&1 == 1 }

// sites returns the sides of all moves that have bytes.
func (c *crossing) sites() []site {
	var a atlas
	sites := make([]site, 0, 2*len(c.moves))
	c.origins = make([]int, 2*len(c.moves))
	for i := range c.moves {
		m := &c.moves[i]
		if m.bytes() == 0 {
			continue
		}
		for side, mem := range [...]memory{m.from, m.to} {
			if m.half == reads && side == 1 || m.half == writes && side == 0 {
				continue
			}
			s := site{side: 2*i + side, group: m.group}
			s.memory, c.origins[s.side] = a.find(mem)
			s.low, s.high = c.surveyor.bounds(m, side == 1)
			s.low, s.high = s.low+c.origins[s.side], s.high+c.origins[s.side]
			sites = append(sites, s)
		}
	}
	return sites
}

// footprint returns that of one side.
func (c *crossing) footprint(side int) footprint {
	if c.known == nil {
		c.known = make([]footprint, 2*len(c.moves))
	}
	if f := &c.known[side]; f.block == 0 {
		*f = c.surveyor.footprint(&c.moves[side/2], side&1 == 1, c.origins[side])
	}
	return c.known[side]
}

// stride returns the longest stride of a side, or 0 for a single block.
func (c *crossing) stride(s site) int {
	if f := c.footprint(s.side); len(f.dims) > 0 {
		return f.dims[0].stride
	}
	return 0
}

// compare compares what is written in a patch of memory with what other moves read, by one sort:
// first by where sites lie, which tells rows apart; if too many overlap in range, then by
// where they lie between multiples of a spacing that many have, which tells columns apart. What no
// spacing tells apart is compared among those that have the same one, and pairs of different ones
// one by one.
func (c *crossing) compare(sites []site, steps *int) verdict {
	if !slices.ContainsFunc(sites, site.written) || !slices.ContainsFunc(sites, site.read) {
		return apart
	}
	quick := 8*len(sites) + 1024
	if v := c.sweep(sites, &quick); v != unknown {
		return v
	}
	for _, spacing := range c.spacings(sites) {
		quick := 8*len(sites) + 1024
		if v := c.sweep(c.folded(sites, spacing), &quick); v != unknown {
			return v
		}
	}
	groups := map[int][]site{}
	for _, s := range sites {
		stride := c.stride(s)
		groups[stride] = append(groups[stride], s)
	}
	for _, stride := range slices.Sorted(maps.Keys(groups)) {
		if v := c.sweep(c.folded(groups[stride], stride), steps); v != apart {
			return v
		}
	}
	return c.sweepMixed(sites, steps)
}

func (s site) read() bool { return !s.written() }

// spacings returns distances that the longest strides of sites are all multiples of: of one stride,
// of two, and so on, as far as they differ.
func (c *crossing) spacings(sites []site) []int {
	known := map[int]bool{}
	for _, s := range sites {
		for _, d := range c.footprint(s.side).dims {
			known[d.stride] = true
		}
	}
	var out []int
	spacing := 0
	for _, stride := range slices.Backward(slices.Sorted(maps.Keys(known))) {
		if next := gcd(stride, spacing); next != spacing {
			out, spacing = append(out, next), next
		}
	}
	return out
}

// folded returns sites by where they lie between multiples of a spacing, sorted. One that reaches
// beyond a multiple appears twice.
func (c *crossing) folded(sites []site, spacing int) []site {
	if spacing == 0 {
		return sites
	}
	out := make([]site, 0, len(sites))
	for _, s := range sites {
		f := c.footprint(s.side)
		low, high := f.folded(spacing)
		rest := low - floorDiv(low, spacing)*spacing
		end := rest + high - low
		if high-low >= spacing {
			rest, end = 0, spacing
		}
		s.low, s.high = rest, min(end, spacing)
		out = append(out, s)
		if end > spacing {
			s.low, s.high = 0, end-spacing
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b site) int { return cmp.Compare(a.low, b.low) })
	return out
}

// An atlas numbers memories: 0 for all that Go manages, and one for each lender that differs.
type atlas struct {
	known   map[any]int
	lenders []Lender // of each number, the first
	asked   bool     // one of them can only be asked about the others
}

// find returns the number of a memory and the byte at which it begins there.
func (a *atlas) find(m memory) (n, origin int) {
	if m.loan == nil {
		return 0, int(cast.Address(m.bytes))
	}
	if a.known == nil {
		a.known = map[any]int{}
	}
	lender := m.loan.lender
	id := identity(lender)
	if n, ok := a.known[id]; ok {
		return n, m.loan.start
	}
	_, asks := lender.(interface{ SameMemory(Lender) bool })
	if a.asked = a.asked || asks && id == any(lender); a.asked {
		for i, other := range a.lenders {
			if sameLender(lender, other) {
				a.known[id] = i + 1
				return i + 1, m.loan.start
			}
		}
	}
	a.lenders = append(a.lenders, lender)
	a.known[id] = len(a.lenders)
	return len(a.lenders), m.loan.start
}

// CheckApart returns [ErrOverlap] if writing one of the tensors of dst would change another of them
// or one of src, or if that takes too long to find out. It looks at no element. For tensors that do
// not make more than some 4,000 pairs, and span no memory in common, it allocates nothing.
func CheckApart(dst, src []*Tensor) error {
	if fewApart(dst, src) {
		return nil
	}
	var tr Transfer
	for i, t := range slices.Concat(dst, src) {
		tr.side(i+1, t, reads)
		if i < len(dst) {
			tr.side(i+1, t, writes)
		}
	}
	return checkCrossing(tr.moves)
}

// fewApart reports whether the tensors of dst are few, and each spans memory that no other does.
func fewApart(dst, src []*Tensor) bool {
	const most = 1 << 12 // pairs
	if len(dst) > most || len(dst)*(len(dst)+len(src)) > most {
		return false
	}
	for i, t := range dst {
		if slices.ContainsFunc(dst[i+1:], t.meets) || slices.ContainsFunc(src, t.meets) {
			return false
		}
	}
	return true
}

// meets reports whether the bytes between the first element and the last of one tensor lie among
// those of the other.
func (t *Tensor) meets(u *Tensor) bool {
	distance, shared := shift(t.mem, u.mem)
	if !shared {
		return false
	}
	low, high := t.view.Bounds()
	first, end := u.view.Bounds()
	p, q := t.dtype.Size(), u.dtype.Size()
	return low*p < distance+end*q && distance+first*q < high*p
}

// CheckOnto returns [ErrOverlap] if writing an element of a tensor of dst would change another
// element of dst or src, or if that takes too long to find out. Two tensors may share elements if
// their views of the memory are the same, and their elements as wide. It looks at no element.
func CheckOnto(dst, src []*Tensor) error {
	var tr Transfer
	var a atlas
	all, firsts := slices.Concat(dst, src), map[[3]int]int{}
	for i, t := range all {
		memory, origin := a.find(t.mem)
		width := t.dtype.Size()
		place := [3]int{memory, origin + t.view.Offset*width, width}
		first, known := firsts[place]
		if !known {
			first, firsts[place] = i, i
		} else if !sameView(all[first].view, t.view) {
			first = i // they share this element: an error, if one is written
		}
		tr.side(first+1, t, reads)
		if i < len(dst) {
			tr.side(first+1, t, writes)
		}
	}
	return checkCrossing(tr.moves)
}

// sameView reports whether two views that begin at one element have the same elements at the same
// positions.
func sameView(a, b shapeops.View) bool {
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
