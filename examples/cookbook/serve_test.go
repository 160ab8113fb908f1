package main

func Example_serveRows() {
	serveRows()
	// Output:
	// GET /visits/1: {"batch":[],"entries":{"day":{"dtype":"int64","shape":[],"values":192}}}
	// GET /visits/7: index: bad index: got position 7 of dim 0, which has size 2
	// GET /visits/1: {"batch":[],"entries":{"day":{"dtype":"int64","shape":[],"values":365}}}
}

func Example_saveSomeKeys() {
	saveSomeKeys()
	// Output:
	// TensorDict(
	//     fields={
	//         patient: Tensor(shape=[1945], dtype=int64),
	//         day: Tensor(shape=[1945], dtype=int64),
	//         chol: Tensor(shape=[1945], dtype=float64),
	//         chol_mask: Tensor(shape=[1945], dtype=bool)},
	//     batch=[1945])
}

func Example_toSafetensors() {
	toSafetensors()
	// Output:
	// TensorDict(
	//     fields={
	//         image: Tensor(shape=[1797 8 8], dtype=uint8),
	//         meta: TensorDict(
	//             fields={
	//                 index: Tensor(shape=[1797], dtype=int32),
	//                 label: Tensor(shape=[1797], dtype=int64)},
	//             batch=[1797])},
	//     batch=[1797])
}

func Example_compareVersions() {
	compareVersions()
	// Output:
	// changed: id=1, day=192: "chol": missing, other 198
}

func Example_compareInTest() {
	compareInTest()
	// Output:
	// "y": element [1] is 2, other 3
}
