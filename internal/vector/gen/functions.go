package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// functions writes the kernels of exponential functions. They compute in float64, four numbers in a
// vector, and several vectors in turn, because each instruction waits for the one before it on the
// same vector. plain_functions.go of package vector defines the functions.
func functions() {
	function("exp32", -104, 89, exps)
	function("sigmoid32", -104, 104, func(x []vec) []vec {
		each(x, func(x vec) { VXORPD(bits64(1<<63), x, x) })
		p := exps(x)
		one := loaded(VMOVUPD, double(1))
		each(p, func(p vec) { VADDPD(one, p, p) })
		each(p, func(p vec) { VDIVPD(p, one, p) })
		return p
	})
	tanh()
	log()
	weightRows("weightRows32", false)
	weightRows("addWeightRows32", true)
}

// each writes an instruction for each vector.
func each(all []vec, write func(v vec)) {
	for _, v := range all {
		write(v)
	}
}

// like returns a new register for each vector.
func like(all []vec) []vec {
	more := make([]vec, len(all))
	for i := range more {
		more[i] = YMM()
	}
	return more
}

// function writes a kernel that limits numbers to a range and computes with them, 16 at a time.
func function(name string, low, high float32, do func(x []vec) []vec) {
	k := begin(name, 4, 4, 0)
	k.loop("wide", 16, 1, func(int) {
		k.put(do(k.cut(4, low, high)))
	})
	k.end()
}

// cut returns 4*n numbers as float64, limited to a range. NaN stays NaN.
func (k *kernel) cut(n int, low, high float32) []vec {
	x := make([]vec, n)
	for i := range x {
		v, w := XMM(), XMM()
		VMOVUPS(single(low), v)
		VMAXPS(k.from(4*i), v, v)
		VMOVUPS(single(high), w)
		VMINPS(v, w, v)
		x[i] = YMM()
		VCVTPS2PD(v, x[i])
	}
	return x
}

// put rounds numbers to float32, and stores them in dst.
func (k *kernel) put(x []vec) {
	for i, x := range x {
		v := XMM()
		VCVTPD2PSY(x, v)
		VMOVUPS(v, k.to(4*i))
	}
}

// exp2 are the coefficients of 2^r = 1 + c[0] r + c[1] r^2 + ..., |r| <= 1/2.
var exp2 = []float64{
	0x1.62e42fefa39f7p-1, 0x1.ebfbdff82c590p-3, 0x1.c6b08d7044119p-5, 0x1.3b2ab6fba385fp-7, 0x1.5d87fe908f9a9p-10,
	0x1.43091303784e4p-13, 0x1.ffcb76785562cp-17, 0x1.62bfe460f8521p-20, 0x1.b6571e2f82e46p-24, 0x1.e5e9f58fa1da7p-28,
}

// toBase2 splits x times scale times log2 e into whole numbers, in the last bits of k, and the rest
// r. scale is a power of two. It overwrites x.
func toBase2(x []vec, scale float64) (k, r []vec) {
	k = like(x)
	whole := like(x)
	for i := range x {
		VMULPD(double(scale*math.Log2E), x[i], k[i])
	}
	each(k, func(k vec) { VADDPD(double(0x1.8p52), k, k) })
	for i := range x {
		VSUBPD(double(0x1.8p52), k[i], whole[i])
	}
	for i := range x {
		VFMSUB132PD(double(scale*math.Log2E), whole[i], x[i])
	}
	return k, x
}

// polynomial returns c[0] + c[1] r + ...
func polynomial(r []vec, c []float64) []vec {
	p := like(r)
	each(p, func(p vec) { VMOVUPD(double(c[len(c)-1]), p) })
	for i := len(c) - 2; i >= 0; i-- {
		for j := range p {
			VFMADD213PD(double(c[i]), r[j], p[j])
		}
	}
	return p
}

// exps returns e to the power of x.
func exps(x []vec) []vec {
	k, r := toBase2(x, 1)
	p := polynomial(r, append([]float64{1}, exp2...))
	each(k, func(k vec) { VPSLLQ(Imm(52), k, k) })
	for i := range p {
		VPADDQ(k[i], p[i], p[i])
	}
	return p
}

