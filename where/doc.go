// Package where parses conditions that users type, such as age > 40, and makes masks of the rows
// for which they hold.
//
//	cond, err := where.Parse("label == 3 and age > 40")
//	filter, err := cond.Bind(td)          // checks keys and dtypes, and reads no element
//	mask, err := filter.Mask(td)          // bool [N]
//	rows, err := td.MaskedSelect(mask)
//
// A [Condition] belongs to no dictionary. [Condition.Bind] returns a [Filter] for a dictionary,
// which can be whole or in chunks of rows.
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
// The key is on the left. A literal is a decimal number, true, false or a text:
//
//   - A number (40, -3.5, 1e-3) has an exponent from -999 to 999, and must be in the range of
//     float64.
//   - A text has double quotes, with the escapes of Go, or single quotes without escapes, with two
//     single quotes for each single quote in it.
//
// A key of the characters A-Z, a-z, 0-9, "_", "/" and "." is written as it is, unless it is one of
// the words and, or, not, in, true, false, missing and nan. Any other key is written between
// backquotes, with two backquotes for each backquote in it: `km~1h`.
//
// A condition is at most 65,536 bytes of UTF-8. Parentheses and not are nested at most 100 deep.
//
// # Leaves
//
// In a dictionary with batch shape [N ...] a leaf has the shape [N], or [N 1], [N 1 1] and so on:
// one value for each row. Its dtype determines the literals that it is compared with:
//
//	integers                        numbers, exactly
//	floating-point numbers          numbers, see below
//	bool                            true and false, by == != and in
//	text, which is uint8 [N... *]   texts, byte by byte; "Z" is less than "a"
//
// Integers are compared with the decimal number itself: 3 < 3.5 holds, and 9223372036854775807
// differs from 9223372036854775808. For floating-point leaves a number is rounded to the dtype of
// the leaf, as NumPy 2 and torch do, so the float32 0.1 equals 0.1. A number that would round to
// infinity or to 0 is compared exactly: no finite float32 is greater than 1e39. NaN differs from
// every number, and is neither less nor greater.
//
// A schema, such as the one of a dataset, may say that integers are times, or codes of categories.
// Then they are compared with texts: categories by ==, != and in, times by all operators: shop ==
// "Berlin", day > "2024-01-03".
//
// # Missing values
//
// [Condition.BindSchema] takes a schema, such as the one of a dataset, that says which leaves have
// masks. Where the mask of a leaf is false, the value is missing. In a leaf without a mask no value
// is missing, also if there is a leaf with the name of a mask.
//
// missing(e) of a leaf of several columns selects the rows whose elements are all missing.
//
// A comparison with a missing value is unknown, as in SQL: neither the comparison nor its negation
// selects the row. So age != 40 and not age == 40 both select the rows with another age, and
// missing(age) selects the rows without an age.
//
// A pointer to a struct, in package tensorclass, has one mask for all entries of the struct. It is
// a bool leaf like any other: where p_mask is false, p/a is zero, so write "p_mask and p/a < 3".
package where
