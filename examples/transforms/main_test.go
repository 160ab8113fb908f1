package main

func Example() {
	main()
	// Output:
	// compose
	//   standard: 7 columns
	//   fill NaN with 0
	//   on stage: one hot: 4 classes, float32
	// bili        0 of 1945 missing, mean    3.67, deviation    5.37
	// chol      821 of 1945 missing, mean  320.47, deviation  166.64
	// albumin     0 of 1945 missing, mean    3.39, deviation    0.50
	// alk.phos   60 of 1945 missing, mean 1381.91, deviation 1195.31
	// ast         0 of 1945 missing, mean  122.67, deviation   78.42
	// platelet   73 of 1945 missing, mean  233.68, deviation   97.64
	// protime     0 of 1945 missing, mean   11.00, deviation    1.48
	// TensorDict(
	//     fields={
	//         day: Tensor(shape=[312 16], dtype=int32),
	//         labs: Tensor(shape=[312 16 7], dtype=float32),
	//         patient: Tensor(shape=[312 16], dtype=int32),
	//         stage: Tensor(shape=[312 16 4], dtype=float32),
	//         measured: Tensor(shape=[312 16 7], dtype=bool),
	//         present: Tensor(shape=[312 16], dtype=bool),
	//         stats: Data(shape=[312 16], value={"transform":"standard","leaves":{"labs"...)},
	//     batch=[312 16])
	// the same statistics: true
	// the first visit, inverted: [14.5 261 2.6 1718 138 190 12.2]
	// on image, mask: compose
	//   random crop 6x6
	//   random flip: dim 1, p 0.5
	// uint8 [6 6]
	// [[ 8 11  0  2 15  3]
	//  [ 8  8  0  0 12  4]
	//  [ 8  9  0  0  8  5]
	//  [ 7 12  1  0 11  4]
	//  [ 0 12 10  5 14  2]
	//  [ 0  0 10 13  6  0]]
	// bool [6 6]
	// [[ true  true false false  true false]
	//  [ true  true false false  true false]
	//  [ true  true false false  true false]
	//  [false  true false false  true false]
	//  [false  true  true false  true false]
	//  [false false  true  true false false]]
	// in shuffled batches of 1, the same: true
	// in shuffled batches of 64, the same: true
	// in shuffled batches of 1000, the same: true
}
