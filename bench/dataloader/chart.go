package main

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
)

const (
	width    = 800
	barStart = 250 // x of the bars; the names are left of it
	barRoom  = 290 // length of the longest bar; the figures are right of it
	rowRoom  = 30
	head     = 72
)

// chart returns a bar chart of rows per second as SVG, with a background.
func chart(c config, all []result) string {
	fastest := c.perSecond(slices.MinFunc(all, func(a, b result) int { return cmp.Compare(a.seconds, b.seconds) }))
	var s strings.Builder
	height := head + rowRoom*len(all) + 16
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img">
<title>Shuffled epochs of mapped files: rows a second</title>
<style>text { font: 13px ui-sans-serif, -apple-system, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #1f2328 } .head { font-weight: 600; font-size: 15px } .soft { fill: #59636e }</style>
<rect x="1" y="1" width="%d" height="%d" rx="8" fill="#ffffff" stroke="#d1d9e0"/>
<text class="head" x="20" y="30">Shuffled epochs of mapped files: rows a second</text>
<text class="soft" x="20" y="52">%d rows of %d float32, batches of %d; more is better</text>
`, width, height, width-2, height-2, c.rows, c.features, c.batch)
	for i, r := range all {
		y := head + rowRoom*i
		color := "#818b98"
		if r.ours {
			color = "#0969da"
		}
		bar := barRoom * c.perSecond(r) / fastest
		fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="end">%s</text><rect x="%d" y="%d" width="%.1f" height="20" rx="3" fill="%s"/><text x="%.1f" y="%d">%s rows/s, %.0f ms an epoch</text>
`, barStart-10, y+15, html.EscapeString(r.name), barStart, y, bar, color, barStart+bar+8, y+15, rounded(c.perSecond(r)), 1000*r.seconds)
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// rounded returns a number with an SI prefix, such as "1.53 M".
func rounded(x float64) string {
	if x >= 999_500 {
		return fmt.Sprintf("%.2f M", x/1e6)
	}
	return fmt.Sprintf("%.0f k", x/1e3)
}
