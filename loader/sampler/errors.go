package sampler

import "errors"

// What can be wrong with what a sampler or a batching is given.
var (
	// ErrSize says that a size cannot be used: a batch of less than one row, blocks of none, bounds
	// that do not ascend, an order without end where one with an end is wanted, parts that do not
	// add up.
	ErrSize = errors.New("unusable size")
	// ErrNil says that there is no sampler where one is needed.
	ErrNil = errors.New("no sampler")
	// ErrUnits says that a sampler or a batching was made for another number of rows or groups, or
	// is given a number that no row has.
	ErrUnits = errors.New("wrong number of rows")
	// ErrWeight says that weights cannot be used: one is negative or not finite, or all are zero.
	ErrWeight = errors.New("unusable weight")
	// ErrRank says that a rank is not one of the world's.
	ErrRank = errors.New("rank outside the world")
	// ErrApart says that rows of one group do not lie together.
	ErrApart = errors.New("group lies apart")
	// ErrTooLong says that a row or a group does not go into any batch.
	ErrTooLong = errors.New("longer than a batch may be")
)
