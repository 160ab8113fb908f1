// Package tensorclass maps Go structs to dictionaries: fields have names and types that the
// compiler knows, and keys are spelled once, in tags. (Python: tensorclass.) A struct of columns is
// a view of a dictionary:
//
//	type Frame struct {
//		_      tensorclass.Class       `td:"my.module.Frame"`
//		Pixels tensorclass.Leaf[uint8] `td:"obs/pixels" shape:"84,84"`
//		Action tensorclass.Leaf[int64]
//		Reward *tensor.Tensor          `td:",optional"`
//		Info   struct{ Seed int64 }    `td:"info,data"`
//		Next   *Frame                  `td:"next,optional"`
//	}
//	f, err := tensorclass.View[Frame](td) // checked once
//	pixels, err := f.Pixels.Slice()       // []uint8
//
// A struct of elements is one of its rows:
//
//	type Visit struct {
//		Patient string
//		Pos     [2]float32
//		Codes   []int64
//		Weight  *float64 `td:"weight,mask=weight_mask"` // nil where weight_mask is false
//	}
//	td, err := tensorclass.FromRows(visits) // visits: []Visit
//	for v, err := range tensorclass.Rows[Visit](td) {
//
// # Keys
//
// The key of a field is its name in lower case: Patient has "patient", NextObs "nextobs". The tag
// td names another one, which may be nested ("obs/pixels"), and options after a comma:
//
//	td:"KEY,optional"   the dictionary may lack the entry
//	td:"KEY,data"       the value becomes Data by way of JSON, whatever its type is
//	td:"KEY,mask=KEY"   of a pointer in a row: the bool entry that says where it is not nil
//	td:"-"              the field is no entry; no function changes it
//	shape:"84,?"        of a column: the dims after the batch shape, by default none; ? is any size
//	shape:"*,*,3"       of a *ragged.Tensor: a star for each level, by default one, and features
//
// An embedded struct adds its fields to the struct around it. Any other struct is an inner
// dictionary, with the batch shape of the dictionary around it. An entry that no field names is
// ignored.
//
// # Columns
//
// A column is a [Leaf], a *tensor.Tensor or a *ragged.Tensor (of any dtype), a *tdict.Data or a
// *tdict.Unbatched. A field of Data has the value that all rows share. A pointer to a struct is an
// inner dictionary of its own, nil if it is optional and missing; so a struct can hold itself, as
// deep as the data are.
//
// # Rows
//
//   - A number or a bool is a tensor [N], an array of them [N K...].
//   - A string is text: its bytes as they are, UTF-8 or not.
//   - A slice of numbers, bools, or arrays of them is ragged, with one level. Nil is an empty row,
//     and an empty row is read as nil.
//   - A pointer to any of these, or to a struct, needs mask=KEY. Where it is nil, the entries are
//     zero or empty, and the mask is false.
//   - All else is Data, as encoding/json writes and reads it: maps with string keys, any, slices of
//     strings, of slices or of structs, and structs that show no field, such as time.Time.
//
// Data that differs between rows cannot be appended by a memmap.Writer, and no package computes
// with it. So a time.Time is best an int64, such as its UnixMicro, and a list of strings one
// string.
//
// A type whose kind is a number is one, whatever its name is; tensor.F16 and tensor.BF16 are
// float16 and bfloat16.
//
// # Errors
//
// A struct that does not map is an [ErrType] that names the type and the field: two fields of one
// key, int or uint, whose size differs between machines, a channel, a function, a map whose keys
// are no strings, an embedded pointer, a field that is not exported, a struct without entries, a
// tag that is misspelt or there twice, columns and elements in one struct. It is found once for
// each type.
//
// # Concurrency
//
// All functions are safe for concurrent use as those of the dictionary are: [Update] and [SetRow]
// write it, the others read it.
//
// # Implementation
//
// A plan lists the fields of a type with their places in a row and their entries. It is made by
// reflection, once for each type, and serves columns and rows. Numbers are moved between columns
// and the memory of rows by loops over words, block after block of rows; other fields row by row. A
// column that is mapped, strided or not aligned is copied to a window first.
package tensorclass
