package sampler

import "fmt"

// A Spread says how close to uniform the orders of Blocks are.
type Spread struct {
	Window int // units that are in a random order together
	Block  int // units of a block, which are in one window

	// Neighbours is the share of positions that hold a unit of the same block as the next position,
	// and Uniform what that share is in a uniform order.
	Neighbours, Uniform float64

	// Reach is how far apart in the order units are that follow each other in the data: 1 is as far
	// as in a uniform order.
	Reach float64
}

// String describes the spread in a line.
func (s Spread) String() string {
	return fmt.Sprintf("windows of %d units in blocks of %d: %.3g%% of neighbours of one block, uniform %.3g%%; reach %.3g%%",
		s.Window, s.Block, 100*s.Neighbours, 100*s.Uniform, 100*s.Reach)
}

// Spread returns how close to uniform the orders of Blocks with these options are, on average, for
// so many units of so many bytes. Reach takes all pairs of blocks for equally far apart. It returns
// [ErrSize] if Blocks does.
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

// reach returns Spread.Reach. Of two units of different blocks, the distance is what is left of the
// mean over all pairs when those of one block are taken out.
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

// A togetherness sums up, over all windows, what units of one block have to do with each other.
type togetherness struct {
	neighbours float64 // of positions, on average
	pairs      float64 // of units
	distance   float64 // of all pairs
	steps      float64 // the distance of those pairs that follow each other in the data
}

// together returns the mean over the windows that the short block may be in.
func (g geometry) together() togetherness {
	last := g.blocks - (g.blocks-1)/g.window*g.window // blocks of the last window
	in := float64(last) / float64(g.blocks)           // how often the short one is among them
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

// windowOf returns the sums of one window of so many blocks, of which one may be the short one.
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
