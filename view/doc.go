// Package view shows datasets in a browser, also to people who do not write Go: a wall of small
// histograms, a page for each leaf, tables of rows, pictures and lines. A page adds the rows that a
// Writer appends while it is open.
//
//	pages, err := view.Handler(view.Options{Sources: []view.Source{{Path: "visits"}}})
//	...
//	defer pages.Close()
//	http.Handle("/data/", http.StripPrefix("/data", pages))
//
// The command tdict view serves these pages on a loopback address, behind a token.
//
// # What a service must know
//
//   - The pages ask for no password. They show all elements of the sources, and nothing else: no
//     path of the machine, also in errors. Put them behind the authentication of the service.
//   - All links are relative, so the pages work below any prefix that ends in a slash.
//   - Only GET and HEAD are answered. Every response has a Content-Security-Policy that allows
//     nothing from another host, no inline script and no inline style.
//   - Names and texts of a dataset are untrusted: html/template escapes them, and characters that
//     cannot be seen, or turn the direction of text, are written as escapes of Go.
//   - An open page holds a request, its stream of events. Call Close before [http.Server.Shutdown],
//     which waits for requests.
//   - A ResponseWriter that the service wraps needs the method Unwrap, see
//     [http.ResponseController]. Otherwise pages cannot be sent in parts, and do not follow a
//     Writer.
//
// # Reading
//
// A dataset is opened when somebody looks at it, followed, and closed after [Options.Idle]. Values
// are read when a page shows them. A leaf of at most [Options.MaxRead] bytes is read in full, and a
// wall reads at most four times MaxRead. Of larger leaves a sample is read, and the page says so.
// Pages are streamed, and reading ends when the browser has closed the page. If a leaf cannot be
// read, the error is in its place, and the rest of the page follows.
//
// Statistics and bins come from [inspect.Profiles].
//
// # Addresses
//
// The query of an address selects all that the page shows: the dataset, its version, the key, the
// rows. Commits to a growing dataset do not change its version. After a dataset is replaced, an
// address of the old version shows the old version as long as somebody looks at it, with a notice
// of the new one. When nobody does, the answer is 410 and a link to the new version.
//
// # Implementation
//
// Each request is a visit (visit.go). It takes a version of a dataset from package
// view/internal/shelf, makes the data of a template, and writes the template; a wall is written
// card by card. Names and texts of a dataset reach a template as text.Text, or through plain.
//
//   - leaves.go, card.go: the wall. list.go, found.go: the list, search, several datasets
//   - leaf.go, plot.go, index.go, ends.go: a leaf, its histograms, its index box, its first and
//     last rows
//   - rows.go, row.go, rowjson.go, cells.go, json.go: tables of rows, one row in full
//   - pictures.go, picture.go, shown.go: pictures, and their PNGs. lines.go, series.go: lines
//   - profile.go: reads a leaf, or a sample, to describe it; the shelf keeps the result
//   - frame.go, tree.go, errors.go: the header and tree of each page, and pages about errors
//   - events.go, assets/view.js: follow commits and replacements
//
// A new page is a method of visit in the table of Handler, with a template.
package view
