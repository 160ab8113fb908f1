package memmap

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
)

// prefetchGap is how many bytes between rows are read in with them: that takes less time than one
// more request to the system.
const prefetchGap = 32 << 10

// Prefetch asks the system to read rows, counted along the first batch dim, of all leaves, so that
// they are there when they are wanted; it does not wait. Rows are best given in order: those that
// lie together, or nearly so, are asked for together. Its errors are those of [Dataset.FlushRows].
func (d *Dataset) Prefetch(rows ...int) error {
	n, err := d.numRows()
	if err != nil {
		return err
	}
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

// prefetch asks for some of the n rows of a leaf.
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

// want asks for a stretch of the file.
func (l *leafFile) want(s stretch) error {
	if s.from == s.to {
		return nil
	}
	return l.file.Advise(WillNeed, s.from, s.to-s.from)
}

// A stretch is the bytes of a file from one on, before another.
type stretch struct{ from, to int }

// join makes s longer by the bytes from one on, before another, if they begin in s or not long
// after it, and reports whether they do.
func (s *stretch) join(from, to int) bool {
	if s.from == s.to || from < s.from || from > s.to+prefetchGap {
		return false
	}
	s.to = max(s.to, to)
	return true
}
