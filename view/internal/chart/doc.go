// Package chart has the geometry of the charts of package view: small and large histograms, and
// lines. It returns numbers and path data, which templates write as attributes of SVG. It knows
// nothing about keys, datasets or how numbers are written.
//
//	bars, tails := chart.Small(h, 174, 46)        // two <path d="...">
//	large := chart.NewLarge(h, q, 704, 250)       // rects, grid lines and ticks
//	y, x := chart.NewScale(0.5, 27), chart.ScaleOf(0, 5152, 3)
//	line := chart.Line(nil, row, x, y, 1122, 208) // <path d="...">, and dots
//
// # Coordinates
//
// x grows to the right and y downwards, from the upper left corner of the box. All coordinates are
// finite and inside the box, whatever the input. They have at most two decimals.
//
// # Rules
//
//   - Heights of bars are linear from 0. A bar that is not empty is at least 1 unit high.
//   - Bars have equal widths. A tail, the count of the values on one side of the bars, stands after
//     a gap of 1.2 widths.
//   - Ticks are multiples of 1, 2 or 5 times a power of ten, written in decimal and then rounded to
//     the nearest float64.
//   - A line is cut where it crosses the border of the box. NaN breaks it.
//
// All functions are safe for concurrent use.
package chart
