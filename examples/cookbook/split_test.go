package main

func Example_splitByPatient() {
	splitByPatient()
	// Output:
	// [1583] [362]
}

func Example_splitFiles() {
	splitFiles()
	// Output:
	// train [1552]
	// test [393]
}

func Example_crossValidate() {
	crossValidate()
	// Output:
	// fold 0 train on 1546 test on 399
	// fold 1 train on 1504 test on 441
	// fold 2 train on 1589 test on 356
	// fold 3 train on 1558 test on 387
	// fold 4 train on 1583 test on 362
}

func Example_sampleRows() {
	sampleRows()
	// Output:
	// [100] [1609 38 1736 1001 560]
}

func Example_balancedClasses() {
	balancedClasses()
	// Output:
	// visits: [95 266 612 972] in an epoch: [486 486 487 486]
}
