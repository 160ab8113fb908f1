package sampler

import "fmt"

// A Batching cuts the order of an epoch into batches. [Rows], [Groups.Batches] and [Buckets] make
// Batchings.
type Batching interface {
	// Units returns how many units a sampler orders for a source of n rows, or an error if the
	// batching was made for another number of rows.
	Units(n int) (int, error)

	// Plan returns the batches of an order of these units.
	Plan(o Order, n int) (Plan, error)

	// String describes the batching in a line, as [Sampler]'s does.
	String() string
}

// A Plan is the batches of an epoch. It does not change; safe for concurrent use.
type Plan interface {
	// Len returns how many batches there are: NoEnd if they go on for ever.
	Len() int

	// Batch returns batch k, from 0 to Len-1, in the memory of dst if that is large enough.
	Batch(k int, dst Batch) Batch
}

// A Batch is the numbers of its rows.
type Batch struct {
	// Rows are the rows, in their order. Of N rows, r + k*N is row r again.
	Rows []int
	// Splits are where the groups of the batch lie in it, if it has groups: group g has the rows
	// from Splits[g] to Splits[g+1].
	Splits []int64
	// Run is set if the rows follow each other because the order says so, and not by chance: then a
	// batch may be a view of the source.
	Run bool
}

// boundsText describes batches that are bounded by a size of their own, which format says, and by
// rows; a bound of 0 is none.
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
