package main

func Example_rowForEachPatient() {
	rowForEachPatient()
	// Output:
	// TensorDict(
	//     fields={
	//         day: Ragged(shape=[312 *], dtype=int64),
	//         bili: Ragged(shape=[312 *], dtype=float64),
	//         albumin: Ragged(shape=[312 *], dtype=float64)},
	//     batch=[312])
}

func Example_paddedBatches() {
	paddedBatches()
	// Output:
	// [10 12] true
	// [16 8] true
	// [9 13] true
	// 22 batches
}

func Example_windows() {
	windows()
	// Output:
	// [1089 4]
	// float64 [2 4]
	// [[1.1 0.8   1 1.9]
	//  [0.8   1 1.9 2.6]]
}

func Example_nStepReturns() {
	nStepReturns()
	// Output:
	// float32 [2 5]
	// [[ 3  6 12 16 16]
	//  [ 2  2 12 16 16]]
}

func Example_replayBuffer() {
	replayBuffer()
	// Output:
	// [13 19 16 16]
	// [17 16 14 15]
	// [14 19 12 15]
}
