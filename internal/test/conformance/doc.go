// Package conformance has only tests, which run operations on cases made by the systems that this
// module replaces: the cases in testdata/conformance at the top of the module, and in the directory
// of the environment variable CONFORMANCE_DIR. Others compare pages of docs with the library.
package conformance
