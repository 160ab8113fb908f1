package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reductions writes the kernels that combine many numbers into few.
func reductions() {
	for _, f := range []format{float32s, float64s} {
		f.extreme("least", f.min, f.or)
		f.extreme("greatest", f.max, f.and)
		f.blend()
	}
	sums()
	rows()
}

// blend writes the kernel that replaces numbers whose byte in b is 0 by the number x.
func (f format) blend() {
	k := begin(f.name("blend"), f.size, f.size, 1)
	neutral := number(f.broadcast, "x")
	f.loops(k, 2, func(off int) vec {
		v := YMM()
		if f.bits == 32 {
			VPMOVZXBD(k.with(off), v)
			VPSLLD(U8(31), v, v)
		} else {
			VPMOVZXBQ(k.with(off), v)
			VPSLLQ(U8(63), v, v)
		}
		f.choose(v, k.from(off), neutral, v)
		return v
	})
}

// extreme writes a kernel that returns the bits of the extreme of a, whose length is a multiple of
// four vectors. The min and max instructions lose NaN and the sign of zeros, so the kernel also
// tracks whether any number is NaN, and the sign of the result. The least number is negative if any
// number is, the greatest if all are.
func (f format) extreme(name string, better, signs instruction) {
	k := begin(f.name(name), 1, f.size, 0)
	Load(Param("a").Len(), k.n)
	elements(k.n, f.size)
	nan := YMM()
	f.xor(nan, nan, nan)
	var best, sign [4]vec
	for i := range best {
		best[i], sign[i] = loaded(f.mov, k.from(i*f.lanes)), YMM()
		f.mov(best[i], sign[i])
	}
	k.width.dst = 0
	k.loop("wide", 4*f.lanes, 1, func(int) {
		var v [4]vec
		for i := range v {
			v[i] = loaded(f.mov, k.from(i*f.lanes))
			better(v[i], best[i], best[i])
			signs(v[i], sign[i], sign[i])
		}
		for i := 0; i < len(v); i += 2 {
			f.cmp(U8(unordered), v[i], v[i+1], v[i])
			f.or(v[i], nan, nan)
		}
	})
	for i := range 3 {
		better(best[i+1], best[0], best[0])
		signs(sign[i+1], sign[0], sign[0])
	}
	f.across(best[0], better)
	f.across(sign[0], signs)
	f.across(nan, f.or)
	f.join(best[0], sign[0], nan)
	VMOVQ(best[0].AsX(), k.n)
	k.end()
}

// across combines all numbers of a vector with an instruction. The first number becomes the result.
func (f format) across(v vec, do instruction) {
	x, other := v.AsX(), XMM()
	VEXTRACTF128(U8(1), v, other)
	do(other, x, x)
	for shift := 8; shift >= f.size; shift /= 2 {
		VPSRLDQ(U8(shift), x, other)
		do(other, x, x)
	}
}

// ahead is the distance in bytes at which sums prefetches.
const ahead = 8 << 10

