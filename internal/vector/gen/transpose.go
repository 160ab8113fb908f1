package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// transposes writes the kernels that transpose n blocks of 8 rows of x, 32 bytes each, side by side
// in dst. from and to are the distances between rows of x and of dst in bytes. They have the
// signature
//
//	func(dst, x []byte, to, from, n int)
func transposes() {
	transpose("transpose32", 32, func(dst lines, row func(i, half int) Mem) {
		i := 0
		transposed(row, func(column vec) {
			VMOVUPS(column, dst.line(i, 0))
			i++
		})
	})
	transpose("transpose16", 16, func(dst lines, row func(i, half int) Mem) {
		low, high := GP64(), GP64() // rows 0 and 8 of dst
		MOVQ(dst.at, low)
		LEAQ(Mem{Base: low, Index: dst.step, Scale: 8}, high)
		for _, v := range unpacked(row, [][2]instruction{{VPUNPCKLWD, VPUNPCKHWD}, {VPUNPCKLDQ, VPUNPCKHDQ}, {VPUNPCKLQDQ, VPUNPCKHQDQ}}) {
			VMOVUPS(v.AsX(), Mem{Base: low})
			VEXTRACTI128(Imm(1), v, Mem{Base: high})
			ADDQ(dst.step, low)
			ADDQ(dst.step, high)
		}
	})
	transpose("transpose8", 8, func(dst lines, row func(i, half int) Mem) {
		low, high := GP64(), GP64() // rows 0 and 16 of dst
		MOVQ(dst.at, low)
		LEAQ(Mem{Base: low, Index: dst.step, Scale: 8}, high)
		LEAQ(Mem{Base: high, Index: dst.step, Scale: 8}, high)
		for _, v := range unpacked(row, [][2]instruction{{VPUNPCKLBW, VPUNPCKHBW}, {VPUNPCKLWD, VPUNPCKHWD}, {VPUNPCKLDQ, VPUNPCKHDQ}}) {
			VMOVLPS(v.AsX(), Mem{Base: low})
			VMOVHPS(v.AsX(), Mem{Base: low, Index: dst.step, Scale: 1})
			VEXTRACTI128(Imm(1), v, v.AsX())
			VMOVLPS(v.AsX(), Mem{Base: high})
			VMOVHPS(v.AsX(), Mem{Base: high, Index: dst.step, Scale: 1})
			LEAQ(Mem{Base: low, Index: dst.step, Scale: 2}, low)
			LEAQ(Mem{Base: high, Index: dst.step, Scale: 2}, high)
		}
	})
}

// transpose writes a kernel. The body transposes a block, whose rows in dst have across bytes.
func transpose(name string, across int, body func(dst lines, row func(i, half int) Mem)) {
	TEXT(name, NOSPLIT, "func(dst, x []byte, to, from, n int)")
	dst := linesFrom(Load(Param("dst").Base(), GP64()).(gp), Load(Param("to"), GP64()).(gp))
	x := linesFrom(Load(Param("x").Base(), GP64()).(gp), Load(Param("from"), GP64()).(gp))
	n := Load(Param("n"), GP64()).(gp)
	Label("block")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	body(dst, x.line)
	ADDQ(U32(uint32(across)), dst.at)
	LEAQ(Mem{Base: x.at, Index: x.step, Scale: 8}, x.at)
	DECQ(n)
	JMP(LabelRef("block"))
	Label("done")
	VZEROUPPER()
	RET()
}

// unpacked returns eight rows of 32 bytes after three steps. A step interleaves the items of pairs
// of rows; what it interleaves are items of the next step. So a half of a vector ends with one
// column of items of 2 bytes, or with two columns of items of 1 byte.
func unpacked(row func(i, half int) Mem, steps [][2]instruction) []vec {
	rows := make([]vec, 8)
	for i := range rows {
		rows[i] = loaded(VMOVUPS, row(i, 0))
	}
	size := len(rows) // of a group of vectors with equal columns
	for _, step := range steps {
		var next []vec
		for group := range slices.Chunk(rows, size) {
			for _, unpack := range step {
				for pair := range slices.Chunk(group, 2) {
					next = append(next, made(func(v vec) { unpack(pair[1], pair[0], v) }))
				}
			}
		}
		rows, size = next, size/2
	}
	return rows
}
