// Package conformance holds no code but a test that runs operations on cases made by the systems
// that this module replaces: testdata/conformance at the top of the module, and the directory that
// CONFORMANCE_DIR names.
package conformance
