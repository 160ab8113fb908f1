package chart_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/view/internal/chart"
)

var commands = regexp.MustCompile(`[MLVHh][^MLVHh]*`)

// points returns the positions of path data.
func points(t *testing.T, d string) []chart.Point {
	t.Helper()
	var all []chart.Point
	var at chart.Point
	for _, c := range commands.FindAllString(d, -1) {
		var n []float64
		for _, text := range regexp.MustCompile(` `).Split(c[1:], -1) {
			v, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err, d)
			n = append(n, v)
		}
		switch c[0] {
		case 'M', 'L':
			at = chart.Point{X: n[0], Y: n[1]}
		case 'V':
			at.Y = n[0]
		case 'h':
			at.X += n[0]
		}
		all = append(all, at)
	}
	return all
}

// commandsOf returns the commands of path data that begin with a letter.
func commandsOf(letter byte, d string) (all []string) {
	for _, c := range commands.FindAllString(d, -1) {
		if c[0] == letter {
			all = append(all, c)
		}
	}
	return all
}
