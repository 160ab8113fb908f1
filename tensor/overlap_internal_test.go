package tensor

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
)

// randomMove returns a move between views of one buffer, at random: several widths, strides that
// are often alike, sides out of step by bytes, and rows listed on neither, one or both sides, or as
// runs.
func randomMove(rng *rand.Rand) *move {
	to := shapeops.View{Offset: rng.IntN(20)}
	for range 1 + rng.IntN(3) {
		to.Shape = append(to.Shape, 1+rng.IntN(4))
		to.Strides = append(to.Strides, 1+rng.IntN(9))
	}
	from := shapeops.View{Shape: to.Shape, Offset: rng.IntN(20)}
	if rng.IntN(3) == 0 {
		from.Offset = to.Offset
	}
	for _, stride := range to.Strides {
		if rng.IntN(4) == 0 {
			stride = rng.IntN(9)
		}
		from.Strides = append(from.Strides, stride)
	}
	start := 4 * rng.IntN(3) * rng.IntN(2)
	width := []int{1, 2, 4}[rng.IntN(3)]
	a, b := memory{bytes: buffer[64:]}, memory{bytes: buffer[64+start:]}
	m := &move{}
	if rng.IntN(2) == 0 {
		m.all(width, a, b, to, from)
		return m
	}
	return randomRows(rng, m, width, a, b, to, from)
}

var buffer = make([]byte, 4096)

func randomRows(rng *rand.Rand, m *move, width int, a, b memory, to, from shapeops.View) *move {
	if rng.IntN(2) == 0 {
		runs := []shapeops.Run{}
		for range 1 + rng.IntN(3) {
			runs = append(runs, shapeops.Run{To: rng.IntN(6), From: rng.IntN(6), Len: rng.IntN(3)})
		}
		if rng.IntN(3) == 0 {
			runs[0].From = runs[0].To
		}
		m.stretches(width, a, b, to, from, runs)
		return m
	}
	m.all(width, a, b, to, from)
	if m.dims.n == 0 {
		return m
	}
	list := func() []int {
		rows := make([]int, m.dims.at(0).n)
		for i := range rows {
			rows[i] = i + rng.IntN(3)*rng.IntN(2)
		}
		return rows
	}
	m.picked = 0
	if rng.IntN(3) > 0 {
		m.toRows = list()
	}
	if m.toRows == nil || rng.IntN(3) == 0 {
		m.fromRows = list()
	}
	return m
}

func (m move) String() string {
	text := fmt.Sprintf("%d blocks of %d at %d from %d, width %d:", m.bytes(), m.block, m.toStart, m.fromAt, m.width)
	for i := range m.dims.n {
		text += fmt.Sprintf(" %+v", *m.dims.at(i))
	}
	return text + fmt.Sprintf(" picked %d to %v from %v runs %v", m.picked, m.toRows, m.fromRows, m.runs)
}

// touched calls fn with the first byte of each element that a move writes and of the one that it
// reads there, in order, both counted from the memory that is written.
func (m *move) touched(distance int, fn func(to, from int)) {
	var walk func(dim, to, from int)
	walk = func(dim, to, from int) {
		if dim == m.dims.n {
			for i := range m.block {
				fn((to+i)*m.width, (from+i)*m.width+distance)
			}
			return
		}
		d := m.dims.at(dim)
		if dim == m.picked && m.runs != nil {
			for _, r := range m.runs {
				for i := range r.Len {
					walk(dim+1, to+(r.To+i)*d.to, from+(r.From+i)*d.from)
				}
			}
			return
		}
		for i := range d.n {
			ti, fi := i, i
			if dim == m.picked {
				ti, fi = row(m.toRows, i), row(m.fromRows, i)
			}
			walk(dim+1, to+ti*d.to, from+fi*d.from)
		}
	}
	walk(0, m.toStart, m.fromAt)
}

// naive reports by looking at every byte whether an element is read that another one is written
// over, and whether anything is read that is written.
func (m *move) naive(distance int) (harmful, meets bool) {
	changes := map[int]bool{} // of each byte written, whether that may change it
	m.touched(distance, func(to, from int) {
		for i := range m.width {
			changes[to+i] = changes[to+i] || to != from
		}
	})
	m.touched(distance, func(_, from int) {
		for i := range m.width {
			changed, written := changes[from+i]
			meets, harmful = meets || written, harmful || changed
		}
	})
	return harmful, meets
}

// The arithmetic of overlaps agrees with looking at every byte. It may refuse what would do no harm
// only where rows reach into one another.
func TestOverlapOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	refused, allowed, cautious := 0, 0, 0
	for range 100_000 {
		m := randomMove(rng)
		distance, shared := shift(m.to, m.from)
		require.True(t, shared)
		harmful, meets := m.naive(distance)
		err := m.checkOverlap(new(surveyor))
		switch {
		case harmful:
			require.ErrorIs(t, err, ErrOverlap, "%s, %d bytes apart", m, distance)
			refused++
		case err != nil:
			require.True(t, meets, "%s, %d bytes apart", m, distance)
			cautious++
		default:
			allowed++
		}
	}
	require.Greater(t, refused, 20_000)
	require.Greater(t, allowed, 20_000)
	require.Less(t, cautious, 6_500) // elements copied onto themselves where rows reach into one another
}

