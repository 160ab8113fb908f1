package memmap

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
)

// prefetchGap is the largest gap between rows, in bytes, that is read with them, because that takes
// less time than a further system call.
const prefetchGap = 32 << 10

// Prefetch asks the system to read the given rows of all leaves ahead, and does not wait. Rows
// count along the first batch dim. It is fastest for rows in order, because rows that are close to
// each other become one request.
//
// It returns [ErrClosed], shapeops.ErrDim if the batch shape has no dims, shapeops.ErrIndex if a
// row is out of range, and errors of the system.
func (d *Dataset) Prefetch(rows ...int) error {
	if !d.open() || d.in.Closed() {
		return ErrClosed
	}
	if len(d.Shape()) == 0 {
		return d.fail("read", "", fmt.Errorf("%w: a batch shape without dims has no rows", shapeops.ErrDim))
	}
	n := d.Shape()[0]
	for _, row := range rows {
		if row < 0 || row >= n {
			return d.fail("read", "", fmt.Errorf("%w: got row %d, want one of %d", shapeops.ErrIndex, row, n))
		}
	}
	for _, l := range d.files {
		if err := d.prefetch(l, rows, n); err != nil {
			return err
		}
	}
	return nil
}

// prefetch asks for rows of a leaf that has n rows.
func (d *Dataset) prefetch(l *leafFile, rows []int, n int) error {
	var s stretch
	for i := 0; i < len(rows); {
		start := rows[i]
		stop := start + 1
		for i++; i < len(rows) && rows[i] == stop; i++ {
			stop++
		}
		offset, size, err := l.rowBytes(start, stop, n)
		if err != nil {
			return d.fail("read", l.file.Path(), err)
		}
		if s.join(offset, offset+size) {
			continue
		}
		if err := l.want(s); err != nil {
			return err
		}
		s = stretch{offset, offset + size}
	}
	return l.want(s)
}

// want asks for the bytes of s.
func (l *leafFile) want(s stretch) error {
	if s.from == s.to {
		return nil
	}
	return l.file.Advise(WillNeed, s.from, s.to-s.from)
}

// A stretch is the bytes of a file from from up to to.
type stretch struct{ from, to int }

// join extends s up to to, if from lies within s or at most prefetchGap after it, and reports
// whether it did.
func (s *stretch) join(from, to int) bool {
	if s.from == s.to || from < s.from || from > s.to+prefetchGap {
		return false
	}
	s.to = max(s.to, to)
	return true
}
