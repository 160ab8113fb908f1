package arith

import (
	"sync"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// chunk is the number of elements that a slice function gets at once: few enough for broadcast
// operands to stay in the cache.
const chunk = 2048

// A slicer is a function on slices for several ops: it sets dst to the result of op o on up to
// three operands, which are as long as dst.
type slicer[T, D cast.Fixed] func(o op, dst []D, x [3][]T) error

// A scratch is memory for one chunk of each operand and of the result.
type scratch [4][chunk * 16]byte

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// byChunk runs a slicer on a block, at most step elements at a time. It broadcasts an operand that
// has fewer elements than the result, chunk by chunk, unless it is a single number and the op takes
// that.
func byChunk[T, D cast.Fixed](b *tensor.Block, o op, step int, fn slicer[T, D]) error {
	f := ops[o].family
	numbers := b.Src[0].DType.IsFloat() && (f == ofPairs || f == ofComparisons || o == opClamp)
	for _, l := range b.Src[1:] {
		numbers = numbers && l.Per == tensor.PerBlock
	}
	var x, all [3][]T
	for i, l := range b.Src {
		all[i], _ = cast.Slice[T](l.Bytes)
		if l.Per == tensor.PerRow || l.Per == tensor.PerBlock && (i == 0 || !numbers) {
			step = min(step, chunk)
		}
	}
	var room *scratch
	defer func() {
		if room != nil {
			scratches.Put(room)
		}
	}()
	dst, _ := cast.Slice[D](b.Dst)
	for at := 0; at < len(dst); at += step {
		n := min(step, len(dst)-at)
		for i, l := range b.Src {
			width := b.Width // elements of the result for each element of the operand
			switch {
			case l.Per == tensor.PerElement:
				x[i] = all[i][at : at+n]
				continue
			case numbers && i > 0:
				x[i] = all[i]
				continue
			case l.Per == tensor.PerBlock && at > 0:
				x[i] = x[i][:n]
				continue
			case l.Per == tensor.PerBlock:
				width = len(dst)
			}
			if room == nil {
				room = scratches.Get().(*scratch)
			}
			x[i], _ = cast.Slice[T](room[i][:n*cast.Size[T]()])
			for done := 0; done < n; {
				row, past := (at+done)/width, (at+done)%width
				k := min(n-done, width-past)
				repeated(x[i][done:done+k], all[i][row])
				done += k
			}
		}
		if err := fn(o, dst[at:at+n], x); err != nil {
			return err
		}
	}
	return nil
}

// repeated sets all elements of s to v, and returns s.
func repeated[T any](s []T, v T) []T {
	for i := range s {
		s[i] = v
	}
	return s
}
