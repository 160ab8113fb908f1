package main

func Example_fromCSV() {
	fromCSV()
	// Output:
	// id  sex  day  chol
	// 1   "f"  0    261
	// 1   "f"  192  NA
	// 2   "f"  0    302
	// 1942 rows more
}

func Example_fromSQL() {
	fromSQL()
	// Output:
	// id  day  bili  chol
	// 1   0    14.5  261
	// 1   192  21.3  NA
	// 2   0    1.1   302
	// 1942 rows more
}

func Example_fromImages() {
	fromImages()
	// Output:
	// TensorDict(
	//     fields={
	//         image: Tensor(shape=[20 8 8], dtype=uint8),
	//         label: Tensor(shape=[20], dtype=int64)},
	//     batch=[20])
}

func Example_fromNumPy() {
	fromNumPy()
	// Output:
	// image        meta/index  meta/label
	// [0 0 5 ...]  0           0
	// [0 0 0 ...]  1           1
	// [0 0 0 ...]  2           2
	// 1794 rows more
}

func Example_fromSocket() {
	fromSocket()
	// Output:
	// 500 rows
	// 1000 rows
	// 1500 rows
	// 1945 rows
}
