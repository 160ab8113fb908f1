package main

func Example_addColumn() {
	addColumn()
	// Output:
	// id  age               day  age_now
	// 1   58.7652292950034  0    58.7652292950034
	// 1   58.7652292950034  192  59.290896646132765
	// 2   56.4462696783025  0    56.4462696783025
	// 1942 rows more
}

func Example_addInPlace() {
	addInPlace()
	// Output:
	// TensorDict(
	//     fields={
	//         day: Ragged(shape=[312 *], dtype=int64),
	//         bili: Ragged(shape=[312 *], dtype=float64),
	//         albumin: Ragged(shape=[312 *], dtype=float64),
	//         highest: Tensor(shape=[312], dtype=float64)},
	//     batch=[312])
}

func Example_changeElements() {
	changeElements()
	// Output:
	// id  day  chol
	// 1   0    261
	// 1   192  198
	// 1943 rows more
}

func Example_deleteRows() {
	deleteRows()
	// Output:
	// [995] 23 entries
}

func Example_joinTables() {
	joinTables()
	// Output:
	// id  trt  day  arm
	// 1   1    0    "penicillamine"
	// 1   1    192  "penicillamine"
	// 2   1    0    "penicillamine"
	// 1942 rows more
}

func Example_textToNumbers() {
	textToNumbers()
	// Output:
	// [1 1 1] [f m] [1945]
}

func Example_lock() {
	lock()
	// Output:
	// set "bili": locked: shared by all handlers: Copy it to change it
	// 1 2
}
