package samplecache

import (
	"errors"
	"fmt"
)

// verify compares the sums of a row with those that were committed, as the options say.
func (h *hold) verify(row int) error {
	return h.compare(row, func(leaf int) (uint32, error) {
		lender, offset := h.rows.Place(leaf)
		size := h.cache.leaves[leaf].bytes
		return sumOf(lender, offset+row*size, size)
	})
}

// compare is verify of a row whose sums are sum(leaf).
func (h *hold) compare(row int, sum func(leaf int) (uint32, error)) error {
	bit := uint64(1) << (row % 64)
	switch {
	case h.cache.verify == Never:
		return nil
	case h.cache.verify == First && h.right[row/64].Load()&bit != 0:
		return nil
	}
	info, err := h.info(row)
	if err != nil {
		return err
	}
	for i, l := range h.cache.leaves {
		if l.bytes == 0 {
			continue
		}
		got, err := sum(i)
		if err == nil && got != info.Sums[i] {
			err = fmt.Errorf("%w: got %08x, want %08x", ErrChecksum, got, info.Sums[i])
		}
		if err != nil {
			return &RowError{Generation: h.id, Row: row, Key: string(l.key), Err: err}
		}
	}
	h.right[row/64].Or(bit)
	return nil
}

// info describes a row.
func (h *hold) info(row int) (Info, error) {
	info, err := h.rows.Info(row)
	if got, want := len(info.Sums), len(h.cache.leaves); err == nil && got != want {
		err = fmt.Errorf("%w: got %d sums, want %d", ErrCorrupt, got, want)
	}
	if _, ok := errors.AsType[*RowError](err); err != nil && !ok {
		err = &RowError{Generation: h.id, Row: row, Err: err}
	}
	return info, err
}
