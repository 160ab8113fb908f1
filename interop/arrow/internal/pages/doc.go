// Package pages checks the lengths and counts in a Parquet file before the library uses them.
//
//	err := pages.CheckFooter(footer, most)    // lists, texts and nesting fit in it
//	facts, err := pages.Scan(file, chunk)     // the headers of the pages of a column chunk
//
// The library allocates lists by their claimed lengths, and whole pages by their claimed sizes: a
// few changed bytes would make it take many gigabytes. CheckFooter walks the footer as the library
// does. Scan walks the page headers of a column chunk, and looks into pages whose encodings claim
// sizes in their data. The codecs at [Codecs] write no more than a page has room for.
//
// A file must not change between a check and the reading.
package pages
