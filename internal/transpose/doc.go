// Package transpose copies planes of items whose rows in the source are columns in the destination.
//
//	to [n m], from [m n]: to[i j] = from[j i]
//
// A loop over items that walks through memory by a row's length at one side uses one item of each
// cache line that it fetches. [Plane.Copy] goes tile by tile: it copies a few hundred bytes of each
// of some rows of the source to scratch memory, transposes them there, and copies whole rows of the
// result to the destination. Items of 1, 2 and 4 bytes are transposed in words of 8 bytes, with
// masks and shifts; package vector has an instruction sequence for items of 4 bytes, which needs no
// scratch memory.
package transpose
