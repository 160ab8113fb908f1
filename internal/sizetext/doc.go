// Package sizetext has the texts of counts and sizes, for the terminal and for pages.
//
//	sizetext.Grouped("1945") // 1,945
//	sizetext.Bytes(15560)    // 15.6 kB
//
// Safe for concurrent use.
package sizetext
