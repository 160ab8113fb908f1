package sampler

import (
	"fmt"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/splitmix"
)

// BlockOptions say how far Blocks shuffles. The zero value is the default.
type BlockOptions struct {
	BlockBytes  int // read together; 0: 1 MiB
	WindowBytes int // kept in memory; 0: 64 MiB
}

// withDefaults returns the options with what stands for 0.
func (o BlockOptions) withDefaults() BlockOptions {
	if o.BlockBytes == 0 {
		o.BlockBytes = 1 << 20
	}
	if o.WindowBytes == 0 {
		o.WindowBytes = 64 << 20
	}
	return o
}

// Blocks returns a sampler for units that are read from a disk. It puts the units, each once, in a
// random order, another one in each epoch, of which every window touches a part of the disk only:
// blocks of neighbouring units are put in a random order, and the units of the blocks of a window
// in one of their own. [BlockOptions.Spread] says how close to uniform that is.
//
// A block has as many units as there are in BlockBytes, and a window as many blocks as there are in
// WindowBytes, at least one each. The order takes no memory in proportion to the units: at most 32
// kB, and, for each of the last 4 windows, 8 bytes a block, and 8 bytes a unit if it has no more
// than 50,000.
//
// The sampler's Order returns [ErrSize] if the size of a unit is not known, or a size is negative.
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

// A geometry is how units lie in blocks, and blocks in windows.
type geometry struct {
	n      int // units
	block  int // units of a block; the last may have fewer
	blocks int
	window int // blocks of a window; the last may have fewer
}

// geometry returns how so many units of so many bytes lie, or ErrSize.
func (o BlockOptions) geometry(units, unitBytes int) (geometry, error) {
	o = o.withDefaults()
	switch {
	case o.BlockBytes < 0 || o.WindowBytes < 0:
		return geometry{}, fmt.Errorf("%w: got blocks of %d bytes in windows of %d, want at least 0",
			ErrSize, o.BlockBytes, o.WindowBytes)
	case units < 1:
		return geometry{block: 1, window: 1}, nil
	case unitBytes == 0:
		return geometry{}, fmt.Errorf("%w: how many bytes a row has is not known: the source must say it, as a loader.Describer, or use Random", ErrSize)
	case unitBytes < 0:
		return geometry{}, fmt.Errorf("%w: got units of %d bytes, want at least 1", ErrSize, unitBytes)
	}
	g := geometry{n: units, block: min(units, max(1, o.BlockBytes/unitBytes))}
	g.blocks = (units-1)/g.block + 1
	g.window = min(g.blocks, max(1, o.WindowBytes/unitBytes/g.block))
	return g, nil
}

// missing returns how many units the last block has fewer than the others.
func (g geometry) missing() int { return g.blocks*g.block - g.n }

// maxBlocks is the number of blocks up to which their order is written out.
const maxBlocks = 4096

// A blockOrder is the [Order] of blocks. The last block, which may be short, is in a window of its
// own choice, where it counts as the last one; the others are in the order full.
type blockOrder struct {
	geometry
	key   uint64
	short int // the window that the last block is in
	full  Order
	kept  [4]atomic.Pointer[window]
}

// A window is the units from position start on, before stop: the blocks in the order within.
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

// windowOf returns the window that a position is in.
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

// start returns the position at which a window starts.
func (o *blockOrder) start(number int) int {
	start := number * o.window * o.block
	if number > o.short {
		start -= o.missing()
	}
	return min(start, o.n)
}

// newWindow makes a window.
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
