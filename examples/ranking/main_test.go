package main

func Example() {
	main()
	// Output:
	// 16 batches of whole patients; of 520 pairs of visits held out, 73.5 % are in the right order
	// bili     +0.22
	// chol     -0.18
	// albumin  -0.37
	// alk.phos -0.14
	// ast      -0.02
	// platelet -0.33
	// protime  +0.07
}
