// Package pool has the form in which ragged tensors are saved: a dictionary of dense tensors, which
// Python loads, copies and saves like any other.
//
//	batch [B...], N rows, V values [F...]
//
//	@lengths    int64 [B...]      the length of each row
//	@lengths2   int64 [B... W2]   the lengths of the rows of level 2, end to end; and so on
//	@pool       [B... W F...]     the values, end to end
//	@row        int64 [B...]      number of the row, plus 2^32 times the tag of the whole tensor
//
// A tensor without levels has @lengths of shape [B... 0].
//
// W is V/N, rounded up, and W2 likewise: the pool holds the values as they are, without a gap, and
// then fewer than N more, which have no meaning. Where Python picks, joins or computes, the row
// numbers or a width change, and [Parts.Layout] returns ErrCorrupt. It does not notice lengths that
// change while row numbers and widths stay. memmap/FORMAT.md has the rules.
//
// Reading: [Check] takes the parts of a dictionary, and [Parts.Layout] reads and checks their
// numbers. Writing: [PartsOf] lists the parts, and [Write] writes them.
//
// A [Layouts] is not safe for concurrent use.
package pool
