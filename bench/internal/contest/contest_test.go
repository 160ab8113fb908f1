package contest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRun runs a contest of two. It prints and draws each text, escaped, and the least is bold.
func TestRun(t *testing.T) {
	f := Flags{Dir: t.TempDir(), SVG: filepath.Join(t.TempDir(), "chart.svg"), Rows: 1, Batch: 1, Rounds: 1}
	var printed bytes.Buffer
	require.NoError(t, f.Run(&printed, func(dir string) (Chart, error) {
		require.DirExists(t, dir)
		return Chart{Title: "a < b", Less: true, Columns: []Column{{Name: "time", Log: true}, {Name: "size"}}, Rows: []Row{
			{Name: "x & y", Cells: []Cell{Times{.003, .001, .002}.Cell(), {Size: 1, Text: "one"}}},
			{Name: "z", Ours: true, Cells: []Cell{Times{.5}.Cell(), {Size: 2, Text: "two"}}}}}, nil
	}))
	drawn, err := os.ReadFile(f.SVG)
	require.NoError(t, err)
	var texts, bold []string
	for d := xml.NewDecoder(bytes.NewReader(drawn)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
			var text struct {
				Class string `xml:"class,attr"`
				Text  string `xml:",chardata"`
			}
			require.NoError(t, d.DecodeElement(&text, &start))
			texts = append(texts, text.Text)
			if text.Class == "bold" {
				bold = append(bold, text.Text)
			}
		}
	}
	require.Equal(t, []string{"a < b", "without the contenders in Python: see -python", "x & y", "z", "time", "1 ms", "500 ms", "size", "one", "two"}, texts)
	require.Equal(t, []string{"time", "1 ms", "size", "one"}, bold)
	for _, text := range []string{"x & y", "1 ms (2 ms)", "two", "without"} {
		require.Contains(t, printed.String(), text)
	}
	left, err := os.ReadDir(f.Dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestNumbers refuses a number that is too small.
func TestNumbers(t *testing.T) {
	f := Flags{Rows: 1, Batch: 1, Rounds: 1}
	require.ErrorContains(t, f.Run(io.Discard, nil, 0), "at least 1")
	f.Rows = 0
	require.ErrorContains(t, f.Run(io.Discard, nil), "at least 1")
}

// TestSeconds writes times with two or three digits.
func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{12.345: "12.35 s", 1: "1.00 s", .207: "207 ms", .0523: "52 ms", .00152: "1.5 ms", .0000423: "42 µs"} {
		require.Equal(t, want, Seconds(s))
	}
}
