// Package table holds a chunk of rows as columns, and converts between their elements and texts. It
// knows [tdict.Schema] but no file format: the reader of a format splits a row into texts, and
// appends each text to its column.
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
// Each entry of the schema, except a dictionary, is a column. A row appends to
//
//   - a tensor or a text: one value for each element of Shape, row-major, with [Column.Append] or
//     [Column.AppendMissing]
//   - a ragged tensor: the elements of all lists, with Append; [Column.EndList] is called at the
//     end of each list, and level 1 ends the row. For a missing row AppendMissing is called once
//     instead
//
// # Missing values
//
// An Optional entry has a mask: a bool for each value, or for each row of a ragged tensor, false
// where the value is missing. The key of the mask is the key of the entry followed by "_mask". A
// missing value reads as [Options].Fill if that has the key, and otherwise as zero, or an empty
// text or list.
//
// # Texts of elements
//
// Package strconv parses numbers and bools, integers in base 10: "1", "t" and "true" are bools,
// "NaN", "Inf" and "-Inf" are floats, "(1+2i)" is a complex number. An integer that is out of range
// or has a fraction is [ErrValue], and so is a number too large for its float. Floats are rounded
// to the nearest; 16-bit floats are rounded from the nearest float64.
//
// A Spec with Time has texts by its layout, in UTC unless the layout has a zone. A Spec with
// Categories has these texts; another text is ErrValue.
//
// In the other direction, [Table.Load] loads a dictionary, and [Column.Text] appends the text of an
// element: the fewest digits that read back as the same element, or "NaN", "+Inf" or "-Inf". A
// float has a point or an exponent, so that it does not look like an integer: 1 is "1.0". The
// payload of a NaN is lost.
//
// Nothing in this package is safe for concurrent use.
package table