// sums writes a kernel that sets dst to the sums of the first n elements of lines of x, whose
// starts are step elements apart, eight lines at a time. n is a multiple of eight. The elements of
// a line are added one after the other, from 0 on.
//
// The machine does not read eight lines ahead. If each line begins at the end of the one before,
// the kernel prefetches the lines that follow.
func sums() {
	TEXT("sums32", NOSPLIT, "func(dst, x []byte, step, n int)")
	dst, x := Load(Param("dst").Base(), GP64()).(gp), Load(Param("x").Base(), GP64()).(gp)
	groups, step := Load(Param("dst").Len(), GP64()).(gp), Load(Param("step"), GP64()).(gp)
	next, stride := GP64(), GP64()
	XORQ(stride, stride)
	CMPQ(step, Load(Param("n"), GP64()))
	JNE(LabelRef("apart"))
	MOVQ(U32(256), stride) // eight lines of eight
	Label("apart")
	SHRQ(Imm(5), groups)
	SHLQ(Imm(2), step)
	r := linesFrom(GP64(), step)
	Label("group")
	TESTQ(groups, groups)
	JZ(LabelRef("done"))
	n := Load(Param("n"), GP64()).(gp)
	MOVQ(x, r.at)
	MOVQ(x, next)
	sum := YMM()
	VXORPS(sum, sum, sum)
	Label("columns")
	CMPQ(n, Imm(8))
	JL(LabelRef("columnsend"))
	for line := range 4 {
		PREFETCHT0(Mem{Base: next, Index: stride, Scale: 1, Disp: ahead - 256 + 64*line})
	}
	transposed(r.line, func(v vec) { VADDPS(v, sum, sum) })
	ADDQ(stride, next)
	ADDQ(Imm(32), r.at)
	SUBQ(Imm(8), n)
	JMP(LabelRef("columns"))
	Label("columnsend")
	VMOVUPS(sum, Mem{Base: dst})
	ADDQ(Imm(32), dst)
	LEAQ(Mem{Base: x, Index: step, Scale: 8}, x)
	DECQ(groups)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

// lines are registers from which eight lines are addressed, whose starts are a step apart.
type lines struct{ at, step, three, five, seven gp }

func linesFrom(at, step gp) lines {
	l := lines{at, step, GP64(), GP64(), GP64()}
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, l.three)
	LEAQ(Mem{Base: step, Index: step, Scale: 4}, l.five)
	LEAQ(Mem{Base: l.three, Index: step, Scale: 4}, l.seven)
	return l
}

// line returns the address of four elements of line i: the first four of eight, or the last four.
func (l lines) line(i, half int) Mem {
	m := Mem{Base: l.at, Disp: 16 * half}
	switch i {
	case 1, 2, 4:
		m.Index, m.Scale = l.step, uint8(i)
	case 3:
		m.Index, m.Scale = l.three, 1
	case 5:
		m.Index, m.Scale = l.five, 1
	case 6:
		m.Index, m.Scale = l.three, 2
	case 7:
		m.Index, m.Scale = l.seven, 1
	}
	return m
}

// transposed calls use with each of the eight columns of eight lines, in order.
func transposed(line func(i, half int) Mem, use func(column vec)) {
	for half := range 2 {
		var r [4]vec // line i, and line i+4 in the upper half
		for i := range r {
			VMOVUPS(line(i, half), reg.X15)
			r[i] = YMM()
			VINSERTF128(Imm(1), line(i+4, half), reg.Y15, r[i])
		}
		pair := func(unpack instruction, a, b vec) vec { return made(func(v vec) { unpack(b, a, v) }) }
		low, high := pair(VUNPCKLPS, r[0], r[1]), pair(VUNPCKHPS, r[0], r[1])
		low2, high2 := pair(VUNPCKLPS, r[2], r[3]), pair(VUNPCKHPS, r[2], r[3])
		use(pair(VUNPCKLPD, low, low2))
		use(pair(VUNPCKHPD, low, low2))
		use(pair(VUNPCKLPD, high, high2))
		use(pair(VUNPCKHPD, high, high2))
	}
}

// rows writes the kernels that fold rows of x, which begin at given elements, into dst. They have
// the signature
//
//	func(dst, x []byte, at []int)
func rows() {
	for _, f := range []format{float32s, float64s} {
		f.rows("addRows", func(n int) folder { return &summer{f, f.vectors(n)} })
		f.rows("minimumRows", func(n int) folder { return f.chooser(n, f.min, f.or) })
		f.rows("maximumRows", func(n int) folder { return f.chooser(n, f.max, f.and) })
	}
}

// A folder writes the instructions that fold rows into several vectors side by side. from(i) is
// vector i of dst, or of a row.
type folder interface {
	begin(from func(i int) Op)
	fold(from func(i int) Op)
	end(put func(v vec, i int))
}

