package main

import (
	"strings"
	"testing"

	"github.com/go-tensordict/tensordict/examples/internal/page"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// TestPage wants each Go line of the tables of docs/tables.md in this program.
func TestPage(t *testing.T) {
	source, text := page.Read(t, "main.go"), page.Read(t, "../../docs/tables.md")
	for _, first := range []string{"pandas", "SQL"} {
		rows := testkit.Cells(text, first)
		if len(rows) < 15 {
			t.Errorf("%s: got %d rows", first, len(rows))
		}
		for _, row := range rows {
			if last := row[len(row)-1]; !strings.Contains(source, last) {
				t.Errorf("not in main.go: %s", last)
			}
		}
	}
	page.CheckSource(t, page.Fences(t, "../../docs/tables.md", "go"), "main.go")
}

func Example() {
	main()
	// Output:
	// 25 entries
	// id  sex
	// 1   "f"
	// 1   "f"
	// 2   "f"
	// 1942 rows more
	// two columns [1945] 3
	// without one [1945] 24
	// some rows [100] 25
	// high [744] 25
	// both [236] 25
	// listed [1584] 25
	// missing [821] 25
	// present [1124] 25
	// not high [380] 25
	// age: 1945 values, 0 missing, mean 49.26
	// chol: 1124 values, 821 missing, mean 320.47
	// sex  age                 chol
	// "f"  48.721390020309464  321.56
	// "m"  53.13859936405618   311.69354838709677
	// o.csv 1945 rows, 19 columns
	// o.csv 1945 rows, 19 columns
	// o.csv 1945 rows, 19 columns
	// o.csv 978 rows, 20 columns
	// o.csv 1945 rows, 20 columns
	// o.csv 3890 rows, 19 columns
	// o.csv 100 rows, 19 columns
	// o.csv 1945 rows, 19 columns
	// o.jsonl 1945 rows, 19 columns
	// coded 1945 rows, 19 columns
	// small 1945 rows, 19 columns
	// 3 rows differ
}
