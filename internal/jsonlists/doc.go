// Package jsonlists writes the elements of dense and ragged tensors as nested JSON lists, and reads
// them back. It does not depend on package tensor: elements are bytes in the machine's byte order,
// with the name of their dtype.
//
//	offsets := []int64{0, 2, 3}
//	l := jsonlists.Lists{DType: "int8", Batch: []int{2}, Levels: [][]int64{offsets}, Data: data}
//	text := l.Append(nil) // [[1,2],[3]]
//
// A [Node] is the object that contains the lists:
//
//	{"dtype":"float32","shape":[2,2],"values":[[0,1],[2,3]]}
//	{"dtype":"int64","shape":"[3 * *]","values":[[[],[0,3]],[[3,4,5]],[[],[],[2]]]}
//
// Numbers are written with the fewest digits that read back as the same bits. Elements that JSON
// has no number for are strings: "NaN", "+Inf", "-Inf", and complex numbers such as "(1+2i)".
// "Infinity" and "-Infinity" are read too. A NaN loses its payload. If a batch dim has size 0, the
// whole batch is one empty list; if a feature dim has size 0, each value is an empty list. A ragged
// shape of depth 0 does not show where the features begin; "feature_dims" is then their number.
//
// Reading checks the text against the dtype and the shape as it goes, and allocates memory only for
// elements that the text contains.
package jsonlists
