package main

func Example() {
	main()
	// Output:
	// key       kind    dtype    shape  doc
	// id        tensor  int64    []     100 of 100 fields: integers from 1 to 15
	// futime    tensor  int64    []     100 of 100 fields: integers from 51 to 5169
	// status    tensor  int64    []     100 of 100 fields: integers from 0 to 2
	// trt       tensor  int64    []     100 of 100 fields: integers from 0 to 1
	// age       tensor  float64  []     100 of 100 fields: numbers from 38.1054072553046 to 70.5598904859685
	// sex       text             []     100 of 100 fields: texts of 1 to 1 bytes, 2 distinct
	// day       tensor  int64    []     100 of 100 fields: integers from 0 to 4243
	// ascites   tensor  int64    []     optional, 98 of 100 fields: integers from 0 to 1
	// hepato    tensor  int64    []     optional, 98 of 100 fields: integers from 0 to 1
	// spiders   tensor  int64    []     optional, 98 of 100 fields: integers from 0 to 1
	// edema     tensor  float64  []     100 of 100 fields: numbers from 0 to 1
	// bili      tensor  float64  []     100 of 100 fields: numbers from 0.3 to 21.3
	// chol      tensor  int64    []     optional, 51 of 100 fields: integers from 91 to 1315
	// albumin   tensor  float64  []     100 of 100 fields: numbers from 1.83 to 4.26
	// alk.phos  tensor  int64    []     optional, 98 of 100 fields: integers from 218 to 9010
	// ast       tensor  float64  []     100 of 100 fields: numbers from 6.2 to 331.7
	// platelet  tensor  int64    []     optional, 97 of 100 fields: integers from 71 to 388
	// protime   tensor  float64  []     100 of 100 fields: numbers from 9.1 to 19
	// stage     tensor  int64    []     100 of 100 fields: integers from 2 to 4
	//
	// corrected:
	// key    kind    dtype    shape  doc
	// id     tensor  int32    []
	// age    tensor  float32  []
	// sex    text             []
	// day    tensor  int32    []
	// bili   tensor  float32  []
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
	// and 1 more leaf
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