// What moves read of one another, compared by arithmetic, agrees with looking at every byte.
func TestCrossingOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	refused, allowed := 0, 0
	for range 20_000 {
		var moves []move
		for range 2 + rng.IntN(3) {
			m := randomMove(rng)
			m.toStart += rng.IntN(4) * 40
			moves = append(moves, *m)
		}
		want := false
		for i := range moves {
			for j := range moves {
				want = want || i != j && feeds(&moves[i], &moves[j])
			}
		}
		err := checkCrossing(moves)
		require.Equal(t, want, err != nil, "%v", moves)
		if want {
			refused++
		} else {
			allowed++
		}
	}
	require.Greater(t, refused, 2_000)
	require.Greater(t, allowed, 2_000)
}

// feeds reports whether b reads a byte that a writes.
func feeds(a, b *move) bool {
	written, hit := map[int]bool{}, false
	at := func(m memory) int { n, _ := shift(memory{bytes: buffer}, m); return n }
	a.touched(0, func(to, _ int) {
		for i := range a.width {
			written[at(a.to)+to+i] = true
		}
	})
	b.touched(0, func(_, from int) {
		for i := range b.width {
			hit = hit || written[at(b.from)+from+i]
		}
	})
	return hit
}

// By whatever spacing sites are folded before they are compared, the verdict is that of looking at
// every byte.
func TestFoldedOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	refused, allowed := 0, 0
	for range 5_000 {
		moves := []move{*randomMove(rng), *randomMove(rng)}
		moves[1].toStart += rng.IntN(4) * 40
		want := apart
		if feeds(&moves[0], &moves[1]) || feeds(&moves[1], &moves[0]) {
			want = overlap
		}
		c := crossing{moves: moves}
		sites := c.sites()
		slices.SortFunc(sites, func(a, b site) int { return cmp.Compare(a.low, b.low) })
		for _, spacing := range append(c.spacings(sites), 1, 1+rng.IntN(50), 1<<40) {
			steps := math.MaxInt
			require.Equal(t, want, c.sweep(c.folded(sites, spacing), &steps), "by %d: %v", spacing, moves)
		}
		if want == overlap {
			refused++
		} else {
			allowed++
		}
	}
	require.Greater(t, refused, 500)
	require.Greater(t, allowed, 500)
}

// Copies whose strides have nothing in common are compared pair by pair, and told apart all the
// same.
func TestCrossingOfMixedStrides(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const span = 1 << 14
	buf, out := make([]byte, span), make([]byte, 64)
	written := make([]bool, span)
	strided := func(apart bool) shapeops.View {
		for {
			v := shapeops.View{Shape: shapeops.Shape{20}, Strides: []int{50 + rng.IntN(100)}, Offset: rng.IntN(span / 8)}
			if !apart || !slices.ContainsFunc(slices.Collect(v.Offsets()), func(at int) bool { return written[at] }) {
				return v
			}
		}
	}
	flat := shapeops.View{Shape: shapeops.Shape{20}, Strides: []int{1}}
	moves := make([]move, 128)
	for i := range moves[:64] {
		v := strided(false)
		for at := range v.Offsets() {
			written[at] = true
		}
		moves[i].all(1, memory{bytes: buf}, memory{bytes: out}, v, flat)
	}
	for i := range moves[64:] {
		moves[64+i].all(1, memory{bytes: make([]byte, 20)}, memory{bytes: buf}, flat, strided(true))
	}
	require.NoError(t, checkCrossing(moves))
	moves[100].fromAt = moves[3].toStart
	require.ErrorIs(t, checkCrossing(moves), ErrOverlap)
}

// Columns of one table, and rows of one table, are told apart by sorting alone: in a number of
// steps that is linear in the copies.
func TestCrossingBySorting(t *testing.T) {
	const n = 1000
	table := memory{bytes: make([]byte, n*2*n)}
	columns, rows := make([]move, n), make([]move, n)
	view := func(at, stride int) shapeops.View {
		return shapeops.View{Shape: shapeops.Shape{n}, Strides: []int{stride}, Offset: at}
	}
	for i := range n {
		columns[i].all(1, table, table, view(2*i, 2*n), view(2*((i*7)%n)+1, 2*n))
		rows[i].all(1, table, table, view(i*2*n, 1), view(i*2*n+n, 1))
	}
	for name, moves := range map[string][]move{"columns": columns, "rows": rows} {
		c, none := crossing{moves: moves}, 0
		sites := c.sites()
		slices.SortFunc(sites, func(a, b site) int { return a.low - b.low })
		require.Equal(t, apart, c.compare(sites, &none), "%s: without a step for pairs", name)
	}
}
