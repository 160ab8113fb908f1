// Package testkit is what the tests of several packages share. Nothing but tests imports it.
//
//   - [Specimens] runs a test on tensors of every shape, layout, kind of memory and width, each
//     beside its [naive.Array].
//   - [Content], [Elements], [Gather] and [Scatter] get at elements, and [Err] at an error.
//   - [Fails] and [Refuse] check that an operation is refused, says why and changes nothing.
//   - [MaxBytes] and [Near] check what an operation allocates.
//
// # Texts of errors
//
// The texts that [Fails] meets are in the file testdata/errors.txt of the package under test, one a
// line, under the name of the test. So they can be read, and changed, in one place:
//
//	rm tensor/testdata/errors.txt; UPDATE_TEXTS=1 go test ./tensor
package testkit
