package sampler

import "errors"

// Errors about the arguments of samplers and batchings.
var (
	// ErrSize says that a size is invalid: a batch of less than one row, a negative block, bounds
	// that do not ascend, an endless order where an end is required, parts that do not
	// add up.
	ErrSize = errors.New("unusable size")
	// ErrNil says that a sampler is nil.
	ErrNil = errors.New("no sampler")
	// ErrUnits says that a sampler or a batching was made for another number of rows or groups, or
	// got a number that no row has.
	ErrUnits = errors.New("wrong number of rows")
	// ErrWeight says that weights are invalid: one is negative or not finite, or all are zero.
	ErrWeight = errors.New("unusable weight")
	// ErrRank says that a rank is not from 0 to World-1.
	ErrRank = errors.New("rank outside the world")
	// ErrApart says that the rows of a group are not consecutive.
	ErrApart = errors.New("rows of a group are not consecutive")
	// ErrTooLong says that a row or a group does not fit in any batch.
	ErrTooLong = errors.New("too long for a batch")
)
