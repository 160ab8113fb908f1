package sampler

import "fmt"

// A Spread says how close to uniform the orders of Blocks are.
type Spread struct {
	Window int // units in a window, which are shuffled together
	Block  int // units in a block, which are in the same window

	// Neighbours is the fraction of positions with a unit of the same block as the next position.
	// Uniform is that fraction in a uniform order.
	Neighbours, Uniform float64

	// Reach is the distance in the order of units that are consecutive in the data, relative to a
	// uniform order, where it is 1.
	Reach float64
}

// String describes the spread in one line.
func (s Spread) String() string {
	return fmt.Sprintf("windows of %d units in blocks of %d: %.3g%% of neighbours of one block, uniform %.3g%%; reach %.3g%%",
		s.Window, s.Block, 100*s.Neighbours, 100*s.Uniform, 100*s.Reach)
}

// Spread returns how close to uniform the orders of Blocks with these options are, on average, for
// units units of unitBytes bytes. Reach assumes that all pairs of blocks are equally far apart.
// Spread returns [ErrSize] if Blocks does.
func (o BlockOptions) Spread(units, unitBytes int) (Spread, error) {
	g, err := o.geometry(units, unitBytes)
	if err != nil {
		return Spread{}, err
	}
	s := Spread{Window: min(g.n, g.window*g.block), Block: g.block, Reach: 1}
	if units < 2 {
		return s, nil
	}
	n := float64(g.n)
	all := g
	all.window = g.blocks
	s.Neighbours = g.together().neighbours / (n - 1)
	s.Uniform = all.together().neighbours / (n - 1)
	s.Reach = g.reach()
	return s, nil
}

// reach returns Spread.Reach. The distance of two units of different blocks is the mean over all
// pairs without the pairs of one block.
func (g geometry) reach() float64 {
	n, t := float64(g.n), g.together()
	uniform, pairs := (n+1)/3, n*(n-1)/2
	same := n - float64(g.blocks)
	distance := t.steps
	if rest := pairs - t.pairs; rest > 0 {
		distance += (n - 1 - same) * (pairs*uniform - t.distance) / rest
	}
	return distance / ((n - 1) * uniform)
}

// A togetherness has sums, over all windows, about units of the same block.
type togetherness struct {
	neighbours float64 // positions with a unit of the same block next, on average
	pairs      float64 // pairs of units
	distance   float64 // total distance of these pairs
	steps      float64 // total distance of the pairs that are consecutive in the data
}

// together returns the mean over the windows that may contain the short block.
func (g geometry) together() togetherness {
	last := g.blocks - (g.blocks-1)/g.window*g.window // blocks of the last window
	in := float64(last) / float64(g.blocks)           // probability that the short one is among them
	full := float64((g.blocks - 1) / g.window)
	var t togetherness
	t.add(in, g.windowOf(last, true))
	t.add(in*full, g.windowOf(g.window, false))
	if full > 0 {
		t.add(1-in, g.windowOf(last, false))
		t.add(1-in, g.windowOf(g.window, true))
		t.add((1-in)*(full-1), g.windowOf(g.window, false))
	}
	return t
}

func (t *togetherness) add(times float64, w togetherness) {
	t.neighbours += times * w.neighbours
	t.pairs += times * w.pairs
	t.distance += times * w.distance
	t.steps += times * w.steps
}

// windowOf returns the sums of one window of blocks blocks; if short is set, one of them is the
// short one.
func (g geometry) windowOf(blocks int, short bool) togetherness {
	size := float64(g.block)
	units, steps, ordered := float64(blocks)*size, float64(blocks)*(size-1), float64(blocks)*size*(size-1)
	if short {
		rest := size - float64(g.missing())
		units, steps = units-size+rest, steps-size+rest
		ordered += rest*(rest-1) - size*(size-1)
	}
	distance := (units + 1) / 3
	return togetherness{ordered / units, ordered / 2, ordered / 2 * distance, steps * distance}
}
