// Package testkit has what the tests of several packages share. Only tests import it.
//
//   - [Specimens] runs a test on tensors of every shape, layout, kind of memory and width, each
//     with its [naive.Array].
//   - [Content], [Elements], [Gather] and [Scatter] access elements. [Err] returns only the error
//     of a call.
//   - [Fails] and [Refuse] check that an operation fails, with which error, and that it changes
//     nothing.
//   - [MaxBytes] and [Near] check how much memory an operation allocates.
//
// # Texts of errors
//
// [Fails] compares texts with the file testdata/errors.txt of the package under test, which has one
// text a line, after the name of the test. So all texts can be read and changed in one place:
//
//	rm tensor/testdata/errors.txt; UPDATE_TEXTS=1 go test ./tensor
package testkit
