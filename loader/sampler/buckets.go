package sampler

import (
	"fmt"
	"math/bits"
	"slices"
)

// BucketOptions say which rows are about as long as each other, and when a batch is full. Tokens or
// Rows must be given.
type BucketOptions struct {
	// Bounds, which ascend, say which rows may be in a batch together: in bucket i are those that
	// are no longer than Bounds[i], but longer than the bound before; longer ones are in a last
	// bucket. None means powers of two.
	Bounds   []int64
	Tokens   int  // of a batch, at most: its rows times the longest of them; 0 means any number
	Rows     int  // of a batch, at most; 0 means any number
	DropLast bool // leave out the batches that are not full when the order ends
}

// Buckets returns a batching of rows that are about as long as each other, so that little of a
// padded batch is padding:
//
//	order of rows -> batches of rows of one bucket
//
// Rows join the batch of their bucket in the order that a sampler gives. A batch is complete when
// it has no room for one more row, or none for the next one; batches come in the order in which
// they are complete, then, by bucket, those that are not when the order ends. So every row of the
// order is in one batch, but for DropLast. This is worked out in one pass at the beginning of an
// epoch, which takes 8 bytes a row. The order must end: Plan returns [ErrSize] if it does not.
//
// Buckets returns [ErrSize] if a length or a bound is negative, bounds do not ascend, or neither
// Tokens nor Rows is given, and [ErrTooLong], which names it, if a row is longer than Tokens. The
// batching's Units returns [ErrUnits] for a source of another number of rows than lengths has. The
// batching shares no memory with what it is given.
func Buckets(lengths []int64, opt BucketOptions) (Batching, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	for row, length := range lengths {
		if length < 0 {
			return nil, fmt.Errorf("%w: got length %d of row %d, want at least 0", ErrSize, length, row)
		}
		if opt.Tokens > 0 && length > int64(opt.Tokens) {
			return nil, fmt.Errorf("%w: got length %d of row %d, want at most %d tokens", ErrTooLong, length, row, opt.Tokens)
		}
	}
	opt.Bounds = slices.Clone(opt.Bounds)
	return &buckets{slices.Clone(lengths), opt, opt.text(lengths)}, nil
}

// check returns ErrSize if options cannot be used.
func (opt BucketOptions) check() error {
	if opt.Tokens < 0 || opt.Rows < 0 || opt.Tokens == 0 && opt.Rows == 0 {
		return fmt.Errorf("%w: got batches of %d tokens and %d rows at most, want at least 1 of either and none negative",
			ErrSize, opt.Tokens, opt.Rows)
	}
	for i, bound := range opt.Bounds {
		if bound < 0 || i > 0 && bound <= opt.Bounds[i-1] {
			return fmt.Errorf("%w: got bounds %v, want them to ascend from at least 0", ErrSize, opt.Bounds)
		}
	}
	return nil
}

type buckets struct {
	lengths []int64
	opt     BucketOptions
	text    string
}

// Units implements [Batching].
func (b *buckets) Units(n int) (int, error) {
	if n != len(b.lengths) {
		return 0, fmt.Errorf("%w: got a source of %d rows, want %d, as many as there were lengths", ErrUnits, n, len(b.lengths))
	}
	return n, nil
}

// String implements [Batching].
func (b *buckets) String() string { return b.text }

// text describes batches of rows of these lengths.
func (opt BucketOptions) text(lengths []int64) string {
	bounds := "powers of two"
	if len(opt.Bounds) > 0 {
		bounds = fmt.Sprintf("%d bounds %s", len(opt.Bounds), digest(opt.Bounds))
	}
	text := boundsText(" of at most %d tokens", opt.Tokens, opt.Rows, opt.DropLast)
	return fmt.Sprintf("%s: buckets by %s of %d lengths %s", text, bounds, len(lengths), digest(lengths))
}

// bucket returns the bucket of a length.
func (b *buckets) bucket(length int64) int {
	if len(b.opt.Bounds) == 0 {
		return bits.Len64(uint64(max(1, length) - 1))
	}
	at, _ := slices.BinarySearch(b.opt.Bounds, length)
	return at
}

// numBuckets returns how many buckets there are.
func (b *buckets) numBuckets() int {
	if len(b.opt.Bounds) == 0 {
		return 64
	}
	return len(b.opt.Bounds) + 1
}

// room reports whether a batch may have so many rows, at least 1, of which the longest is so long.
func (b *buckets) room(rows int, longest int64) bool {
	if b.opt.Rows > 0 && rows > b.opt.Rows {
		return false
	}
	return b.opt.Tokens == 0 || longest <= int64(b.opt.Tokens/rows)
}
