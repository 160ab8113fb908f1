// Package workers does numbered items on a bounded number of goroutines.
//
//	err := workers.Do(ctx, len(leaves), 0, func(i int) error {
//		return write(leaves[i])
//	})
//
// The result of an operation must not depend on the number of cores. Therefore [Do] starts items in
// order, stops at the first failure, and returns the error of the lowest-numbered item that failed.
// Doing the items one by one would return the same error. A panic in an item becomes a
// [PanicError], which says which item, so that it neither ends the process nor is lost.
//
// [Stream] does the same for a loop that takes the results one by one, in order, while workers make
// the next results ahead of it, up to a given number.
//
// A [Crew] repeats a Do without allocating each time.
//
// No goroutine outlives Do or the loop. The number of workers is per call: a Do inside an item has
// its own.
//
// Settings of a goroutine, such as debug.SetPanicOnFault, are not passed to the workers; an item
// sets them itself.
package workers
