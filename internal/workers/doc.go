// Package workers does numbered items on a bounded number of goroutines.
//
//	err := workers.Do(ctx, len(leaves), 0, func(i int) error {
//		return write(leaves[i])
//	})
//
// What an operation returns must not depend on how many cores there are. [Do] therefore starts
// items in order, stops at the first failure, and returns the error of the lowest-numbered item
// that failed, which is the one that doing them one by one would have met. A panic in an item is an
// error that says which item, a [PanicError], so it neither ends the process nor gets lost.
//
// [Stream] does the same for a loop that takes the results one by one, in order, while the next are
// made ahead of it, as many as it is told.
//
// A [Crew] is a Do that is repeated, without new memory each time.
//
// No goroutine outlives Do or the loop. The number of workers bounds one call: a Do inside an item
// has its own.
//
// Settings of a goroutine, such as debug.SetPanicOnFault, are not handed on to the workers; an item
// sets them itself.
package workers
