package main

func Example() {
	main()
	// Output:
	// sex   3 values, 1 missing
	// age   3 values, 1 missing
	// bili  3 values, 1 missing
	// chol  2 values, 2 missing
	// age                 bili  chol
	// 51.666666666666664  2     280
	// sex    sex_mask  age  chol
	// [102]  true      50   300
	// [109]  true      61   260
	// []     false     44   NaN
	// float64 [] 2 <nil>
	// sex,age,bili,chol
	// m,61,NA,260
	// f,NA,3.5,300
}
