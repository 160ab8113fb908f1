package sampler

import (
	"fmt"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/splitmix"
)

// BlockOptions say how far Blocks shuffles. The zero value is the default.
type BlockOptions struct {
	BlockBytes  int // size of a block, which is read together; 0 means 1 MiB
	WindowBytes int // size of a window, which is kept in memory; 0 means 64 MiB
}

// withDefaults returns o with defaults in place of 0.
func (o BlockOptions) withDefaults() BlockOptions {
	if o.BlockBytes == 0 {
		o.BlockBytes = 1 << 20
	}
	if o.WindowBytes == 0 {
		o.WindowBytes = 64 << 20
	}
	return o
}

// Blocks returns a sampler for units that are read from a disk. Each epoch has all units once, in
// another random order, in which every window touches only a part of the disk: blocks of
// neighbouring units are put in random order, and the units of all blocks of a window are shuffled.
// The larger a window, the closer to uniform the order is.
//
// A block has as many units as fit in BlockBytes, and a window as many blocks as fit in
// WindowBytes, at least one each. The memory of the order does not grow with the number of units:
// it takes at most 32 kB and, for each of the last 4 windows, 8 bytes per block, and 8 bytes per
// unit if the window has at most 50,000 units.
//
// The sampler's Order returns [ErrSize] if the size of a unit is unknown or a size is negative.
func Blocks(opt BlockOptions) Sampler { return blocks{opt.withDefaults()} }

type blocks struct{ opt BlockOptions }

// Order implements [Sampler].
func (s blocks) Order(e Epoch) (Order, error) {
	g, err := s.opt.geometry(e.Units, e.UnitBytes)
	if err != nil {
		return nil, err
	}
	key := e.key()
	o := &blockOrder{geometry: g, key: splitmix.Mix(key, 2)}
	o.short = below(g.blocks, splitmix.Mix(key, 0)) / g.window
	o.full = permutedIn(max(0, g.blocks-1), splitmix.Mix(key, 1), maxBlocks)
	return o, nil
}

// String implements [Sampler].
func (s blocks) String() string {
	return fmt.Sprintf("blocks of %d bytes in windows of %d", s.opt.BlockBytes, s.opt.WindowBytes)
}

// A geometry divides units into blocks, and blocks into windows.
type geometry struct {
	n      int // number of units
	block  int // units in a block; the last may have fewer
	blocks int
	window int // blocks in a window; the last may have fewer
}

// geometry returns the blocks and windows of units, each of unitBytes bytes. It returns ErrSize.
func (o BlockOptions) geometry(units, unitBytes int) (geometry, error) {
	o = o.withDefaults()
	switch {
	case o.BlockBytes < 0 || o.WindowBytes < 0:
		return geometry{}, fmt.Errorf("%w: got blocks of %d bytes in windows of %d, want at least 0",
			ErrSize, o.BlockBytes, o.WindowBytes)
	case units < 1:
		return geometry{block: 1, window: 1}, nil
	case unitBytes == 0:
		return geometry{}, fmt.Errorf("%w: the size of a row is unknown: make the source a loader.Describer, or use Random", ErrSize)
	case unitBytes < 0:
		return geometry{}, fmt.Errorf("%w: got units of %d bytes, want at least 1", ErrSize, unitBytes)
	}
	g := geometry{n: units, block: min(units, max(1, o.BlockBytes/unitBytes))}
	g.blocks = (units-1)/g.block + 1
	g.window = min(g.blocks, max(1, o.WindowBytes/unitBytes/g.block))
	return g, nil
}

// missing returns the number of units by which the last block is shorter than the others.
func (g geometry) missing() int { return g.blocks*g.block - g.n }

// maxBlocks is the largest number of blocks whose order is kept as a list.
const maxBlocks = 4096

// A blockOrder is the [Order] of blocks. The last block, which may be short, is in a random window,
// at the end of its blocks; full is the order of the other blocks.
type blockOrder struct {
	geometry
	key   uint64
	short int // number of the window with the last block
	full  Order
	kept  [4]atomic.Pointer[window]
}

// A window has the units from position start up to, not including, stop. within is the order of the
// units of its blocks.
type window struct {
	number, start, stop int
	blocks              []int
	within              Order
}

// Len implements [Order].
func (o *blockOrder) Len() int { return o.n }

// AppendTo implements [Order].
func (o *blockOrder) AppendTo(dst []int, start, stop int) []int {
	for start < stop {
		w := o.windowOf(start)
		end, from := min(stop, w.stop), len(dst)
		dst = w.within.AppendTo(dst, start-w.start, end-w.start)
		for i, x := range dst[from:] {
			k := uint(x) / uint(o.block)
			dst[from+i] = x + (w.blocks[k]-int(k))*o.block
		}
		start = end
	}
	return dst
}

// windowOf returns the window that contains a position.
func (o *blockOrder) windowOf(position int) *window {
	number := position / (o.window * o.block)
	if position >= o.start(o.short+1) {
		number = (position + o.missing()) / (o.window * o.block)
	}
	kept := &o.kept[number%len(o.kept)]
	if w := kept.Load(); w != nil && w.number == number {
		return w
	}
	w := o.newWindow(number)
	kept.Store(w)
	return w
}

// start returns the first position of a window.
func (o *blockOrder) start(number int) int {
	start := number * o.window * o.block
	if number > o.short {
		start -= o.missing()
	}
	return min(start, o.n)
}

// newWindow returns a window.
func (o *blockOrder) newWindow(number int) *window {
	w := &window{number: number, start: o.start(number), stop: o.start(number + 1)}
	w.within = permuted(w.stop-w.start, splitmix.Mix(o.key, uint64(number)))
	first, last := number*o.window, min((number+1)*o.window, o.blocks)
	switch {
	case number < o.short:
		w.blocks = o.full.AppendTo(nil, first, last)
	case number > o.short:
		w.blocks = o.full.AppendTo(nil, first-1, last-1)
	default:
		w.blocks = append(o.full.AppendTo(make([]int, 0, last-first), first, last-1), o.blocks-1)
	}
	return w
}
