package main

func Example_imagesToFloats() {
	imagesToFloats()
	// Output:
	// TensorDict(
	//     fields={
	//         image: Tensor(shape=[64 6 6], dtype=float32),
	//         meta: TensorDict(
	//             fields={
	//                 index: Tensor(shape=[64], dtype=int32),
	//                 label: Tensor(shape=[64], dtype=int64)},
	//             batch=[64])},
	//     batch=[64])
}

func Example_fitOnTrain() {
	fitOnTrain()
	// Output:
	// bili                chol                albumin
	// 3.7042324699937037  318.61343612334804  3.4109159823120656
	// id  bili                  chol                 chol_mask  albumin
	// 4   -0.34748980252060463  -0.4461770101785292  true       -1.7699182854705895
	// 4   -0.38398637612663644  -1.90525993330763    false      -1.0789535663912078
	// 62 rows more
}

func Example_resumeRun() {
	resumeRun()
	// Output:
	// in the first epoch: killed
	// in the second epoch: killed
	// as without a kill: true
}

func Example_twoRanks() {
	twoRanks()
	// Output:
	// rank 0 has 16 batches, the first with rows [1609 38 1736 1001]
	// rank 1 has 16 batches, the first with rows [1926 1136 615 384]
}

func Example_feedPython() {
	feedPython()
	// Output:
	// a consumer got 1797 rows
}
