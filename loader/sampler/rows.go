package sampler

import "fmt"

// Rows returns a batching of size rows per batch. The last batch has the remaining rows; with
// dropLast it is left out if it has fewer than size. Rows returns [ErrSize] if size is below 1.
func Rows(size int, dropLast bool) (Batching, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	return rows{size, dropLast}, nil
}

// checkSize returns ErrSize unless size is a valid batch size.
func checkSize(size int) error {
	if size < 1 {
		return fmt.Errorf("%w: got a batch size of %d, want at least 1", ErrSize, size)
	}
	return nil
}

type rows struct {
	size     int
	dropLast bool
}

// Units implements [Batching].
func (r rows) Units(n int) (int, error) { return n, nil }

// Plan implements [Batching].
func (r rows) Plan(o Order, _ int) (Plan, error) {
	_, run := o.(ascending)
	return &rowPlan{order: o, size: r.size, count: count(o.Len(), r.size, r.dropLast), run: run}, nil
}

// String implements [Batching].
func (r rows) String() string {
	if r.dropLast {
		return fmt.Sprintf("batches of %d rows, none smaller", r.size)
	}
	return fmt.Sprintf("batches of %d rows", r.size)
}

// count returns the number of batches of size units for n units.
func count(n, size int, dropLast bool) int {
	switch {
	case n == NoEnd:
		return NoEnd
	case dropLast:
		return n / size
	case n == 0:
		return 0
	}
	return (n-1)/size + 1
}

// A rowPlan is the [Plan] of rows.
type rowPlan struct {
	order       Order
	size, count int
	run         bool
}

// Len implements [Plan].
func (p *rowPlan) Len() int { return p.count }

// Batch implements [Plan].
func (p *rowPlan) Batch(k int, dst Batch) Batch {
	start := k * p.size
	stop := start + min(p.size, p.order.Len()-start)
	return Batch{Rows: taken(p.order, dst.Rows[:0], start, stop), Run: p.run}
}
