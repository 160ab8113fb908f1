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
	Mask     nestedkey.Key   `help:"Leave out values where this bool leaf is false; by default where the mask of the schema is." placeholder:"KEY"`
	ByColumn bool            `help:"Describe each feature of a tensor separately."`
	By       []nestedkey.Key `help:"Print count, missing values and mean for each group of rows with equal values of KEY (numbers, bools or text)." placeholder:"KEY"`
	JSON     bool            `name:"json" help:"Print JSON; docs/cli.md describes it."`
	readFlags
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
	in, err := s.openPart(c.Path, c.tableFlags, c.pickFlags)
	if err != nil {
		return err
	}
	defer in.Close()
	if c.By != nil {
		return c.groups(s, in)
	}
	var masked tdict.Schema
	if c.Mask == "" {
		masked = in.Input.Schema
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
	return printStats(s.out, all, in.Input.Schema)
}

// printStats prints a table with a line for each summary. says has the layouts of times.
func printStats(out io.Writer, all []inspect.Summary, says tdict.Schema) error {
	specs := make(map[nestedkey.Key]tdict.Spec, len(says))
	for _, spec := range says {
		specs[spec.Key] = spec
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
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
			for _, n := range []any{x.Min, x.Quantiles[0], x.Quantiles[1], x.Quantiles[2], x.Max, x.Mean} {
				fmt.Fprint(w, "\t", meant(n, x, specs[x.Key]))
			}
			fmt.Fprint(w, "\t", short(x.Std, x.DType.IsInteger()))
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

// meant returns a number of a summary: a time, rounded to the unit, by the layout of the spec.
func meant(n any, x inspect.Summary, spec tdict.Spec) string {
	if f, ok := n.(float64); ok && spec.Time != "" && math.Abs(f) < 1<<53 {
		n = int64(math.Round(f))
	}
	if spec.Time != "" {
		return spec.Spell(fmt.Sprint(n))
	}
	return short(n, x.DType.IsInteger())
}

// groups prints a line for each group and leaf.
func (c *statsCmd) groups(s *session, in *source) error {
	if c.Mask != "" || c.ByColumn {
		return s.usage("--by goes with neither --mask nor --by-column")
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	if !c.JSON {
		for _, key := range c.By {
			fmt.Fprint(w, errtext.Line(string(key)), "\t")
		}
		fmt.Fprintln(w, "rows\tkey\tcount\tmissing\tNaN\tmean")
	}
	lines := 0
	for group, err := range inspect.Groups(s.ctx, in.Dict, inspect.GroupsOptions{By: c.By, Keys: c.Keys, Schema: in.Input.Schema}) {
		if err != nil {
			return err
		}
		for _, x := range group.Leaves {
			if err := c.group(s.out, w, group, x); err != nil {
				return err
			}
		}
		if lines += len(group.Leaves); lines > 1000 { // the table may be larger than memory
			if err := w.Flush(); err != nil {
				return err
			}
			lines = 0
		}
	}
	return w.Flush()
}

// group prints a leaf of a group, as JSON to out with --json, otherwise as a line of table.
func (c *statsCmd) group(out, table io.Writer, group inspect.Group, x inspect.GroupLeaf) error {
	if c.JSON {
		return json.NewEncoder(out).Encode(map[string]any{
			"by": group.Values, "rows": group.Rows, "key": x.Key, "count": x.Count, "missing": x.Missing, "nan": x.NaN, "mean": finite(x.Mean),
		})
	}
	mean := ""
	if !math.IsNaN(x.Mean) {
		mean = short(x.Mean, x.DType.IsInteger())
	}
	_, err := fmt.Fprintln(table, strings.Join(group.Values, "\t")+"\t"+fmt.Sprint(group.Rows)+"\t"+errtext.Line(string(x.Key))+
		"\t"+fmt.Sprint(x.Count)+"\t"+fmt.Sprint(x.Missing)+"\t"+fmt.Sprint(x.NaN)+"\t"+mean)
	return err
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
