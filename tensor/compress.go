package tensor

import (
	"context"
	"encoding/binary"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/workers"
)

// A compression moves the rows of a dense source that a mask selects, side by side, without making
// a list of them first. For narrow rows the list would take longer than the move.
type compression struct {
	to, from *Tensor
	mask     []byte
	width    int // bytes of a row
}

// compressed returns the compression that executes p.Plan on t, or nil if the plan is not a mask
// over narrow rows.
func (t *Tensor) compressed(p *plan.Pass, to *Tensor) *compression {
	bits, dims, ok := p.Plan.Mask()
	if !ok || !t.view.IsContiguous() || !to.view.IsContiguous() || len(bits) < compressRows {
		return nil
	}
	width := t.view.Shape[dims:].Size() * t.dtype.Size()
	switch width {
	case 1, 2, 4, 8:
		return &compression{to, t, cast.Bytes(bits), width}
	}
	return nil
}

// compressRows is from how many rows on a mask is not made a list.
const compressRows = 256

// compress adds a compression, whose sides share no memory.
func (tr *Transfer) compress(c *compression) {
	group := len(tr.moves) + 1
	tr.side(group, c.to, writes)
	tr.side(group, c.from, reads)
	tr.task(c)
}

func (c *compression) prepare(bool, int) error { return nil }

// run does the compression on at most most cores. The destination is new, or the Transfer holds its
// memory.
func (c *compression) run(most int) error {
	return useBoth(c.from, c.to, func(from, to []byte) error {
		return c.parts(c.to.own(to), c.from.own(from), most)
	})
}

// parts divides the mask among the cores.
func (c *compression) parts(to, from []byte, most int) error {
	cores := workers.Count(most, len(from)/parallelBytes+1)
	if cores == 1 {
		return c.part(to, from, c.mask)
	}
	starts := make([]int, cores+1) // rows of the result before each part
	for w := range cores {
		starts[w+1] = starts[w] + trues(c.mask[len(c.mask)*w/cores:len(c.mask)*(w+1)/cores])
	}
	return workers.Do(context.Background(), cores, cores, func(w int) error {
		lo, hi := len(c.mask)*w/cores, len(c.mask)*(w+1)/cores
		return c.part(to[starts[w]*c.width:starts[w+1]*c.width], from[lo*c.width:hi*c.width], c.mask[lo:hi])
	})
}

// countTrue is trues on several cores, where the mask is long enough.
func countTrue(mask []byte) int {
	cores := workers.Count(0, len(mask)/parallelBytes+1)
	counts := make([]int, cores)
	_ = workers.Do(context.Background(), cores, cores, func(w int) error { // which never fails
		counts[w] = trues(mask[len(mask)*w/cores : len(mask)*(w+1)/cores])
		return nil
	})
	n := 0
	for _, count := range counts {
		n += count
	}
	return n
}

// trues returns the number of bytes of a mask that are 1; the others are 0.
func trues(mask []byte) int {
	n := 0
	for len(mask) >= 8 {
		n += int(binary.NativeEndian.Uint64(mask) * 0x0101010101010101 >> 56)
		mask = mask[8:]
	}
	for _, b := range mask {
		n += int(b)
	}
	return n
}

// part moves the selected rows of a part of the mask. A fault in lent memory is an error.
func (c *compression) part(to, from, mask []byte) error {
	return guarded(c.from.mem, c.to.mem, func() { c.rows(to, from, mask) })
}

func (c *compression) rows(to, from, mask []byte) {
	switch c.width {
	case 1:
		compressAs[uint8](to, from, mask)
	case 2:
		compressAs[uint16](to, from, mask)
	case 4:
		compressAs[uint32](to, from, mask)
	case 8:
		compressAs[uint64](to, from, mask)
	}
}

func compressAs[T cast.Fixed](to, from, mask []byte) {
	a, aligned := cast.Slice[T](to)
	b, alsoAligned := cast.Slice[T](from)
	if aligned && alsoAligned {
		compress(a, b, mask)
		return
	}
	width := cast.Size[T]()
	for i, m := range mask {
		if m != 0 {
			copy(to[:width], from[i*width:])
			to = to[width:]
		}
	}
}

// compress copies the rows of from that mask selects to to, whose length is their number. It copies
// every row and advances only if the row is selected, so that no branch depends on the mask. Eight
// rows with equal mask bytes are handled at once.
func compress[T any](to, from []T, mask []byte) {
	n := 0
	for len(mask) >= 8 && n+8 <= len(to) {
		switch binary.NativeEndian.Uint64(mask) {
		case 0:
		case 0x0101010101010101:
			copy(to[n:n+8], from[:8])
			n += 8
		default:
			n += compressEight((*[8]T)(to[n:]), (*[8]T)(from), (*[8]byte)(mask))
		}
		mask, from = mask[8:], from[8:]
	}
	for i, m := range mask {
		if m != 0 {
			to[n] = from[i]
			n++
		}
	}
}

// compressEight handles eight rows, and returns how many are selected. It is unrolled: a loop takes
// twice as long.
func compressEight[T any](to, from *[8]T, mask *[8]byte) int {
	k := 0
	to[k] = from[0]
	k += int(mask[0])
	to[k&7] = from[1]
	k += int(mask[1])
	to[k&7] = from[2]
	k += int(mask[2])
	to[k&7] = from[3]
	k += int(mask[3])
	to[k&7] = from[4]
	k += int(mask[4])
	to[k&7] = from[5]
	k += int(mask[5])
	to[k&7] = from[6]
	k += int(mask[6])
	to[k&7] = from[7]
	return k + int(mask[7])
}
