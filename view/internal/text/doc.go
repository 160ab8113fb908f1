// Package text has the texts of pages: counts, bytes, numbers, shapes, keys, and text of a dataset
// that may be hostile.
//
//	text.Count(1945)                  // 1,945
//	text.Bytes(15560)                 // 15.6 kB
//	text.Percent(287, 1124)           // 25.5 %
//	text.Number(float32(5.265625), 6) // 5.26562
//	text.Exact(int64(-1) << 63)       // −9,223,372,036,854,775,808
//	text.Show("a\u202eb", 200)        // the runs a, \u202e, b; the second one is escaped
//
// The results are plain text: package html/template escapes markup. Functions are pure, and safe
// for concurrent use.
package text
