package main

import (
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// The predicates of comparisons. Of these notEqual, unordered and notLess hold for NaN.
const (
	equal        = 0x00
	notEqual     = 0x04
	less         = 0x11
	lessEqual    = 0x12
	greater      = 0x1e
	greaterEqual = 0x1d
	unordered    = 0x03
	notLess      = 0x15
)

// comparisons writes the kernels that set bytes: 1 where a comparison holds, otherwise 0.
func comparisons() {
	for _, f := range []format{float32s, float64s} {
		c := comparer{f}
		for _, p := range []struct {
			name      string
			predicate uint8
			slices    bool // has a kernel for two slices; the others swap the operands of one
		}{
			{"equal", equal, true}, {"notEqual", notEqual, true}, {"less", less, true}, {"lessEqual", lessEqual, true},
			{"greater", greater, false}, {"greaterEqual", greaterEqual, false},
		} {
			if p.slices {
				c.slices(p.name, p.predicate)
			}
			c.number(p.name+"Number", p.predicate)
		}
		c.alone("isNaN", func(a vec) vec { return made(func(v vec) { f.cmp(U8(unordered), a, a, v) }) })
		c.alone("isFinite", func(a vec) vec {
			zero, v := YMM(), YMM()
			f.xor(zero, zero, zero)
			f.sub(a, a, v) // NaN, if a is infinite or NaN
			f.cmp(U8(equal), zero, v, v)
			return v
		})
	}
}

type comparer struct{ format }

func (c comparer) slices(name string, predicate uint8) {
	k := begin(c.name(name), 1, c.size, c.size)
	c.compared(k, predicate, func(off int) Op { return k.with(off) })
}

func (c comparer) number(name string, predicate uint8) {
	k := begin(c.name(name), 1, c.size, 0)
	b := number(c.broadcast, "x")
	c.compared(k, predicate, func(int) Op { return b })
}

func (c comparer) compared(k *kernel, predicate uint8, right func(off int) Op) {
	c.masks(k, func(off int) vec {
		v := loaded(c.mov, k.from(off))
		c.cmp(U8(predicate), right(off), v, v)
		return v
	})
}

func (c comparer) alone(name string, do func(a vec) vec) {
	k := begin(c.name(name), 1, c.size, 0)
	c.masks(k, func(off int) vec { return do(loaded(c.mov, k.from(off))) })
}

// masks writes the loop of a kernel that sets 32 bytes from the masks of 32 numbers. The packing
// instructions work within the halves of a vector, so the words must be reordered after them.
func (c comparer) masks(k *kernel, mask func(off int) vec) {
	order, one := loaded(VMOVUPS, packed()), loaded(VMOVUPS, bits32(0x01010101))
	k.loop("wide", 32, 1, func(int) {
		var eights [4]vec
		for i := range eights {
			eights[i] = c.eight(func(off int) vec { return mask(8*i + off) })
		}
		VPACKSSDW(eights[1], eights[0], eights[0])
		VPACKSSDW(eights[3], eights[2], eights[2])
		VPACKSSWB(eights[2], eights[0], eights[0])
		VPAND(one, eights[0], eights[0])
		VPERMD(eights[0], order, eights[0])
		VMOVDQU(eights[0], k.to(0))
	})
	k.end()
}

// eight returns the masks of eight numbers, 32 bits each.
func (c comparer) eight(mask func(off int) vec) vec {
	v := mask(0)
	if c.bits == 64 {
		VSHUFPS(U8(0x88), mask(4), v, v) // 0 1 4 5, 2 3 6 7
		VPERMQ(U8(0xd8), v, v)
	}
	return v
}

// packed returns the order in which packing leaves the words of a vector. VPERMD restores theirs.
var packed = sync.OnceValue(func() Mem {
	m := GLOBL("packed", RODATA|NOPTR)
	for i, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(v))
	}
	return m
})
