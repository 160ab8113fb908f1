// Package layers holds no code but a test that keeps the packages of this module in order: who may
// import whom, and who may import what of the standard library that is kept on a leash.
package layers
