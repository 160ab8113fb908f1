package main

func Example_describe() {
	describe()
	// Output:
	// id  sex  day  chol
	// 1   "f"  0    261
	// 1   "f"  192  NA
	// 2   "f"  0    302
	// 1942 rows more
	// age: 1945 values, 0 missing, mean 49.26
	// bili: 1945 values, 0 missing, mean 3.67
	// chol: 1124 values, 821 missing, mean 320.47
}

func Example_selectRows() {
	selectRows()
	// Output:
	// [131] of [1945]
}

func Example_meanOfGroups() {
	meanOfGroups()
	// Output:
	// stage  age                bili                chol
	// 1      47.03146366944053  1.0210526315789477  265.04651162790697
	// 2      47.2213593532085   2.0105263157894737  319.9642857142857
	// 3      48.97037126509285  2.9828431372549016  347.50422535211266
	// 4      50.21732958146374  4.82037037037037    308.28327645051195
	// visits of each stage: [95 266 612 972]
}

func Example_normaliseGroups() {
	normaliseGroups()
	// Output:
	// id  sex  day  bili                  chol
	// 1   "f"  0    2.062335641519572     -0.3617767509301627
	// 1   "f"  192  3.339558981582116     NA
	// 2   "f"  0    -0.45454564625073485  -0.11684863355670382
	// 1942 rows more
}

func Example_fillMissing() {
	fillMissing()
	// Output:
	// float64 [] 281
	// float64 [1945]
	// [261 281 302 ... 312 688 741]
}

func Example_maskOutliers() {
	maskOutliers()
	// Output:
	// float64 [] 26.61599999999994 float64 [] 3.672339331619537 float64 [] 3.3855064935064934
}

func Example_topRows() {
	topRows()
	// Output:
	// id   sex  day   bili
	// 56   "f"  1838  41
	// 187  "f"  729   40
	// 93   "f"  2787  37.8
}

func Example_oneHot() {
	oneHot()
	// Output:
	// [1945 4] float32 [4]
	// [ 95 266 612 972]
}
