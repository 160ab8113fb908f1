//go:build race

package pickstack_test

// poolLoss is how often a call may allocate: under the race detector a sync.Pool forgets now and
// then what was put into it.
const poolLoss = 500.0
