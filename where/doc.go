// Package where reads conditions on the rows of a dictionary, such as a user types them, and makes
// masks of them.
//
//	cond, err := where.Parse("label == 3 and age > 40")
//	filter, err := cond.Bind(td)          // checks keys and dtypes, and reads no element
//	mask, err := filter.Mask(td)          // bool [N]
//	rows, err := td.MaskedSelect(mask)
//
// A [Condition] belongs to no dictionary. [Condition.Bind] makes a [Filter] of it, which takes a
// dictionary whole or in chunks of rows.
//
// # Grammar
//
//	label == 3                   a key, one of == != < <= > >=, and a literal
//	label in (3, 5, 8)           equals one of the literals
//	meta/valid                   is true; the leaf holds bools
//	missing(age)                 has no value: see below
//	nan(score)                   is NaN, which no integer is; the leaf holds numbers
//	not a and b or (c and d)     not binds more tightly than and, and more tightly than or
//
// A literal is a decimal number, true, false or a text. A number (40, -3.5, 1e-3) has an exponent
// from -999 to 999, and float64 holds it. A text is between double quotes, with the escapes of Go,
// or between single quotes without escapes, where a single quote in it is written twice. The key is
// on the left.
//
// A key stands as it is if it consists of the characters A-Z, a-z, 0-9, "_", "/" and ".", and is
// none of the words and, or, not, in, true, false, missing and nan. Any other key stands between
// backquotes, and a backquote in it is written twice: `km~1h`.
//
// A condition is at most 65,536 bytes of UTF-8. Parentheses and not are nested at most 100 deep.
//
// # Leaves
//
// In a dictionary with the batch shape [N ...] a leaf has the shape [N], or [N 1], [N 1 1] and so
// on: one value for each row. The dtype says which literals it is compared with:
//
//	integers                        numbers, exactly
//	floating-point numbers          numbers, see below
//	bool                            true and false, by == != and in
//	text, which is uint8 [N... *]   texts, byte by byte; "Z" is less than "a"
//
// A number is never rounded to the dtype of a leaf. Integers are compared with the decimal number
// itself: 3 < 3.5 holds, and 9223372036854775807 differs from 9223372036854775808. A floating-point
// element is widened to float64, and compared with the float64 nearest to the number. So the
// float32 nearest to 0.1 differs from 0.1, and is greater; the float64 nearest to 0.1 equals it.
// Use a range to find a float32. NaN differs from every number, and is neither less nor greater.
//
// Categories are compared by their numbers.
//
// # Missing values
//
// The mask of a key is the bool leaf beside it whose key ends in "_mask": age_mask for age, as
// packages csv and jsonl make it. Where it is false, the value is missing. A comparison with a
// missing value is unknown, as in SQL: neither it nor its negation selects the row. So age != 40
// and not age == 40 both select the rows that have another age, and missing(age) those that have
// none. Without a mask no value is missing. A leaf of another dtype under that key is no mask.
//
// A dictionary can have a mask too, as a pointer to a struct does in package tensorclass:
// missing(p) asks for it. Its entries have no masks of their own: p/a of a row where p is missing
// is zero, so write "not missing(p) and p/a < 3".
package where