func (f format) rows(name string, with func(vectors int) folder) {
	k := beginRows(f.name(name), "func(dst, x []byte, at []int)", f.size, f.size)
	for _, vectors := range []int{4, 2, 1} {
		k.loop(fmt.Sprint("vectors", vectors), vectors*f.lanes, 1, func(int) {
			f.foldRows(k, fmt.Sprint("rows", vectors), with(vectors), f.whole())
		})
	}
	TESTQ(k.n, k.n)
	JZ(LabelRef("done"))
	f.foldRows(k, "tail", with(1), f.first(k.n))
	Label("done")
	VZEROUPPER()
	RET()
}

// beginRows begins a kernel of rows. dst and x are the sizes of their elements in bytes.
func beginRows(name, signature string, dst, x int) *kernel {
	TEXT(name, NOSPLIT, signature)
	k := &kernel{
		dst: Load(Param("dst").Base(), GP64()).(gp),
		a:   Load(Param("x").Base(), GP64()).(gp),
		n:   Load(Param("dst").Len(), GP64()).(gp),
	}
	k.width.dst, k.width.a = dst, x
	elements(k.n, dst)
	return k
}

// foldRows writes the instructions that fold rows into vectors of dst.
func (f format) foldRows(k *kernel, label string, do folder, by access) {
	do.begin(func(i int) Op { return by.load(k.to(i * f.lanes)) })
	k.eachRow(label, func(row Mem) {
		do.fold(func(i int) Op { return by.load(row.Offset(32 * i)) })
	})
	do.end(func(v vec, i int) { by.store(v, k.to(i*f.lanes)) })
}

// eachRow writes a loop over rows of x. The body gets the address of a row.
func (k *kernel) eachRow(label string, body func(row Mem)) {
	next, left, row := Load(Param("at").Base(), GP64()).(gp), Load(Param("at").Len(), GP64()).(gp), GP64()
	Label(label)
	TESTQ(left, left)
	JZ(LabelRef(label + "end"))
	MOVQ(Mem{Base: next}, row)
	body(Mem{Base: k.a, Index: row, Scale: uint8(k.width.a)})
	ADDQ(Imm(8), next)
	DECQ(left)
	JMP(LabelRef(label))
	Label(label + "end")
}

func (f format) vectors(n int) []vec {
	all := make([]vec, n)
	for i := range all {
		all[i] = YMM()
	}
	return all
}

// A summer adds rows in their order.
type summer struct {
	format
	sums []vec
}

func (s *summer) begin(from func(i int) Op) {
	for i, v := range s.sums {
		s.mov(from(i), v)
	}
}

func (s *summer) fold(from func(i int) Op) {
	for i, v := range s.sums {
		s.add(from(i), v, v)
	}
}

func (s *summer) end(put func(v vec, i int)) {
	for i, v := range s.sums {
		put(v, i)
	}
}

// A chooser keeps extremes, with NaN and signs as in format.extreme.
type chooser struct {
	format
	better, signs   instruction
	best, sign, nan []vec
}

func (f format) chooser(n int, better, signs instruction) *chooser {
	return &chooser{f, better, signs, f.vectors(n), f.vectors(n), f.vectors(n)}
}

func (c *chooser) begin(from func(i int) Op) {
	for i, v := range c.best {
		c.mov(from(i), v)
		c.mov(v, c.sign[i])
		c.cmp(U8(unordered), v, v, c.nan[i])
	}
}

func (c *chooser) fold(from func(i int) Op) {
	for i := range c.best {
		v := made(func(v vec) { c.mov(from(i), v) })
		c.better(v, c.best[i], c.best[i])
		c.signs(v, c.sign[i], c.sign[i])
		c.cmp(U8(unordered), v, v, v)
		c.or(v, c.nan[i], c.nan[i])
	}
}

func (c *chooser) end(put func(v vec, i int)) {
	for i, best := range c.best {
		c.join(best, c.sign[i], c.nan[i])
		put(best, i)
	}
}

// join gives extremes their signs, and makes them NaN where any number was NaN.
func (f format) join(best, sign, nan vec) {
	f.and(f.sign(), sign, sign)
	f.and(f.magnitude(), best, best)
	f.or(sign, best, best)
	f.or(nan, best, best)
}
