// Package arrowforms makes package forms read and write Arrow and Parquet.
//
//	func main() {
//		arrowforms.Register()
//		err := forms.Convert(ctx, "visits", []string{"visits.parquet"}, forms.Options{})
//		...
//	}
//
// To import the package does nothing: call Register once. Packages tdarrow and tdparquet do the
// work, and have more options. The command tdict-arrow is tdict with Register.
package arrowforms
