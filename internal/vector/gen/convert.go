package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// conversions writes the kernels between float32 and narrower formats.
func conversions() {
	widen("widenF1632", 2, func(k *kernel) func(off int) vec {
		return func(off int) vec { return made(func(v vec) { VCVTPH2PS(k.from(off), v) }) }
	})
	widen("widenBF1632", 2, func(k *kernel) func(off int) vec {
		return func(off int) vec {
			v := loaded(extend16, k.from(off))
			VPSLLD(U8(16), v, v)
			return v
		}
	})
	widen("ofBytes32", 1, func(k *kernel) func(off int) vec { return k.bytes })
	widen("scaleBytes32", 1, func(k *kernel) func(off int) vec { return k.scaled(k.bytes) })
	widen("scale32", 4, func(k *kernel) func(off int) vec {
		return k.scaled(func(off int) vec { return loaded(VMOVUPS, k.from(off)) })
	})
	narrowF16()
	narrowBF16()
	toBytes()
	keys()
}

// VPMOVZXBD and VPMOVZXWD as instructions.
var extend8, extend16 instruction = func(ops ...Op) { VPMOVZXBD(ops[0], ops[1]) }, func(ops ...Op) { VPMOVZXWD(ops[0], ops[1]) }

// widen writes a kernel that converts elements of from bytes to float32.
func widen(name string, from int, body func(k *kernel) func(off int) vec) {
	k := begin(name, 4, from, 0)
	float32s.loops(k, 4, body(k))
}

// bytes returns eight bytes as float32.
func (k *kernel) bytes(off int) vec {
	v := loaded(extend8, k.from(off))
	VCVTDQ2PS(v, v)
	return v
}

// scaled returns numbers multiplied by x, plus y.
func (k *kernel) scaled(numbers func(off int) vec) func(off int) vec {
	scale, shift := number(VBROADCASTSS, "x"), number(VBROADCASTSS, "y")
	return func(off int) vec {
		v := numbers(off)
		VMULPS(scale, v, v)
		VADDPS(shift, v, v)
		return v
	}
}

// narrowF16 rounds to the nearest float16. The instruction would keep the payload of a NaN, so it
// gets only the sign and the quiet bit.
func narrowF16() {
	k := begin("narrowF1632", 2, 4, 0)
	k.loop("wide", 8, 4, k.halves)
	k.loop("narrow", 8, 1, k.halves)
	k.end()
}

func (k *kernel) halves(off int) {
	v, nan, payload := loaded(VMOVUPS, k.from(off)), YMM(), YMM()
	VCMPPS(U8(unordered), v, v, nan)
	VANDPS(bits32(1<<22-1), nan, payload)
	VANDNPS(v, payload, v)
	VANDPS(bits32(1<<22), nan, nan)
	VORPS(nan, v, v)
	VCVTPS2PH(U8(0), v, k.to(off))
}

// narrowBF16 rounds to the nearest bfloat16, ties to even: it adds half of the last bit that stays,
// minus one unit if that bit is 0.
func narrowBF16() {
	k := begin("narrowBF1632", 2, 4, 0)
	k.loop("wide", 16, 1, func(int) {
		v, w := k.upper(0), k.upper(8)
		VPACKUSDW(w, v, v)
		VPERMQ(U8(0xd8), v, v)
		VMOVDQU(v, k.to(0))
	})
	k.end()
}

// upper returns the rounded upper halves of eight numbers. For a NaN it is the sign and the quiet
// bit.
func (k *kernel) upper(off int) vec {
	v, odd, nan, quiet := loaded(VMOVUPS, k.from(off)), YMM(), YMM(), YMM()
	VCMPPS(U8(unordered), v, v, nan)
	VPAND(bits32(1<<31), v, quiet)
	VPOR(bits32(0x7fc0<<16), quiet, quiet)
	VPSRLD(U8(16), v, odd)
	VPAND(bits32(1), odd, odd)
	VPADDD(bits32(1<<15-1), v, v)
	VPADDD(odd, v, v)
	VBLENDVPS(nan, quiet, v, v)
	VPSRLD(U8(16), v, v)
	return v
}

// toBytes truncates numbers towards zero and saturates; NaN becomes 0.
func toBytes() {
	k := begin("toBytes32", 1, 4, 0)
	order := loaded(VMOVUPS, packed())
	k.loop("wide", 32, 1, func(int) {
		var eights [4]vec
		for i := range eights {
			eights[i] = k.whole(8 * i)
		}
		VPACKUSDW(eights[1], eights[0], eights[0])
		VPACKUSDW(eights[3], eights[2], eights[2])
		VPACKUSWB(eights[2], eights[0], eights[0])
		VPERMD(eights[0], order, eights[0])
		VMOVDQU(eights[0], k.to(0))
	})
	k.end()
}

// whole returns eight numbers, limited to the range from 0 to 255, as integers.
func (k *kernel) whole(off int) vec {
	v, zero := loaded(VMOVUPS, k.from(off)), YMM()
	VXORPS(zero, zero, zero)
	VMAXPS(zero, v, v) // 0 if v is NaN
	VMINPS(single(255), v, v)
	VCVTTPS2DQ(v, v)
	return v
}

// keys makes integers that order as numbers do, after it has flipped the bits of x in them. In
// negative numbers it flips all bits but the sign. NaN becomes the largest.
func keys() {
	k := begin("keys32", 4, 4, 0)
	flip, zero, largest := number(VBROADCASTSS, "x"), YMM(), loaded(VMOVUPS, bits32(1<<31-1))
	VXORPS(zero, zero, zero)
	k.loop("wide", 8, 1, func(off int) {
		v, negative, nan := YMM(), YMM(), YMM()
		VXORPS(k.from(off), flip, v)
		VADDPS(zero, v, v) // -0 + 0 is 0
		VCMPPS(U8(unordered), v, v, nan)
		VPSRAD(U8(31), v, negative)
		VPAND(largest, negative, negative)
		VPXOR(negative, v, v)
		VBLENDVPS(nan, largest, v, v)
		VMOVUPS(v, k.to(off))
	})
	k.end()
}
