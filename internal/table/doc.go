// Package table holds a chunk of the rows of a table, as columns, while they come in as text. It
// knows [tdict.Schema], and no format of files: who reads a format finds the texts of a row and
// appends them, column by column.
//
//	t, err := table.New(schema, table.Options{})
//	x, name := t.Column("x"), t.Column("name")
//	for each row {
//		err = x.Append([]byte("1.5"))
//		err = name.Append([]byte("Ada"))
//	}
//	td, err := t.Dict(rows) // valid until Reset
//	t.Reset()
//
// # Columns
//
// Each entry of the schema is a column, but for dictionaries. What a row appends to a column is
//
//   - of a tensor or a text: one value for each element of Shape, row-major, by [Column.Append] or
//     [Column.AppendMissing];
//   - of a ragged tensor: the elements of all lists, by Append, and [Column.EndList] at the end of
//     each list, 1 being the level of the row. Or AppendMissing once, for a row that is missing.
//
// # Missing values
//
// An entry that is Optional has a mask beside it, a bool for each value, or for each row of a
// ragged tensor, that is false where the value is missing. Its key is that of the entry with
// "_mask" after it. A missing value is zero, or an empty text or list, or what [Options].Fill says.
//
// # Texts of elements
//
// Numbers are read exactly, or not at all: an integer that is out of range, or has a fraction, is
// [ErrValue], and so is a number too large for a float. Floats are rounded to the nearest, those of
// 16 bits from the nearest float64. Spellings are those of package strconv, in base 10 for
// integers: "1", "t" and "true" are bools, "NaN", "Inf" and "-Inf" are floats, "(1+2i)" is a
// complex number.
//
// [Table.Load] takes a dictionary instead, and [Column.Text] appends texts: the fewest digits that
// read back as the same element, and for what is not a number "NaN", "+Inf", "-Inf". A NaN
// loses its payload.
//
// Nothing here is safe for concurrent use.
package table
