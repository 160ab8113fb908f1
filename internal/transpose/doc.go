// Package transpose copies planes of items whose rows in the source are columns in the destination.
//
//	p := transpose.Plane{To: to, From: from, Rows: n, Cols: m, Width: 4}
//	p.Copy() // to[i j] = from[j i]
//
// A loop over items that steps through one side by the length of a row uses one item of each cache
// line that it fetches. [Plane.Copy] goes tile by tile. It copies up to 1024 bytes of each of some
// rows of the source to scratch memory, transposes them there, and copies whole rows of the result
// to the destination. So both sides are read and written in long pieces, and the items move within
// the cache.
//
// Items of 1, 2 and 4 bytes are transposed by the instructions of [vector.Transpose], or in words
// of 8 bytes, by masks and shifts. Both transpose whole blocks: what lies in scratch memory beyond
// the last row and column is transposed, too, and not copied.
//
// Safe for concurrent use on different memory.
package transpose
