package sampler

import (
	"fmt"
	"math/bits"
	"slices"
)

// BucketOptions say which rows may be in a batch together, and when a batch is full. Tokens or Rows
// must be set.
type BucketOptions struct {
	// Bounds are the limits of the buckets, in ascending order. Bucket i has the rows that are
	// longer than Bounds[i-1] but not longer than Bounds[i]; a last bucket has the rows longer than
	// all bounds. Nil means powers of two.
	Bounds   []int64
	Tokens   int  // largest number of rows times length of the longest row; 0 means no limit
	Rows     int  // largest number of rows in a batch; 0 means no limit
	DropLast bool // leave out batches that are not full when the order ends
}

// Buckets returns a batching of rows of about the same length, so that a padded batch has little
// padding:
//
//	order of rows -> batches of rows of one bucket
//
// Each row joins the open batch of its bucket, in the order of the sampler. A batch is complete
// when no further row fits, or the next row does not fit. Batches come in the order in which they
// are completed; at the end of the order come the incomplete ones, by bucket. So every row of the
// order is in one batch, unless DropLast leaves it out. The plan is computed in one pass at the
// beginning of an epoch, and takes 8 bytes per row. The order must end: otherwise Plan returns
// [ErrSize].
//
// Buckets returns [ErrSize] if a length or a bound is negative, if bounds do not ascend, or if
// neither Tokens nor Rows is set, and [ErrTooLong], with the row, if a row is longer than Tokens.
// The batching's Units returns [ErrUnits] unless the source has as many rows as lengths. Buckets
// copies its arguments.
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

// check returns ErrSize if options are invalid.
func (opt BucketOptions) check() error {
	if opt.Tokens < 0 || opt.Rows < 0 || opt.Tokens == 0 && opt.Rows == 0 {
		return fmt.Errorf("%w: got batches of %d tokens and %d rows at most, want neither negative and one of them at least 1",
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
		return 0, fmt.Errorf("%w: got a source of %d rows, want %d, the number of lengths", ErrUnits, n, len(b.lengths))
	}
	return n, nil
}

// String implements [Batching].
func (b *buckets) String() string { return b.text }

// text describes the batching of rows of these lengths.
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

// numBuckets returns the number of buckets.
func (b *buckets) numBuckets() int {
	if len(b.opt.Bounds) == 0 {
		return 64
	}
	return len(b.opt.Bounds) + 1
}

// fits reports whether a batch may have rows rows, at least 1, if the longest has length longest.
func (b *buckets) fits(rows int, longest int64) bool {
	if b.opt.Rows > 0 && rows > b.opt.Rows {
		return false
	}
	return b.opt.Tokens == 0 || longest <= int64(b.opt.Tokens/rows)
}
