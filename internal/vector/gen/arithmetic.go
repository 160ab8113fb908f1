package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// An instruction takes its operands in the order of Go's assembler, the right operand first and the
// result last: sub(b, a, to) sets to to a - b.
type instruction func(ops ...Op)

// A format is a floating-point format with its instructions.
type format struct {
	bits, size, lanes                  int
	mov, broadcast                     instruction
	masked                             func(from, mask, to Op) // loads 0 where the mask is not set
	past                               func(v, to Op)
	add, sub, mul, div, max, min, sqrt instruction
	and, or, xor                       instruction
	cmp                                instruction             // the predicate first
	choose                             func(mask, x, y, to Op) // x where the mask is set
	round                              func(mode, x, to Op)
	sign, magnitude                    func() Mem
}

var float32s, float64s = format{
	bits: 32, size: 4, lanes: 8,
	mov: VMOVUPS, broadcast: VBROADCASTSS, masked: VMASKMOVPS, past: VMOVNTPS,
	add: VADDPS, sub: VSUBPS, mul: VMULPS, div: VDIVPS, max: VMAXPS, min: VMINPS, sqrt: VSQRTPS,
	and: VANDPS, or: VORPS, xor: VXORPS, cmp: VCMPPS, choose: VBLENDVPS, round: VROUNDPS,
	sign:      func() Mem { return bits32(1 << 31) },
	magnitude: func() Mem { return bits32(1<<31 - 1) },
}, format{
	bits: 64, size: 8, lanes: 4,
	mov: VMOVUPD, broadcast: VBROADCASTSD, masked: VMASKMOVPD, past: VMOVNTPD,
	add: VADDPD, sub: VSUBPD, mul: VMULPD, div: VDIVPD, max: VMAXPD, min: VMINPD, sqrt: VSQRTPD,
	and: VANDPD, or: VORPD, xor: VXORPD, cmp: VCMPPD, choose: VBLENDVPD, round: VROUNDPD,
	sign:      func() Mem { return bits64(1 << 63) },
	magnitude: func() Mem { return bits64(1<<63 - 1) },
}

// arithmetic writes the kernels whose result has the format of their operands.
func arithmetic() {
	for _, f := range []format{float32s, float64s} {
		f.two("add", f.simply(f.add))
		f.two("sub", f.simply(f.sub))
		f.two("mul", f.simply(f.mul))
		f.two("div", f.simply(f.div))
		f.two("minimum", f.minimum)
		f.two("maximum", f.maximum)
		f.clamp()
		f.one("neg", func(a vec) vec { return made(func(v vec) { f.xor(f.sign(), a, v) }) })
		f.one("abs", func(a vec) vec { return made(func(v vec) { f.and(f.magnitude(), a, v) }) })
		f.one("relu", f.relu)
		f.one("sqrt", func(a vec) vec { return made(func(v vec) { f.sqrt(a, v) }) })
		for mode, name := range []string{"round", "floor", "ceil", "trunc"} {
			f.one(name, func(a vec) vec { return made(func(v vec) { f.round(U8(8+mode), a, v) }) })
		}
	}
}

// name returns the name of a kernel for the format.
func (f format) name(of string) string { return fmt.Sprint(of, f.bits) }

// simply returns a body of one instruction.
func (f format) simply(do instruction) func(a, b vec) vec {
	return func(a, b vec) vec { return made(func(v vec) { do(b, a, v) }) }
}

// minimum returns the lesser numbers. If either number is NaN, or both are zeros, the instruction
// returns its second operand. So both orders are computed; in the bitwise OR of the results NaN and
// -0 win.
func (f format) minimum(a, b vec) vec {
	v, w := YMM(), YMM()
	f.min(a, b, v)
	f.min(b, a, w)
	f.or(v, w, w)
	return w
}

// maximum returns the greater numbers. Where the results of the two orders differ, their bitwise OR
// is NaN or -0; minus their difference it is NaN or 0.
func (f format) maximum(a, b vec) vec {
	v, w := YMM(), YMM()
	f.max(a, b, v)
	f.max(b, a, w)
	f.xor(v, w, v)
	f.or(v, w, w)
	f.sub(v, w, w)
	return w
}

// relu returns numbers above 0 and NaN, and 0 for others. The addition turns -0 into 0.
func (f format) relu(a vec) vec {
	zero, v := YMM(), YMM()
	f.xor(zero, zero, zero)
	f.add(zero, a, v)
	f.max(v, zero, v)
	return v
}

// one writes a kernel of one operand.
func (f format) one(name string, do func(a vec) vec) {
	k := begin(f.name(name), f.size, f.size, 0)
	f.loops(k, 4, func(off int) vec { return do(loaded(f.mov, k.from(off))) })
}

// two writes a kernel of two operands, and one whose second operand is a single number.
func (f format) two(name string, do func(a, b vec) vec) {
	k := begin(f.name(name), f.size, f.size, f.size)
	f.loops(k, 4, func(off int) vec { return do(loaded(f.mov, k.from(off)), loaded(f.mov, k.with(off))) })
	k = begin(f.name(name+"Number"), f.size, f.size, 0)
	b := number(f.broadcast, "x")
	f.loops(k, 4, func(off int) vec { return do(loaded(f.mov, k.from(off)), b) })
}

// clamp writes the kernel that clamps to two numbers.
func (f format) clamp() {
	k := begin(f.name("clamp"), f.size, f.size, 0)
	low, high := number(f.broadcast, "x"), number(f.broadcast, "y")
	f.loops(k, 2, func(off int) vec {
		return f.minimum(f.maximum(loaded(f.mov, k.from(off)), low), high)
	})
}
