package main

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type (
	vec = reg.VecVirtual
	gp  = reg.GPVirtual
)

// A kernel is a function of package vector that is being written. Each has the signature
//
//	func(dst, a, b []byte, x, y uint64, past bool) (rest int)
//
// It sets the leading elements of dst, and returns the number of elements that are left for plain
// Go. x and y are the bits of numbers.
type kernel struct {
	dst, a, b gp                      // addresses of the next elements
	n         gp                      // the number of elements left
	width     struct{ dst, a, b int } // bytes of an element; 0 if there is no b
}

const signature = "func(dst, a, b []byte, x, y uint64, past bool) (rest int)"

// begin begins a kernel. dst, a and b are the sizes of their elements in bytes.
func begin(name string, dst, a, b int) *kernel {
	TEXT(name, NOSPLIT, signature)
	k := &kernel{
		dst: Load(Param("dst").Base(), GP64()).(gp),
		a:   Load(Param("a").Base(), GP64()).(gp),
		n:   Load(Param("dst").Len(), GP64()).(gp),
	}
	if b > 0 {
		k.b = Load(Param("b").Base(), GP64()).(gp)
	}
	k.width.dst, k.width.a, k.width.b = dst, a, b
	elements(k.n, dst)
	return k
}

// elements converts a number of bytes in n to a number of elements.
func elements(n gp, size int) {
	if size > 1 {
		SHRQ(Imm(uint64(bits.TrailingZeros(uint(size)))), n)
	}
}

// end ends a kernel.
func (k *kernel) end() {
	VZEROUPPER()
	Store(k.n, ReturnIndex(0))
	RET()
}

// loop writes a loop over the body repeated times times. The body handles step elements from
// element off on. The loop runs while there are enough elements for all repetitions.
func (k *kernel) loop(label string, step, times int, body func(off int)) {
	Label(label)
	CMPQ(k.n, U32(uint32(step*times)))
	JL(LabelRef(label + "end"))
	for i := range times {
		body(i * step)
	}
	ADDQ(U32(uint32(step*times*k.width.dst)), k.dst)
	ADDQ(U32(uint32(step*times*k.width.a)), k.a)
	if k.width.b > 0 {
		ADDQ(U32(uint32(step*times*k.width.b)), k.b)
	}
	SUBQ(U32(uint32(step*times)), k.n)
	JMP(LabelRef(label))
	Label(label + "end")
}

// loops writes two pairs of loops for a kernel whose body returns a vector of dst: one pair writes
// to the cache, the other past it. The first loop of a pair repeats the body, the second does not.
func (f format) loops(k *kernel, times int, body func(off int) vec) {
	flag := Load(Param("past"), GP8())
	TESTB(flag, flag)
	JNZ(LabelRef("past"))
	plain := func(off int) { f.mov(body(off), k.to(off)) }
	k.loop("wide", f.lanes, times, plain)
	k.loop("narrow", f.lanes, 1, plain)
	k.end()
	Label("past")
	past := func(off int) { f.past(body(off), k.to(off)) }
	k.loop("stream", f.lanes, times, past)
	k.loop("drip", f.lanes, 1, past)
	SFENCE()
	k.end()
}

// to, from and with return the addresses of element off of dst, a and b.
func (k *kernel) to(off int) Mem   { return Mem{Base: k.dst, Disp: off * k.width.dst} }
func (k *kernel) from(off int) Mem { return Mem{Base: k.a, Disp: off * k.width.a} }
func (k *kernel) with(off int) Mem { return Mem{Base: k.b, Disp: off * k.width.b} }

// An access is a way to load and store vectors.
type access struct {
	load  func(m Mem) Op
	store func(v vec, m Mem)
}

// whole returns the access to whole vectors.
func (f format) whole() access {
	return access{load: asIs, store: func(v vec, m Mem) { f.mov(v, m) }}
}

// asIs returns m: instructions read memory themselves.
func asIs(m Mem) Op { return m }

// first returns the access to the first n numbers of a vector, where n is less than a vector's
// length. The other numbers are 0. A kernel may store with it once, because of its labels.
func (f format) first(n gp) access {
	mask := f.ones(n)
	return access{
		load:  func(m Mem) Op { return made(func(v vec) { f.masked(m, mask, v) }) },
		store: func(v vec, m Mem) { f.storeFirst(v, n, m) },
	}
}

// storeFirst stores the first n numbers of a vector in parts of 16, 8 and 4 bytes, one for each bit
// of n. It overwrites v. (A masked store is slower, and so is loading its result.)
func (f format) storeFirst(v vec, n gp, m Mem) {
	to, x := GP64(), v.AsX()
	LEAQ(m, to)
	for part := f.lanes / 2; part > 0; part /= 2 {
		label := fmt.Sprint("without", part)
		TESTQ(U32(uint32(part)), n)
		JZ(LabelRef(label))
		switch size := part * f.size; size {
		case 16:
			VMOVUPS(x, Mem{Base: to})
			VEXTRACTF128(Imm(1), v, x)
			ADDQ(Imm(16), to)
		case 8:
			VMOVSD(x, Mem{Base: to})
			VPSRLDQ(Imm(8), x, x)
			ADDQ(Imm(8), to)
		case 4:
			VMOVSS(x, Mem{Base: to})
		}
		Label(label)
	}
}

// ones returns a vector whose first n numbers have all bits set.
func (f format) ones(n gp) vec {
	from, bytes := GP64(), GP64()
	LEAQ(edge().Offset(32), from)
	MOVQ(n, bytes)
	NEGQ(bytes)
	return loaded(f.mov, Mem{Base: from, Index: bytes, Scale: uint8(f.size)})
}

// edge returns a vector of ones, followed by one of zeros.
var edge = sync.OnceValue(func() Mem {
	m := GLOBL("edge", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(uint64(i/4)-1))
	}
	return m
})

// number returns a vector of copies of the number whose bits are the named parameter.
func number(broadcast instruction, name string) vec {
	v := XMM()
	VMOVQ(Load(Param(name), GP64()), v)
	return made(func(to vec) { broadcast(v, to) })
}

// constants are the constants in memory, each a vector of 32 bytes.
var constants = map[uint64]Mem{}

// bits64 returns a vector of four equal words. (avo assembles a floating-point constant such as
// F64(1) as the integer 1, so all are written as bits.)
func bits64(b uint64) Mem {
	m, ok := constants[b]
	if !ok {
		m = GLOBL(fmt.Sprintf("c%016x", b), RODATA|NOPTR)
		for i := range 4 {
			DATA(8*i, U64(b))
		}
		constants[b] = m
	}
	return m
}

func bits32(b uint32) Mem  { return bits64(uint64(b)<<32 | uint64(b)) }
func single(v float32) Mem { return bits32(math.Float32bits(v)) }
func double(v float64) Mem { return bits64(math.Float64bits(v)) }

// made returns a new register that set has set.
func made(set func(to vec)) vec {
	v := YMM()
	set(v)
	return v
}

// loaded returns a new register loaded from m.
func loaded(load instruction, m Mem) vec { return made(func(v vec) { load(m, v) }) }
