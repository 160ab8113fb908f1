package tensor

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/shape"
)

// randomMove returns a move between views of one buffer, at random: several widths, strides that
// are often alike, sides out of step by bytes, and rows listed on neither, one or both sides, or as
// runs.
func randomMove(rng *rand.Rand) *move {
	to := shape.View{Offset: rng.IntN(20)}
	for range 1 + rng.IntN(3) {
		to.Shape = append(to.Shape, 1+rng.IntN(4))
		to.Strides = append(to.Strides, 1+rng.IntN(9))
	}
	from := shape.View{Shape: to.Shape, Offset: rng.IntN(20)}
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

func randomRows(rng *rand.Rand, m *move, width int, a, b memory, to, from shape.View) *move {
	if rng.IntN(2) == 0 {
		runs := []shape.Run{}
		for range 1 + rng.IntN(3) {
			runs = append(runs, shape.Run{To: rng.IntN(6), From: rng.IntN(6), Len: rng.IntN(3)})
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

// sides returns the bytes that a move writes and those that it reads, counted from the memory that
// is written.
func (m *move) sides(distance int) (written, read map[int]bool) {
	written, read = map[int]bool{}, map[int]bool{}
	m.touched(distance, func(to, from int) {
		for i := range m.width {
			written[to+i], read[from+i] = true, true
		}
	})
	return written, read
}

func meet(a, b map[int]bool) bool {
	for at := range a {
		if b[at] {
			return true
		}
	}
	return false
}

// Footprints that are said to lie apart do so, byte by byte, and only few others do.
func TestApartOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	apart, meeting, unknown := 0, 0, 0
	rounds := longtests.Times(30_000, 100_000)
	for range rounds {
		m := randomMove(rng)
		distance, shared := shift(m.to, m.from)
		require.True(t, shared)
		if m.bytes() == 0 {
			continue
		}
		written, read := m.sides(distance)
		var room footprints
		to, from := m.footprint(true, 0, &room), m.footprint(false, distance, &room)
		said := to.apart(from)
		require.Equal(t, said, from.apart(to), "%s, %d bytes apart", m, distance)
		switch meets := meet(written, read); {
		case meets:
			require.False(t, said, "%s, %d bytes apart", m, distance)
			meeting++
		case said:
			apart++
		default:
			unknown++
		}
	}
	t.Log("apart", apart, "meeting", meeting, "unknown", unknown)
	require.Greater(t, meeting, rounds/5)
	require.Greater(t, apart, rounds/5)
	require.Less(t, unknown, rounds/5) // strides that differ, and rows that reach into one another
}

// A move that reads what an earlier one writes is staged; by whatever spacing sites are folded,
// too.
func TestSettleOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	fed, apart := 0, 0
	rounds := longtests.Times(6000, 20_000)
	for range rounds {
		var moves []move
		for range 2 + rng.IntN(3) {
			m := randomMove(rng)
			m.toStart += rng.IntN(4) * 40
			moves = append(moves, *m)
		}
		want := make([]bool, len(moves))
		for i := range moves {
			for j := range moves[:i] {
				want[i] = want[i] || feeds(&moves[j], &moves[i])
			}
		}
		check := func(how string) {
			for i := range moves {
				require.True(t, moves[i].staged || !want[i], "%s: move %d of %v", how, i, moves)
				if want[i] {
					fed++
				} else if !moves[i].staged {
					apart++
				}
				moves[i].staged = false
			}
		}
		require.NoError(t, stageConflicts(moves))
		check("all")
		c := &conflicts{moves: moves}
		sites := c.sites()
		c.survey(sites)
		for _, spacing := range []int{1, 1 + rng.IntN(50), 1 << 40} {
			require.True(t, c.sweep(c.folded(sites, spacing)))
			check(fmt.Sprint("by ", spacing))
		}
	}
	require.Greater(t, fed, rounds/10)
	require.Greater(t, apart, rounds/10)
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

// Columns of one table, and rows of one table, are told apart by sorting: none is copied first.
func TestSettleBySorting(t *testing.T) {
	const n = 1000
	table := memory{bytes: make([]byte, n*2*n)}
	columns, rows := make([]move, n), make([]move, n)
	view := func(at, stride int) shape.View {
		return shape.View{Shape: shape.Shape{n}, Strides: []int{stride}, Offset: at}
	}
	for i := range n {
		columns[i].all(1, table, table, view(2*i, 2*n), view(2*((i*7)%n)+1, 2*n))
		rows[i].all(1, table, table, view(i*2*n, 1), view(i*2*n+n, 1))
	}
	for name, moves := range map[string][]move{"columns": columns, "rows": rows} {
		require.NoError(t, stageConflicts(moves))
		for i := range moves {
			require.NoError(t, moves[i].resolve(new(footprints)))
			require.False(t, moves[i].staged, "%s: %d", name, i)
		}
	}
}
