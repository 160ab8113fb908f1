// Package tdc has the consolidated form of a dictionary: one buffer, as Python's consolidate writes
// it, which a file and a message hold.
//
//	var p tdc.Plan
//	err := p.Make(td)            // where each leaf goes
//	_, err = p.WriteTo(w, nil)   // data, then the trailer
//
//	f, err := tdc.Parse(text, dataSize, tdc.Limits{}) // text is the JSON of the trailer
//	td, err := f.Dict(tdc.Maker{Tensor: ...})
//
// memmap/FORMAT.md describes the form. Writing is one walk over the dictionary (plan.go), which
// numbers the leaves, and one over what it noted (text.go). Reading is one walk over the JSON
// (parse.go, node.go), which checks all of it, and one that makes the values (dict.go).
//
// A Plan and a Form are not safe for concurrent use.
package tdc
