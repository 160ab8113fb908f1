// Package ix has index expressions, which select a part of a tensor or of a dictionary. An
// expression is a list of [Index] values, outermost dim first, as in NumPy and torch.
//
//	td.Index(ix.At(0))                        // td[0]          drops the dim
//	td.Index(ix.All, ix.Range(2, ix.End))     // td[:, 2:]      keeps it
//	td.Index(ix.Range(0, ix.End).Step(2))     // td[::2]
//	td.Index(ix.Rest, ix.New)                 // td[..., None]  adds a dim of size 1
//	td.Index(ix.Take(4, 0, 4))                // td[[4, 0, 4]]  copies
//	td.Index(ix.Mask(keep))                   // td[mask]       copies
//
// [Parse] reads the text form and [Format] prints it.
//
// An Index is a value that holds numbers, never a tensor: it can be stored, compared by its text,
// and used any number of times for any shape. Package shapeops applies it to a shape, and checks
// that it fits.
//
// # Memory and concurrency
//
// [Take] and [TakeND] keep the list that they are given, without a copy; it must not change while
// the Index is in use. An Index is otherwise immutable and safe for concurrent use.
package ix
