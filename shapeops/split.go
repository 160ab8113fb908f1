package shapeops

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// An Indexer is the constraint of [Split], [SplitBy], [SplitAt], [TensorSplit], [Chunk] and
// [Unbind]. *tensor.Tensor and *tdict.TensorDict satisfy it, each returning its own type.
type Indexer[T any] interface {
	comparable
	Shape() Shape
	Index(expr ...ix.Index) (T, error)
}

// Split cuts x along a dim into pieces of the given sizes:
//
//	x [... N ...] -> [... sizes[i] ...], the sizes adding up to N
//
// The pieces share x's memory. Split returns [ErrShape] if the sizes do not add up to N or one is
// negative, [ErrDim] if x has no such dim, and [ErrKind] if x is nil.
func Split[T Indexer[T]](x T, dim int, sizes ...int) ([]T, error) {
	out, err := split(x, dim, sizes)
	return out, errtext.Named("split", err)
}

func split[T Indexer[T]](x T, dim int, sizes []int) ([]T, error) {
	dim, err := cutDim(x, dim)
	if err != nil {
		return nil, err
	}
	left := x.Shape()[dim]
	for _, size := range sizes {
		if size < 0 || size > left {
			return nil, splitError(x.Shape(), dim, sizes)
		}
		left -= size
	}
	if left > 0 {
		return nil, splitError(x.Shape(), dim, sizes)
	}
	expr, start := leading(dim), 0
	return collect(len(sizes), func(i int) (T, error) {
		expr[dim] = ix.Range(start, start+sizes[i])
		start += sizes[i]
		return x.Index(expr...)
	})
}

func splitError(s Shape, dim int, sizes []int) error {
	return fmt.Errorf("%w: got pieces of %v, want sizes that add up to the %d of dim %d", ErrShape, sizes, s[dim], dim)
}

// SplitBy cuts x along a dim into pieces of the given size; the last may be smaller. The pieces
// share x's memory. SplitBy returns [ErrShape] if size is not positive, if the dim has size 0, or
// if there would be more than 1<<24 pieces, [ErrDim] if x has no such dim, and [ErrKind] if x is
// nil.
func SplitBy[T Indexer[T]](x T, dim, size int) ([]T, error) {
	out, err := splitBy(x, dim, size)
	return out, errtext.Named("split by", err)
}

func splitBy[T Indexer[T]](x T, dim, size int) ([]T, error) {
	dim, err := cutDim(x, dim)
	if err != nil {
		return nil, err
	}
	n := x.Shape()[dim]
	if size <= 0 || n == 0 {
		return nil, fmt.Errorf("%w: got pieces of size %d of dim %d of %v, want a positive size of a dim that is not empty",
			ErrShape, size, dim, x.Shape())
	}
	expr := leading(dim)
	return collect((n-1)/size+1, func(i int) (T, error) {
		expr[dim] = ix.Range(i*size, min(n-i*size, size)+i*size)
		return x.Index(expr...)
	})
}

// Chunk cuts x along a dim into at most n pieces of equal size; the last may be smaller. There are
// fewer than n if the dim is too small; a dim of size 0 gives one empty piece. The pieces share x's
// memory. Chunk returns [ErrShape] if n is not positive or there would be more than 1<<24 pieces,
// [ErrDim] if x has no such dim, and [ErrKind] if x is nil.
func Chunk[T Indexer[T]](x T, dim, n int) ([]T, error) {
	out, err := chunk(x, dim, n)
	return out, errtext.Named("chunk", err)
}

func chunk[T Indexer[T]](x T, dim, n int) ([]T, error) {
	dim, err := cutDim(x, dim)
	if err != nil {
		return nil, err
	}
	size := x.Shape()[dim]
	switch {
	case n <= 0:
		return nil, fmt.Errorf("%w: got %d chunks, want at least one", ErrShape, n)
	case size == 0:
		return split(x, dim, []int{0})
	}
	return splitBy(x, dim, (size-1)/n+1)
}

