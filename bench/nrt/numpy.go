package main

import "math/bits"

// A generator draws the same numbers as numpy.random.default_rng(seed): PCG64 (XSL RR 128/64),
// seeded by a SeedSequence. Not safe for concurrent use.
type generator struct {
	state, step wide
	half        uint32 // the upper half of a number whose lower half was drawn
	halved      bool
}

// A wide is a 128-bit integer.
type wide struct{ high, low uint64 }

func (a wide) add(b wide) wide {
	low, carry := bits.Add64(a.low, b.low, 0)
	high, _ := bits.Add64(a.high, b.high, carry)
	return wide{high, low}
}

func (a wide) mul(b wide) wide {
	high, low := bits.Mul64(a.low, b.low)
	return wide{high + a.high*b.low + a.low*b.high, low}
}

func newGenerator(seed uint32) *generator {
	s := sequence(seed)
	step := wide{s[2]<<1 | s[3]>>63, s[3]<<1 | 1}
	g := &generator{state: step.add(wide{s[0], s[1]}), step: step}
	g.advance()
	return g
}

func (g *generator) advance() {
	g.state = g.state.mul(wide{0x2360ed051fc65da4, 0x4385df649fccf645}).add(g.step)
}

// uint64 draws 64 bits.
func (g *generator) uint64() uint64 {
	g.advance()
	return bits.RotateLeft64(g.state.high^g.state.low, -int(g.state.high>>58))
}

// uint32 draws 32 bits: first the lower half of 64 bits, then the upper half.
func (g *generator) uint32() uint32 {
	if g.halved {
		g.halved = false
		return g.half
	}
	v := g.uint64()
	g.half, g.halved = uint32(v>>32), true
	return uint32(v)
}

// float64 draws from [0, 1).
func (g *generator) float64() float64 { return float64(g.uint64()>>11) / (1 << 53) }

// below draws an integer from [0, n) by Lemire's method, as Generator.choice(n) does. n must be at
// least 1.
func (g *generator) below(n uint32) int64 {
	if n == 1 {
		return 0
	}
	m := uint64(g.uint32()) * uint64(n)
	if uint32(m) < n {
		for least := -n % n; uint32(m) < least; {
			m = uint64(g.uint32()) * uint64(n)
		}
	}
	return int64(m >> 32)
}

// A hash is the hash of a SeedSequence, whose constant changes with each use.
type hash struct{ constant, factor uint32 }

func (h *hash) of(v uint32) uint32 {
	v ^= h.constant
	h.constant *= h.factor
	v *= h.constant
	return v ^ v>>16
}

// sequence returns SeedSequence(seed).generate_state(4, uint64).
func sequence(seed uint32) (out [4]uint64) {
	in := hash{0x43b0d7e5, 0x931e8875}
	pool := [4]uint32{in.of(seed), in.of(0), in.of(0), in.of(0)}
	for from := range pool {
		for to := range pool {
			if from != to {
				v := 0xca01f9dd*pool[to] - 0x4973f715*in.of(pool[from])
				pool[to] = v ^ v>>16
			}
		}
	}
	final := hash{0x8b51f9dd, 0x58f38ded}
	for i := range out {
		low, high := final.of(pool[2*i%4]), final.of(pool[(2*i+1)%4])
		out[i] = uint64(high)<<32 | uint64(low)
	}
	return out
}
