package sampler

import "fmt"

// A Batching cuts the order of an epoch into batches. [Rows], [Groups.Batches] and [Buckets] return
// Batchings.
type Batching interface {
	// Units returns the number of units to order for a source of n rows. It returns an error if the
	// batching was made for another number of rows.
	Units(n int) (int, error)

	// Plan returns the batches of an order of these units.
	Plan(o Order, n int) (Plan, error)

	// String describes the batching in one line, as Sampler.String does.
	String() string
}

// A Plan is the batches of an epoch. It does not change; it is safe for concurrent use.
type Plan interface {
	// Len returns the number of batches, or NoEnd.
	Len() int

	// Batch returns batch k, from 0 to Len-1, in the memory of dst if that is large enough.
	Batch(k int, dst Batch) Batch
}

// A Batch lists the row numbers of a batch.
type Batch struct {
	// Rows are the rows, in order. For a source of N rows, r + k*N is the k-th repetition of row r.
	Rows []int
	// Splits are the row splits of the groups, if the batch has groups: group g has the rows from
	// Splits[g] up to, not including, Splits[g+1].
	Splits []int64
	// Run is set if the rows are consecutive because of the order, not by chance. Then the batch
	// may be a view of the source.
	Run bool
}

// boundsText describes batches that are bounded by size, formatted by format, and by rows; 0 means
// no bound.
func boundsText(format string, size, rows int, dropLast bool) string {
	text := "batches"
	if size > 0 {
		text += fmt.Sprintf(format, size)
	}
	if rows > 0 {
		text += fmt.Sprintf(" of at most %d rows", rows)
	}
	if dropLast {
		text += ", incomplete ones left out"
	}
	return text
}
