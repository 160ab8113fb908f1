package main

func Example() {
	main()
	// Output:
	// 20 epochs of 24 batches
	// stopped with the state {
	//   "version": 1,
	//   "dataset": "digits v1",
	//   "rows": 1500,
	//   "row_bytes": 76,
	//   "schema": "c9b0b1f92c985f19",
	//   "sampler": "random",
	//   "batching": "batches of 64 rows",
	//   "seed": 1,
	//   "epoch": 7,
	//   "batch": 11
	// }
	// resumed in epoch 7, 13 batches left of it
	// the same model: true
	// held-out accuracy 79.5 %
}
