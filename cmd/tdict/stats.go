package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/nestedkey"
)

type statsCmd struct {
	Path     string          `arg:"" help:"A dataset or a file."`
	Keys     []nestedkey.Key `arg:"" optional:"" name:"key" help:"Describe these entries only."`
	Mask     nestedkey.Key   `help:"Leave out the values where this bool leaf is false; without it KEY_mask beside KEY." placeholder:"KEY"`
	ByColumn bool            `help:"Describe each feature of a tensor by itself."`
	JSON     bool            `name:"json" help:"Print JSON, which docs/cli.md describes."`
	tableFlags
}

func (statsCmd) Help() string {
	return `
Missing values are left out and counted. Min to max are of numbers other than NaN; docs/cli.md says how exact quantiles are.

	tdict stats visits
	tdict stats visits chol bili --json
	tdict stats digits image --by-column`
}

// quantiles are those that stats prints.
var quantiles = []float64{0.25, 0.5, 0.75}

func (c *statsCmd) Run(s *session) error {
	in, err := s.open(c.Path, c.tableFlags)
	if err != nil {
		return err
	}
	defer in.Close()
	all, err := inspect.Describe(s.ctx, in.Dict, inspect.DescribeOptions{
		Keys: c.Keys, Mask: c.Mask, ByColumn: c.ByColumn, Quantiles: quantiles,
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return writeStats(s, all)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "key\tdtype\tcount\tmissing\tmin\t25%\t50%\t75%\tmax\tmean\tstd\t")
	for _, x := range all {
		fmt.Fprintln(w, strings.Join(statsLine(x), "\t"))
	}
	return w.Flush()
}

// statsLine returns the cells of a summary.
func statsLine(x inspect.Summary) []string {
	kind := x.Kind.String()
	if x.DType != 0 {
		kind = x.DType.String()
	}
	cells := []string{name(x), kind, fmt.Sprint(x.Count), fmt.Sprint(x.Missing)}
	if x.Min == nil {
		cells = append(cells, "", "", "", "", "", "", "")
	} else {
		cells = append(cells, short(x.Min))
		for _, q := range x.Quantiles {
			cells = append(cells, short(q))
		}
		cells = append(cells, short(x.Max), short(x.Mean), short(x.Std))
	}
	return append(cells, notes(x))
}

// name returns the key of a summary, with the feature.
func name(x inspect.Summary) string {
	if x.Column == nil {
		return string(x.Key)
	}
	return fmt.Sprint(x.Key, x.Column)
}

// short returns a number in six digits, an integer whole.
func short(x any) string {
	if f, ok := x.(float64); ok {
		return fmt.Sprintf("%.6g", f)
	}
	return fmt.Sprint(x)
}

// notes returns what only some leaves have.
func notes(x inspect.Summary) string {
	var notes []string
	for _, n := range []struct {
		count int
		what  string
	}{{x.NaN, "NaN"}, {x.Inf, "infinite"}, {x.Zeros, "zero"}, {x.True, "true"}, {x.Distinct, "different"}} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprint(n.count, " ", n.what))
		}
	}
	if x.Rows != nil {
		notes = append(notes, fmt.Sprintf("lengths %d to %d, mean %.4g", x.Rows.Min, x.Rows.Max, x.Rows.Mean))
	}
	return strings.Join(notes, ", ")
}

// A summaryJSON is a summary as --json prints it. A number is null if there is none, or if it is not
// finite.
type summaryJSON struct {
	Key       nestedkey.Key    `json:"key"`
	Kind      string           `json:"kind"`
	DType     string           `json:"dtype,omitempty"`
	Column    []int            `json:"column,omitempty"`
	Count     int              `json:"count"`
	Missing   int              `json:"missing"`
	NaN       int              `json:"nan"`
	Inf       int              `json:"inf"`
	Zeros     int              `json:"zeros"`
	True      int              `json:"true"`
	Min       any              `json:"min"`
	Max       any              `json:"max"`
	Mean      any              `json:"mean"`
	Std       any              `json:"std"`
	Quantiles map[string]any   `json:"quantiles"`
	Lengths   *inspect.Lengths `json:"lengths,omitempty"`
	Distinct  int              `json:"distinct,omitempty"`
}

// writeStats writes a line of JSON for each summary.
func writeStats(s *session, all []inspect.Summary) error {
	e := json.NewEncoder(s.out)
	for _, x := range all {
		line := summaryJSON{
			Key: x.Key, Kind: x.Kind.String(), Column: x.Column, Count: x.Count, Missing: x.Missing,
			NaN: x.NaN, Inf: x.Inf, Zeros: x.Zeros, True: x.True, Min: finite(x.Min), Max: finite(x.Max),
			Mean: finite(x.Mean), Std: finite(x.Std), Quantiles: map[string]any{}, Lengths: x.Rows, Distinct: x.Distinct,
		}
		if x.DType != 0 {
			line.DType = x.DType.String()
		}
		for i, q := range x.Quantiles {
			line.Quantiles[fmt.Sprint(quantiles[i])] = finite(q)
		}
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// finite returns nil for a number that JSON lacks.
func finite(x any) any {
	if f, ok := x.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return x
}
