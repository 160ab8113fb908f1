// Package tdc has the consolidated form of a dictionary: one buffer, as Python's consolidate writes
// it, in a file or a message.
//
//	var p tdc.Plan
//	err := p.Make(td)            // the place of each leaf
//	err = p.WriteData(w)         // the data
//	_, err = w.Write(p.Trailer(nil))
//
//	f, err := tdc.Parse(text, dataSize, tdc.Limits{}) // text is the JSON of the trailer
//	td, err := f.Dict(tdc.Maker{Tensor: ...})
//
// memmap/FORMAT.md describes the form.
//
// Writing has two steps: plan.go lists the nodes and leaves of a dictionary, with the place of each
// leaf, and text.go writes them as JSON. Reading has two steps, too: parse.go and node.go read the
// JSON, which check.go checks, and dict.go makes the values. Package memmap reads shapes, dtypes
// and sizes in meta.json by functions of this package, and sums blocks by [Summer].
//
// A Plan and Contents are not safe for concurrent use.
package tdc
