package main

func Example() {
	main()
	// Output:
	// TensorDict(
	//     fields={
	//         obs: TensorDict(
	//             fields={
	//                 position: Stacked(shape=[6 * 2], dim=0, dtype=float32)},
	//             batch=[6]),
	//         reward: Stacked(shape=[6 *], dim=0, dtype=float32),
	//         goal: Stacked(shape=[6 *], dim=0, dtype=bool)},
	//     batch=[6])
	//
	// stacked float32 [3 *] along dim 0, padded: float32 [3 7]
	// [[ 0  0  0  1  2  3  5]
	//  [ 1  2  3  5 -1 -1 -1]
	//  [ 1  1  3  3  4  5 -1]]
	// mask: bool [3 7]
	// [[ true  true  true  true  true  true  true]
	//  [ true  true  true  true false false false]
	//  [ true  true  true  true  true  true false]]
	//
	// as rows: TensorDict(
	//     fields={
	//         obs: TensorDict(
	//             fields={
	//                 position: Ragged(shape=[6 * 2], dtype=float32)},
	//             batch=[6]),
	//         reward: Ragged(shape=[6 *], dtype=float32)},
	//     batch=[6])
}
