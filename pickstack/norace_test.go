//go:build !race

package pickstack_test

// poolLoss is how often a call may allocate.
const poolLoss = 0.0