// TensorSplit cuts x along a dim into n pieces whose sizes differ by at most one, the larger ones
// first; if the dim is too small, the last pieces are empty. The pieces share x's memory.
// TensorSplit returns [ErrShape] if n is not positive or more than 1<<24, [ErrDim] if x has no such
// dim, and [ErrKind] if x is nil.
func TensorSplit[T Indexer[T]](x T, dim, n int) ([]T, error) {
	out, err := tensorSplit(x, dim, n)
	return out, errtext.Named("tensor split", err)
}

func tensorSplit[T Indexer[T]](x T, dim, n int) ([]T, error) {
	dim, err := cutDim(x, dim)
	if err != nil {
		return nil, err
	}
	if n <= 0 {
		return nil, fmt.Errorf("%w: got %d pieces, want at least one", ErrShape, n)
	}
	size, more := x.Shape()[dim]/n, x.Shape()[dim]%n
	expr := leading(dim)
	return collect(n, func(i int) (T, error) {
		start, end := i*size+min(i, more), (i+1)*size+min(i+1, more)
		expr[dim] = ix.Range(start, end)
		return x.Index(expr...)
	})
}

// SplitAt cuts x along a dim before each of the given positions: [1 3] cuts a dim of size 5 into
// pieces of size 1, 2 and 2. Positions are bounds of ranges: a negative one counts from the end,
// one outside the dim is clamped, and a piece that would end before it begins is empty. The pieces
// share x's memory. SplitAt returns [ErrDim] if x has no such dim, and [ErrKind] if x is nil.
// (Python: tensor_split with a list.)
func SplitAt[T Indexer[T]](x T, dim int, positions ...int) ([]T, error) {
	out, err := splitAt(x, dim, positions)
	return out, errtext.Named("split at", err)
}

func splitAt[T Indexer[T]](x T, dim int, positions []int) ([]T, error) {
	dim, err := cutDim(x, dim)
	if err != nil {
		return nil, err
	}
	expr, start := leading(dim), 0
	return collect(len(positions)+1, func(i int) (T, error) {
		stop := ix.End
		if i < len(positions) {
			stop = positions[i]
		}
		expr[dim] = ix.Range(start, stop)
		start = stop
		return x.Index(expr...)
	})
}

// Unbind returns the slices of x along a dim, without that dim: x [... N ...] -> N times [... ...].
// The slices share x's memory. Unbind returns [ErrDim] if x has no such dim, [ErrShape] if there
// would be more than 1<<24 slices, and [ErrKind] if x is nil.
func Unbind[T Indexer[T]](x T, dim int) ([]T, error) {
	out, err := unbind(x, dim)
	return out, errtext.Named("unbind", err)
}

func unbind[T Indexer[T]](x T, dim int) ([]T, error) {
	dim, err := cutDim(x, dim)
	if err != nil {
		return nil, err
	}
	expr := leading(dim)
	return collect(x.Shape()[dim], func(i int) (T, error) {
		expr[dim] = ix.At(i)
		return x.Index(expr...)
	})
}

// cutDim resolves the dim along which x is cut.
func cutDim[T Indexer[T]](x T, dim int) (int, error) {
	var none T
	if x == none {
		return 0, fmt.Errorf("%w: got nil", ErrKind)
	}
	if err := x.Shape().Check(); err != nil {
		return 0, err
	}
	return x.Shape().Dim(dim)
}

// leading returns an expression that keeps the dims before dim, with room for a part for dim
// itself.
func leading(dim int) []ix.Index { return make([]ix.Index, dim+1) }

// maxPieces bounds the number of pieces: a shape without elements could be cut into any number.
const maxPieces = 1 << 24

func collect[T any](n int, piece func(i int) (T, error)) ([]T, error) {
	if n > maxPieces {
		return nil, fmt.Errorf("%w: got %d pieces, want at most %d", ErrShape, n, maxPieces)
	}
	out := make([]T, n)
	for i := range out {
		var err error
		if out[i], err = piece(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}
