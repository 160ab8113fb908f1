// Package layers has only tests of the order of the packages: which package may import which, and
// which may import restricted packages of the standard library, such as unsafe and reflect.
package layers
