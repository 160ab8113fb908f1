package sampler

import "fmt"

// maxBucketed is the largest number of rows to put into buckets, which takes 32 GiB.
const maxBucketed = 1 << 32

// Plan implements [Batching].
func (b *buckets) Plan(o Order, _ int) (Plan, error) {
	if o.Len() == NoEnd {
		return nil, fmt.Errorf("%w: got an endless order, want one with an end for buckets", ErrSize)
	}
	if o.Len() > maxBucketed {
		return nil, fmt.Errorf("%w: got an order of %d rows, want at most %d for buckets", ErrSize, o.Len(), maxBucketed)
	}
	p := &bucketPlan{rows: make([]int, 0, o.Len()), cuts: []int{0}}
	open := make([]openBatch, b.numBuckets())
	for _, row := range each(o) {
		b.join(p, open, row)
	}
	for i := range open {
		if len(open[i].rows) > 0 && !b.opt.DropLast {
			p.close(&open[i])
		}
	}
	return p, nil
}

// An openBatch is a batch of a bucket that may get more rows.
type openBatch struct {
	rows    []int
	longest int64
}

// join adds a row, or a repetition of one, to the open batch of its bucket. It closes that batch
// first if the row does not fit, and afterwards if no further row fits.
func (b *buckets) join(p *bucketPlan, open []openBatch, row int) {
	length := b.lengths[row%len(b.lengths)]
	batch := &open[b.bucket(length)]
	longest := max(batch.longest, length)
	if !b.fits(len(batch.rows)+1, longest) { // then this row is the longest
		p.close(batch)
	}
	batch.rows, batch.longest = append(batch.rows, row), longest
	if !b.fits(len(batch.rows)+1, longest) {
		p.close(batch)
	}
}

// A bucketPlan is the [Plan] of buckets.
type bucketPlan struct {
	rows []int
	cuts []int // batch k has the rows from cuts[k] to cuts[k+1]
}

// close adds a batch to the plan, and empties it.
func (p *bucketPlan) close(batch *openBatch) {
	p.rows = append(p.rows, batch.rows...)
	p.cuts = append(p.cuts, len(p.rows))
	batch.rows, batch.longest = batch.rows[:0], 0
}

// Len implements [Plan].
func (p *bucketPlan) Len() int { return len(p.cuts) - 1 }

// Batch implements [Plan].
func (p *bucketPlan) Batch(k int, dst Batch) Batch {
	return Batch{Rows: append(dst.Rows[:0], p.rows[p.cuts[k]:p.cuts[k+1]]...)}
}