// tanh writes tanh x = (e^2x - 1) / (e^2x + 1). e^2x - 1 is computed as 2^k (2^r - 1) + 2^k - 1,
// which is exact enough for small x. At the end the result gets the sign of x, also of -0.
func tanh() {
	k := begin("tanh32", 4, 4, 0)
	k.loop("wide", 8, 1, func(int) {
		x := k.cut(2, -20, 20)
		k2, r := toBase2(x, 2)
		p := polynomial(r, exp2)
		one := loaded(VMOVUPD, double(1))
		t := like(p)
		for i := range p {
			VMULPD(r[i], p[i], p[i])
			VPSLLQ(Imm(52), k2[i], k2[i])
			VPADDQ(one, k2[i], k2[i])
			VSUBPD(one, k2[i], t[i])
			VFMADD213PD(t[i], k2[i], p[i])
		}
		for i := range p {
			VADDPD(double(2), p[i], t[i])
			VDIVPD(t[i], p[i], p[i])
		}
		for i, p := range p {
			v, s := XMM(), XMM()
			VCVTPD2PSY(p, v)
			VMOVUPS(bits32(1<<31), s)
			VANDPS(k.from(4*i), s, s)
			VORPS(s, v, v)
			VMOVUPS(v, k.to(4*i))
		}
	})
	k.end()
}

// logs are the coefficients of log((1+s)/(1-s)) = 2s + s (c[0] s^2 + c[1] s^4 + ...), which package
// math uses too. (Source: FreeBSD's e_log.c.)
var logs = []float64{
	6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
}

// log writes log x = e log 2 + log m, where x = m 2^e and m is from sqrt(1/2) to sqrt 2. Converted
// to float64, no float32 is subnormal.
func log() {
	k := begin("log32", 4, 4, 0)
	for _, vectors := range []int{4, 1} {
		k.loop(fmt.Sprint("vectors", vectors), 4*vectors, 1, func(int) {
			for i, r := range k.logs(vectors) {
				v := XMM()
				VCVTPD2PSY(r, v)
				k.putLog(4*i, v)
			}
		})
	}
	k.end()
}

// logs returns the logarithms of numbers above 0. It computes e twice for lack of registers.
func (k *kernel) logs(vectors int) []vec {
	root := math.Float64bits(math.Sqrt2/2) &^ (1<<32 - 1)
	exponent := func(i int, e vec) vec { // of number 4*i and the next three, plus 1023
		x := wide(k.from(4 * i))
		VPADDQ(bits64(1023<<52-root), x, e)
		VPSRLQ(Imm(52), e, e)
		return x
	}
	f := make([]vec, vectors)
	s, s2 := like(f), like(f)
	for i := range f {
		f[i] = exponent(i, s[i])
		VPSLLQ(Imm(52), s[i], s[i])
		VPSUBQ(s[i], f[i], f[i])
		VPADDQ(bits64(1023<<52), f[i], f[i]) // m
		VSUBPD(double(1), f[i], f[i])
	}
	for i, f := range f {
		VADDPD(double(2), f, s[i])
		VDIVPD(s[i], f, s[i])
	}
	for i := range s {
		VMULPD(s[i], s[i], s2[i])
	}
	r := polynomial(s2, logs)
	for i, r := range r {
		square := s2[i]
		VMULPD(square, r, r)
		VMULPD(double(0.5), f[i], square)
		VMULPD(f[i], square, square) // f^2 / 2
		VADDPD(square, r, r)
		VFMSUB213PD(square, s[i], r) // s (r + f^2 / 2) - f^2 / 2
	}
	for i, r := range r {
		e := s[i]
		exponent(i, e)
		VPOR(bits64(0x433<<52), e, e)
		VSUBPD(double(0x1p52+1023), e, e)
		VFMADD231PD(double(ln2Low), e, r)
		VADDPD(f[i], r, r)
		VFMADD231PD(double(ln2High), e, r)
	}
	return r
}

