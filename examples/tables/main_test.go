package main

func Example() {
	main()
	// Output:
	// key       kind    dtype    shape  doc
	// id        tensor  int64    []     1945 of 1945 fields: integers from 1 to 312
	// futime    tensor  int64    []     1945 of 1945 fields: integers from 41 to 5225
	// status    tensor  int64    []     1945 of 1945 fields: integers from 0 to 2
	// trt       tensor  int64    []     1945 of 1945 fields: integers from 0 to 1
	// age       tensor  float64  []     1945 of 1945 fields: numbers from 26.2778918548939 to 78.4394250513347
	// sex       tensor  int32    []     2 categories "f" "m", 1945 of 1945 fields: texts of 1 to 1 bytes, 2 distinct
	// day       tensor  int64    []     1945 of 1945 fields: integers from 0 to 5152
	// ascites   tensor  int64    []     optional, 1885 of 1945 fields: integers from 0 to 1
	// hepato    tensor  int64    []     optional, 1884 of 1945 fields: integers from 0 to 1
	// spiders   tensor  int64    []     optional, 1887 of 1945 fields: integers from 0 to 1
	// edema     tensor  float64  []     whole numbers without .0, 1945 of 1945 fields: numbers from 0 to 1
	// bili      tensor  float64  []     whole numbers without .0, 1945 of 1945 fields: numbers from 0.1 to 41
	// chol      tensor  int64    []     optional, 1124 of 1945 fields: integers from 55 to 1775
	// albumin   tensor  float64  []     whole numbers without .0, 1945 of 1945 fields: numbers from 1.17 to 8.01
	// alk.phos  tensor  int64    []     optional, 1885 of 1945 fields: integers from 73 to 13862
	// ast       tensor  float64  []     whole numbers without .0, 1945 of 1945 fields: numbers from 6.2 to 1205
	// platelet  tensor  int64    []     optional, 1872 of 1945 fields: integers from 40 to 991
	// protime   tensor  float64  []     whole numbers without .0, 1945 of 1945 fields: numbers from 9 to 36
	// stage     tensor  int64    []     1945 of 1945 fields: integers from 1 to 4
	//
	// corrected:
	// key    kind    dtype    shape  doc
	// id     tensor  int32    []
	// age    tensor  float32  []
	// sex    tensor  int32    []     2 categories "f" "m"
	// day    tensor  int32    []
	// bili   tensor  float32  []     whole numbers without .0
	// chol   tensor  float32  []     optional
	// stage  tensor  int8     []
	//
	// visits with much bilirubin:
	// id  day   bili  chol  chol_mask
	// 20  1344  32    0     false
	// 30  299   36    0     false
	// 56  1838  41    0     false
	// 6 rows more
	//
	// visits:
	// id  age       sex  day  bili  chol  chol_mask  stage
	// 1   58.76523  0    0    14.5  261   true       4
	// 1   58.76523  0    192  21.3  0     false      4
	// 2   56.44627  0    0    1.1   302   true       3
	// 2   56.44627  0    182  0.8   0     false      3
	// 1941 rows more
	//
	// patients:
	// TensorDict(
	//     fields={
	//         id: Tensor(shape=[312], dtype=int32),
	//         age: Tensor(shape=[312], dtype=float32),
	//         sex: Ragged(shape=[312 *], dtype=uint8),
	//         visits: TensorDict(
	//             fields={
	//                 day: Ragged(shape=[312 *], dtype=int32),
	//                 bili: Ragged(shape=[312 *], dtype=float32),
	//                 chol: Ragged(shape=[312 *], dtype=float32),
	//                 chol_mask: Ragged(shape=[312 *], dtype=bool)},
	//             batch=[312])},
	//     batch=[312])
	//
	// the first line:
	// {"id":1,"age":58.76523,"sex":"f","visits":{"day":[0,192],"bili":[14.5,21.3],"chol":[261.0,0.0],"chol_mask":[true,false]}}
	//
	// read back equal: true
}
