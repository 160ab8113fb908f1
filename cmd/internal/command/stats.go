package command

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

type statsCmd struct {
	Path     string          `arg:"" help:"A dataset or a file."`
	Keys     []nestedkey.Key `arg:"" optional:"" name:"key" help:"Describe these entries only."`
	Mask     nestedkey.Key   `help:"Leave out values where this bool leaf is false; by default KEY_mask beside KEY." placeholder:"KEY"`
	ByColumn bool            `help:"Describe each feature of a tensor separately."`
	JSON     bool            `name:"json" help:"Print JSON; docs/cli.md describes it."`
	tableFlags
}

func (statsCmd) Help() string {
	return `
Missing values and NaN are counted, and otherwise left out. docs/cli.md says how exact quantiles are.

Examples:

	tdict stats visits
	tdict stats visits chol bili --json
	tdict stats digits image --by-column`
}

func (c *statsCmd) Run(s *session) error {
	in, err := s.open(c.Path, c.tableFlags)
	if err != nil {
		return err
	}
	defer in.Close()
	var masked tdict.Schema
	if c.Mask == "" {
		masked = in.masked(s)
	}
	all, err := inspect.Describe(s.ctx, in.Dict, inspect.DescribeOptions{
		Schema: masked, Keys: c.Keys, Mask: c.Mask, ByColumn: c.ByColumn, Quantiles: []float64{0.25, 0.5, 0.75},
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return writeStats(s.out, all)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "key\tdtype\tcount\tmissing\tNaN\tzeros\tmin\t25%\t50%\t75%\tmax\tmean\tstd")
	for _, x := range all {
		key := errtext.Line(string(x.Key))
		if key == "" {
			key = `""`
		}
		fmt.Fprint(w, strings.TrimSuffix(fmt.Sprint(key, x.Column), "[]"), "\t", kindText(x), "\t", x.Count, "\t", x.Missing, "\t", x.NaN, "\t", x.Zeros)
		if x.Min == nil {
			fmt.Fprint(w, strings.Repeat("\t", 7))
		} else {
			for _, n := range []any{x.Min, x.Quantiles[0], x.Quantiles[1], x.Quantiles[2], x.Max, x.Mean, x.Std} {
				fmt.Fprint(w, "\t", short(n, x.DType.IsInteger()))
			}
		}
		if x.Rows != nil {
			fmt.Fprintf(w, "\tlengths %d to %d", x.Rows.Min, x.Rows.Max)
		}
		if x.Distinct >= 0 {
			fmt.Fprintf(w, ", %d different", x.Distinct)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// short returns a number with six digits, or a whole integer. Numbers of integers have all digits
// before the point.
func short(x any, integers bool) string {
	if f, ok := x.(float64); ok && integers && math.Abs(f) >= 1e6 && math.Abs(f) < 1e20 {
		return fmt.Sprintf("%.0f", f)
	} else if ok {
		return fmt.Sprintf("%.6g", f)
	}
	return fmt.Sprint(x)
}

// kindText returns the dtype of a leaf, or its kind if there is no dtype or the leaf is text.
func kindText(x inspect.Summary) string {
	if x.Kind == tdict.KindText || x.DType == 0 {
		return x.Kind.String()
	}
	return x.DType.String()
}

// writeStats writes a line of JSON for each summary. A number that is missing or not finite is
// null.
func writeStats(w io.Writer, all []inspect.Summary) error {
	for _, x := range all {
		line := map[string]any{
			"key": x.Key, "kind": x.Kind.String(), "dtype": kindText(x), "column": x.Column,
			"count": x.Count, "missing": x.Missing, "nan": x.NaN, "inf": x.Inf, "zeros": x.Zeros, "true": x.True,
			"min": finite(x.Min), "max": finite(x.Max), "mean": finite(x.Mean), "std": finite(x.Std),
		}
		if x.Quantiles != nil {
			line["quantiles"] = []any{finite(x.Quantiles[0]), finite(x.Quantiles[1]), finite(x.Quantiles[2])}
		}
		if x.Distinct >= 0 {
			line["distinct"] = x.Distinct
		}
		if x.Rows != nil {
			line["lengths"] = map[string]any{"count": x.Rows.Count, "min": x.Rows.Min, "max": x.Rows.Max, "mean": finite(x.Rows.Mean)}
		}
		if err := json.NewEncoder(w).Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// finite returns nil for a number that JSON cannot represent.
func finite(x any) any {
	if f, ok := x.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return x
}