// The logarithm of 2, in two parts.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// putLog sets dst to the logarithms v. It sets -Inf where x is 0, NaN where x is below 0, and x
// itself where x is infinite or NaN.
func (k *kernel) putLog(off int, v Op) {
	x, zero, mask, odd := XMM(), XMM(), XMM(), XMM()
	VMOVUPS(k.from(off), x)
	VXORPS(zero, zero, zero)
	VCMPPS(U8(equal), zero, x, mask)
	VMOVUPS(single(float32(math.Inf(-1))), odd)
	VBLENDVPS(mask, odd, v, v)
	VCMPPS(U8(less), zero, x, mask)
	VMOVUPS(single(float32(math.NaN())), odd)
	VBLENDVPS(mask, odd, v, v)
	VMOVUPS(single(float32(math.Inf(1))), odd)
	VCMPPS(U8(notLess), odd, x, mask)
	VBLENDVPS(mask, x, v, v)
	VMOVUPS(v, k.to(off))
}

// weightRows writes e^(x-b) as float64 for rows of x that begin at given elements. Each result is
// set as a row of dst, or, if add is true, added to dst.
func weightRows(name string, add bool) {
	k := beginRows(name, "func(dst, x []byte, at []int, b []byte)", 8, 4)
	k.b, k.width.b = Load(Param("b").Base(), GP64()).(gp), 4
	Load(Param("b").Len(), k.n)
	stride := GP64()
	LEAQ(Mem{Base: k.n, Index: k.n, Scale: 1}, stride)
	elements(k.n, 4)
	some := func(label string, vectors int, load func(m Mem) Op, of access) {
		sums, b, x := float64s.vectors(vectors), make([]vec, vectors), make([]vec, vectors)
		for i := range b {
			b[i] = wide(load(k.with(4 * i)))
			if add {
				VMOVUPD(of.load(k.to(4*i)), sums[i])
			}
		}
		to := GP64()
		MOVQ(k.dst, to)
		k.eachRow(label, func(row Mem) {
			for i := range x {
				x[i] = wide(load(row.Offset(16 * i)))
			}
			for i, p := range weightsOf(x, b) {
				if add {
					VADDPD(p, sums[i], sums[i])
				} else {
					of.store(p, Mem{Base: to, Disp: 32 * i})
				}
			}
			ADDQ(stride, to)
		})
		for i, sum := range sums {
			if add {
				of.store(sum, k.to(4*i))
			}
		}
	}
	for _, vectors := range []int{2, 1} {
		label := fmt.Sprint("vectors", vectors)
		k.loop(label, 4*vectors, 1, func(int) { some(label+"rows", vectors, asIs, float64s.whole()) })
	}
	TESTQ(k.n, k.n)
	JZ(LabelRef("done"))
	some("tail", 1, firstQuads(k.n), float64s.first(k.n))
	Label("done")
	VZEROUPPER()
	RET()
}

// wide returns four float32 as float64.
func wide(from Op) vec { return made(func(v vec) { VCVTPS2PD(from, v) }) }

// firstQuads returns a load of the first n of four float32. The others become 0.
func firstQuads(n gp) func(m Mem) Op {
	mask := float32s.ones(n).AsX()
	return func(m Mem) Op {
		v := XMM()
		VMASKMOVPS(m, mask, v)
		return v
	}
}

// weightsOf returns e^(x-b), or 1 where x and b are equal, even if infinite. It overwrites x.
func weightsOf(x, b []vec) []vec {
	kept := like(x)
	for i := range x {
		other := YMM()
		VCMPPD(U8(equal), b[i], x[i], other)
		VSUBPD(b[i], x[i], x[i])
		VANDNPD(x[i], other, x[i])
		VCMPPD(U8(notLess), double(leastExponent), x[i], kept[i]) // NaN is not less
		VMOVUPD(double(smallExponent), other)
		VMAXPD(x[i], other, x[i])
	}
	p := exps(x)
	for i, p := range p {
		VANDPD(kept[i], p, p)
	}
	return p
}

// The limits of exponents, as in package vector.
const (
	leastExponent = -745.13321910194110842 // the power of a lesser exponent is 0, as in math.Exp
	smallExponent = -708                   // the power of a lesser exponent is computed as e^-708
)
