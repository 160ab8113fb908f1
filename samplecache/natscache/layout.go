package natscache

import "github.com/go-tensordict/tensordict/tdict"

// chunkSize is the size of a chunk, so that it fits into a message of 1 MiB.
const chunkSize = 1<<20 - 4<<10

// A layout says where the leaves are among the bytes of a sample. Each begins at a multiple of 8.
type layout struct {
	offset, size []int
	total        int
}

// chunks returns the number of chunks of a sample.
func (l *layout) chunks() int { return chunksOf(l.total) }

// chunksOf returns the number of chunks that bytes take.
func chunksOf(bytes int) int { return (bytes + chunkSize - 1) / chunkSize }

// newLayout returns the layout of the samples of a schema. ok is false if the sum of the sizes
// overflows.
func newLayout(schema *tdict.TensorDict) (l *layout, ok bool) {
	l = &layout{}
	for _, x := range schema.Tensors() {
		size := x.ByteSize()
		l.offset, l.size = append(l.offset, l.total), append(l.size, size)
		if l.total += (size + 7) &^ 7; size < 0 || l.total < 0 {
			return l, false
		}
	}
	return l, true
}

// A piece is a part of a chunk, and where it goes.
type piece struct {
	row, chunk int
	from, to   int // in the sample
	dst        []byte
}

// cut adds the pieces of a leaf of a row.
func (l *layout) cut(pieces []piece, row, leaf int, dst []byte) []piece {
	for from := l.offset[leaf]; len(dst) > 0; {
		chunk := from / chunkSize
		n := min((chunk+1)*chunkSize-from, len(dst))
		pieces = append(pieces, piece{row, chunk, from, from + n, dst[:n]})
		from, dst = from+n, dst[n:]
	}
	return pieces
}

// readers returns how many chunks one call asks for at a time. Answers for small samples take less
// time than their way.
func (l *layout) readers() int {
	if l.total <= 16<<10 {
		return 32
	}
	return 8
}
