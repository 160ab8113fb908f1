// Package tensorclass maps Go structs to dictionaries. The compiler knows the names and types of
// fields, and keys are spelled only once, in tags. (Python: tensorclass.) A struct of columns is a
// view of a dictionary:
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
// A struct of elements is one row of a dictionary:
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
// [View] and [Update] go between a dictionary and columns, [Dict] makes a dictionary of them.
// [FromRows] and [ToRows] convert all rows, [Rows] yields them one by one, [Row] and [SetRow] read
// and write one, and [AppendRows] gives rows to a Writer. [SchemaFor] returns the schema of a type.
//
// # Keys
//
// The key of a field is its name in lower case: Patient has "patient", NextObs "nextobs". The tag
// td sets another key, which may be nested ("obs/pixels"), and options after a comma:
//
//	td:"KEY,optional"   the dictionary may lack the entry
//	td:"KEY,data"       the value becomes Data, converted by JSON, whatever its type is
//	td:"KEY,mask=KEY"   for a pointer in a row: the bool entry that is true where it is not nil
//	td:"-"              the field is not an entry, and no function changes it
//	shape:"84,?"        for a column: dims after the batch shape, none by default; ? is any size
//	shape:"*,*,3"       for a *ragged.Tensor: a star for each level, by default one, and features
//
// An embedded struct adds its fields to the struct around it. Any other struct is a nested
// dictionary, with the batch shape of the dictionary around it. Entries of the dictionary without a
// field are ignored.
//
// A blank field of type [Class] names the Python class of the dictionaries. Leave it out unless
// Python has that class, with a field for each entry: otherwise Python cannot load what memmap
// saves, except with memmap.SaveOptions.NoClass.
//
// # Columns
//
// A column is a [Leaf], a *tensor.Tensor or a *ragged.Tensor (of any dtype), a *tdict.Data or a
// *tdict.Unbatched. A field with the option data has the value that all rows share. A pointer to a
// struct is a nested dictionary, nil if it is optional and missing. So a struct type can contain
// itself, as deep as the data is nested.
//
// # Rows
//
//   - A number or a bool is a tensor [N], an array of them [N K...].
//   - A string is text: its bytes as they are, UTF-8 or not.
//   - A slice of numbers, bools, or arrays of them is ragged, with one level. Nil is an empty
//     row, and an empty row is read as nil.
//   - A pointer to any of these, or to a struct, needs mask=KEY. Where it is nil, the entries are
//     zero or empty, and the mask is false.
//   - Any other type is Data, as encoding/json writes and reads it: maps with string keys, any,
//     slices of strings, of slices or of structs, and structs without exported fields that have
//     their own JSON, such as time.Time.
//
// A memmap.Writer cannot append Data that differs between rows, and no package computes with Data.
// So store a time.Time as an int64, such as its UnixMicro, and a list of strings as one string.
//
// A named type maps like its underlying number type, except that tensor.F16 and tensor.BF16 are
// float16 and bfloat16.
//
// # Errors
//
// If a struct does not map, the error is [ErrType] and names the type and the field. The type is
// checked once. The reasons are
//
//   - two fields with the same key,
//   - int or uint, whose size differs between machines,
//   - a channel, a function, or a map whose keys are not strings,
//   - an embedded pointer, or a field that is not exported,
//   - a struct without entries,
//   - a tag that is malformed or given twice,
//   - columns and elements in one struct.
//
// # Concurrency
//
// Functions are safe for concurrent use as the methods of the dictionary are: [Update] and [SetRow]
// write it, the others read it.
//
// # Implementation
//
// A plan lists the fields of a type with their offsets in a row and their entries. It is made by
// reflection, once for each type, and serves columns and rows. Loops over words copy numbers
// between columns and the memory of rows, one block of rows after the other; other fields are
// copied row by row. Parts of a column that is mapped, strided or not aligned are first copied to a
// buffer.
package tensorclass
