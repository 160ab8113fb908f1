package main

func Example() {
	main()
	// Output:
	// the file, of 1945 visits with 12661 labs: joint {
	//   age: float32 [312]
	//   day: int32 [312 *]
	//   female: bool [312]
	//   id: int32 [312]
	//   lab: uint8 [312 * *]
	//   treated: bool [312]
	//   value: float32 [312 * *]
	// }
	//
	// a batch of last visits:
	//   age      float32  [5]
	//   day      int32    [5 8]
	//   female   bool     [5]
	//   id       int32    [5]
	//   lab      uint8    [5 8 7]
	//   treated  bool     [5]
	//   value    float32  [5 8 7]
	//
	// day: int32 [5 8]
	// [[   0    0  181  369  733 1106 1456 1989]
	//  [   0    0    0    0  385  753 1120 1979]
	//  [   0    0    0    0    0    0    0  199]
	//  [   0  183  363  769 1231 1652 2056 2434]
	//  [   0    0    0    0    0    0  564  868]]
	// mask: bool [5 8]
	// [[false  true  true  true  true  true  true  true]
	//  [false false false  true  true  true  true  true]
	//  [false false false false false false  true  true]
	//  [ true  true  true  true  true  true  true  true]
	//  [false false false false false  true  true  true]]
	//
	// the visits of patient 224:
	//     day  measured  bilirubin  cholesterol
	//       0         7        1.0          309
	//     183         6        1.0          NaN
	//     363         7        1.2          500
	//     769         7        2.4          552
	//    1231         7        4.5          526
	//    1652         7        4.7          410
	//    2056         7        8.6          326
	//    2434         7        5.1          247
	//
	// patient   age  visits  measured, mean  bilirubin, mean  highest
	//     216  59.2       7             6.7              2.9      7.6
	//     259  60.0       5             7.0              5.3      8.5
	//     288  48.9       2             6.5              8.9      9.0
	//     224  38.6       8             6.9              3.6      8.6
	//     208  61.3       3             6.0              6.4     12.0
}
