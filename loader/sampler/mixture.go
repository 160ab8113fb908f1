package sampler

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/splitmix"
)

// A Part is one part of a Mixture. Its units are numbered from 0 within the part.
type Part struct {
	Units   int     // number of units
	Weight  int     // how often the part is drawn from, in proportion to the others
	Sampler Sampler // orders the units; nil means Random()
}

// MixtureOptions say how long the epochs of a Mixture are. The zero value is the default.
type MixtureOptions struct {
	// Draws is the number of draws in an epoch. 0 means until the first time that a part would
	// begin again; NoEnd means an endless epoch.
	Draws int
}

// maxCycle is the largest sum of the weights of a Mixture, whose pattern is kept as a list.
const maxCycle = 1 << 24

// Mixture returns a sampler that draws from several parts of the units in turn. The units of the
// first part come first, then the units of the second and so on, as with loader.Concat.
//
//	parts := []sampler.Part{{Units: 9000, Weight: 3}, {Units: 500, Weight: 1}}
//	mixed, err := sampler.Mixture(parts, sampler.MixtureOptions{})
//
// The ratios are exact. Divide the weights by their greatest common divisor, and let W be their
// sum: each cycle of W positions has exactly w units of a part of weight w. Of any m consecutive
// positions, the number differs by less than 2 from m*w/W.
//
// Each part has its own order. A part that is used up begins again in another order, and its units
// then are repetitions. The Sampler of a part must have orders of the same length in all epochs.
//
// Mixture returns [ErrUnits] if there are no parts or one has less than 1 unit, [ErrWeight] if a
// weight is less than 1 or their sum, after division, is more than 16,777,216, and [ErrSize] if
// Draws is negative. The sampler's Order returns ErrUnits unless there are as many units as in all
// parts, and if the order of a part is empty. The parts are copied.
func Mixture(parts []Part, opt MixtureOptions) (Sampler, error) {
	m := &mixture{parts: slices.Clone(parts), draws: opt.Draws}
	if opt.Draws < 0 {
		return nil, fmt.Errorf("%w: got %d draws, want at least 0", ErrSize, opt.Draws)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: got no parts to mix", ErrUnits)
	}
	for i := range m.parts {
		if err := m.add(i); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	if err := m.checkCycle(); err != nil {
		return nil, err
	}
	m.pattern = newInterleave(m.weights())
	return m, nil
}

type mixture struct {
	parts   []Part
	draws   int
	units   int // total of all parts
	pattern *interleave
}

// add checks a part and counts its units.
func (m *mixture) add(i int) error {
	p := &m.parts[i]
	switch {
	case p.Units < 1:
		return fmt.Errorf("%w: got %d units, want at least 1", ErrUnits, p.Units)
	case p.Units > math.MaxInt-m.units:
		return fmt.Errorf("%w: got %d units, after %d in the parts before", ErrUnits, p.Units, m.units)
	case p.Weight < 1:
		return fmt.Errorf("%w: got %d, want at least 1", ErrWeight, p.Weight)
	}
	m.units += p.Units
	if p.Sampler == nil {
		p.Sampler = Random()
	}
	return nil
}

func (m *mixture) weights() []int {
	weights := make([]int, len(m.parts))
	for i, p := range m.parts {
		weights[i] = p.Weight
	}
	return weights
}

// checkCycle returns ErrWeight if a cycle would be too long.
func (m *mixture) checkCycle() error {
	small, _ := reduced(m.weights())
	rest := maxCycle
	for i, weight := range small {
		if weight > rest {
			return fmt.Errorf("%w: got %d for part %d, want a sum of at most %d", ErrWeight, weight, i, maxCycle)
		}
		rest -= weight
	}
	return nil
}

// String implements [Sampler].
func (m *mixture) String() string {
	var b strings.Builder
	switch m.draws {
	case 0:
		b.WriteString("mixture")
	case NoEnd:
		b.WriteString("mixture, endless")
	default:
		fmt.Fprintf(&b, "mixture, %d draws", m.draws)
	}
	for i, p := range m.parts {
		fmt.Fprintf(&b, "%s %d of (%d units, %v)", []string{":", ","}[min(i, 1)], p.Weight, p.Units, p.Sampler)
	}
	return b.String()
}

// Order implements [Sampler].
func (m *mixture) Order(e Epoch) (Order, error) {
	if err := e.checkUnits(m.units, "units in the parts"); err != nil {
		return nil, err
	}
	o := &mixtureOrder{n: m.units, draws: m.draws, pattern: m.pattern, parts: make([]mixed, len(m.parts))}
	first := 0
	for i, p := range m.parts {
		part := &o.parts[i]
		part.first, part.units, part.next = first, p.Units, p.passes(i, e)
		first += p.Units
		if err := part.start(); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	if o.draws == 0 {
		o.draws = o.once()
	}
	return o, nil
}

// passes returns the function that returns the orders of part i for an epoch e of all units. Each
// order has its own seed.
func (p Part) passes(i int, e Epoch) func(number int) (Order, error) {
	e.Units, e.Seed = p.Units, splitmix.Mix(splitmix.Mix(e.Seed, 1), uint64(i))
	return func(number int) (Order, error) {
		e := e
		if number > 0 {
			e.Seed = splitmix.Mix(splitmix.Mix(e.Seed, 2), uint64(number)) // 1 is used for parts, also of a nested mixture
		}
		return p.Sampler.Order(e)
	}
}

// A mixed is a part in an epoch: its units, which begin with first, in one order after the other.
type mixed struct {
	first, units int
	passes
}

// start sets the first order.
func (p *mixed) start() error {
	o, err := p.next(0)
	if err == nil && o.Len() < 1 {
		err = fmt.Errorf("%w: got none, want one to repeat", ErrUnits)
	}
	p.begin = o
	return err
}

// A mixtureOrder is the [Order] of mixture. n is the number of units.
type mixtureOrder struct {
	n, draws int
	pattern  *interleave
	parts    []mixed
}

// once returns the number of positions before a part begins again.
func (o *mixtureOrder) once() int {
	positions := NoEnd
	for at, s := range o.pattern.slots {
		length, count := o.parts[s.part].begin.Len(), o.pattern.counts[s.part]
		if length%count != int(s.rank) || length == NoEnd {
			continue
		}
		if cycles := length / count; cycles < (NoEnd-at)/len(o.pattern.slots) {
			positions = min(positions, cycles*len(o.pattern.slots)+at)
		}
	}
	return positions
}

// Len implements [Order].
func (o *mixtureOrder) Len() int { return o.draws }

// AppendTo implements [Order].
func (o *mixtureOrder) AppendTo(dst []int, start, stop int) []int {
	for position := start; position < stop; position++ {
		i, index := o.pattern.at(position)
		part := &o.parts[i]
		number, pass, at := part.at(index)
		dst = pass.AppendTo(dst, at, at+1)
		unit := dst[len(dst)-1]
		k := (number + unit/part.units) & math.MaxInt
		dst[len(dst)-1] = again(part.first+unit%part.units, k, o.n)
	}
	return dst
}
