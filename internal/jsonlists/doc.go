// Package jsonlists writes the elements of dense and ragged tensors as nested JSON lists, and reads
// them back. It knows no tensor: elements are bytes in the machine's order, under the name of their
// dtype.
//
//	offsets := []int64{0, 2, 3}
//	l := jsonlists.Lists{DType: "int8", Batch: []int{2}, Levels: [][]int64{offsets}, Data: data}
//	text := l.Append(nil) // [[1,2],[3]]
//
// A [Node] is the object around the lists:
//
//	{"dtype":"float32","shape":[2,2],"values":[[0,1],[2,3]]}
//	{"dtype":"int64","shape":"[3 * *]","values":[[[],[0,3]],[[3,4,5]],[[],[],[2]]]}
//
// Numbers are numbers, in the fewest digits that read back as the same bits. JSON has none for some
// elements; these are strings: "NaN", "+Inf", "-Inf", and complex numbers such as "(1+2i)".
// "Infinity" and "-Infinity" are read too. A NaN loses its payload. A dim of size 0 in the batch
// shape makes one empty list of the whole batch, and one among the features an empty list of each
// value. A ragged shape of depth 0 does not show where the features begin; "feature_dims" then
// counts them.
//
// What is read is checked against the dtype and the shape as it comes, and no memory is taken for
// what the text only claims.
package jsonlists
