package forms_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
	"github.com/go-tensordict/tensordict/where"
)

// TestHidden: what a mask hides has no effect. A dataset with zeros and one with other values there
// give the same rows, tables and statistics.
func TestHidden(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 53))
			dir := testkit.TempDir(t)
			zeros, other := filepath.Join(dir, "zeros"), filepath.Join(dir, "other")
			csv := filepath.Join(dir, "in.csv")
			require.NoError(t, os.WriteFile(csv, []byte(missingTable(r, 1+r.IntN(40))), 0o666))
			opt := forms.OpenOptions{}
			opt.Hints.Categories = map[nestedkey.Key]bool{"c": true}
			require.NoError(t, forms.Convert(ctx, zeros, []string{csv}, forms.Options{Open: opt}))
			ds := tensor.Must(memmap.Open(zeros))
			t.Cleanup(func() { require.NoError(t, ds.Close()) })
			td := fillHidden(t, ds, r)
			require.NoError(t, memmap.SaveWith(ctx, other, td, memmap.SaveOptions{Schema: ds.Schema()}))
			for name, op := range hiddenOps {
				require.Equal(t, op(t, zeros), op(t, other), name)
			}
		})
	}
}

// missingTable returns a csv table of n rows with missing values of each kind.
func missingTable(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("i,f,t,d,c,b,row\n2,0.5,x,2024-01-01,p,true,0\nNA,NA,NA,NA,NA,NA,1\n")
	values := [][]string{{"-1", "0", "3"}, {"0.25", "-1.5", "0.0"}, {"a", "b c", "x"}, {"1970-01-01", "1969-12-31"}, {"p", "q", "s"}, {"true", "false"}}
	for row := range n {
		for _, texts := range values {
			text := "NA"
			if r.IntN(3) > 0 {
				text = texts[r.IntN(len(texts))]
			}
			b.WriteString(text + ",")
		}
		fmt.Fprintln(&b, row+2)
	}
	return b.String()
}

// fillHidden returns a copy of a dataset with other values where masks hide them.
func fillHidden(t *testing.T, ds *memmap.Dataset, r *rand.Rand) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(ds.Shape()...)
	for key, leaf := range ds.Leaves() {
		mask, err := ds.Schema().MaskOf(ds, key)
		require.NoError(t, err)
		if mask != nil {
			shown := tensor.Must(tensor.Slice[bool](mask.(*tensor.Tensor)))
			switch key {
			case "t":
				texts := tensor.Must(ragged.Strings(leaf.(*ragged.Tensor)))
				for i := range texts {
					if !shown[i] {
						texts[i] = []string{"a", "hidden", "zz"}[r.IntN(3)]
					}
				}
				leaf = tensor.Must(ragged.FromStrings(texts))
			case "f":
				leaf = otherHidden(leaf, shown, []float64{math.NaN(), 1e300, math.Inf(1), 0.25}, r)
			case "c":
				leaf = otherHidden(leaf, shown, []int32{-7, 2, 1 << 30, 1}, r)
			case "b":
				leaf = otherHidden(leaf, shown, []bool{true, false}, r)
			default:
				leaf = otherHidden(leaf, shown, []int64{math.MinInt64, 3, math.MaxInt64, -1}, r)
			}
		}
		require.NoError(t, td.Set(key, leaf))
	}
	return td
}

// otherHidden returns a copy of leaf with some of values where shown is false.
func otherHidden[T tensor.Elem](leaf tdict.Leaf, shown []bool, values []T, r *rand.Rand) tdict.Leaf {
	all := tensor.Must(tensor.Slice[T](tensor.Must(leaf.(*tensor.Tensor).Clone())))
	for i := range all {
		if !shown[i] {
			all[i] = values[r.IntN(len(values))]
		}
	}
	return tensor.Must(tensor.From(all, len(all)))
}

// hiddenOps are operations on a dataset whose result is a text.
var hiddenOps = map[string]func(t *testing.T, path string) string{
	"sort": func(t *testing.T, path string) string {
		return tableText(t, func(to string) error {
			return forms.Sort(ctx, to, path, forms.SortOptions{By: []nestedkey.Key{"c", "f", "t", "d", "b", "i"}})
		})
	},
	"sort descending": func(t *testing.T, path string) string {
		return tableText(t, func(to string) error {
			return forms.Sort(ctx, to, path, forms.SortOptions{By: []nestedkey.Key{"i", "b", "t", "d"}, Descending: true})
		})
	},
	"join": func(t *testing.T, path string) string {
		return tableText(t, func(to string) error {
			return forms.Join(ctx, to, path, path, forms.JoinOptions{On: []nestedkey.Key{"c", "t"}, Left: true})
		})
	},
	"join numbers": func(t *testing.T, path string) string {
		return tableText(t, func(to string) error {
			return forms.Join(ctx, to, path, path, forms.JoinOptions{On: []nestedkey.Key{"f", "d"}})
		})
	},
	"stratify":        func(t *testing.T, path string) string { return splitText(t, path, "c", "") },
	"by":              func(t *testing.T, path string) string { return splitText(t, path, "", "t") },
	"by and stratify": func(t *testing.T, path string) string { return splitText(t, path, "b", "i") },
	"where": func(t *testing.T, path string) string {
		return tableText(t, func(to string) error {
			opt := forms.SliceOptions{}
			opt.Select.Where = tensor.Must(where.Parse(`not (f < 0.5) or c == "q" or missing(b) or t != "a" and i >= 0`))
			return forms.Slice(ctx, to, path, opt)
		})
	},
	"json lines": func(t *testing.T, path string) string {
		return formText(t, "out.jsonl", func(to string) error { return forms.Convert(ctx, to, []string{path}, forms.Options{}) })
	},
	"groups": func(t *testing.T, path string) string {
		ds := opened(t, path)
		var text []string
		for _, by := range [][]nestedkey.Key{{"c"}, {"t", "b"}, {"f"}, {"d", "i"}} {
			for g, err := range inspect.Groups(ctx, ds.TensorDict, inspect.GroupsOptions{By: by, Schema: ds.Schema()}) {
				require.NoError(t, err)
				text = append(text, fmt.Sprintf("%+v", g))
			}
		}
		return strings.Join(text, "\n")
	},
	"describe": func(t *testing.T, path string) string {
		all, err := inspect.Describe(ctx, opened(t, path), inspect.DescribeOptions{Quantiles: []float64{0, 0.3, 1}})
		require.NoError(t, err)
		var text strings.Builder
		for _, s := range all {
			rows := s.Rows
			s.Rows = nil
			fmt.Fprintf(&text, "%+v %+v\n", s, rows)
		}
		return text.String()
	},
	"profiles": func(t *testing.T, path string) string {
		all, err := inspect.Profiles(ctx, opened(t, path), inspect.ProfileOptions{})
		require.NoError(t, err)
		var text strings.Builder
		for _, p := range all {
			rows, values, lengths := p.Rows, p.Values, p.Lengths
			p.Rows, p.Values, p.Lengths = nil, nil, nil
			fmt.Fprintf(&text, "%+v %+v %+v %+v\n", p, rows, values, lengths)
		}
		return text.String()
	},
	"aggregate": func(t *testing.T, path string) string {
		ds := opened(t, path)
		var text string
		for _, by := range [][]nestedkey.Key{{"c"}, {"b"}, {"d", "i"}} {
			for _, reduce := range []func(*tdict.TensorDict, arith.Over) (*tdict.TensorDict, error){arith.Mean[*tdict.TensorDict], arith.Sum[*tdict.TensorDict]} {
				got, err := ds.Schema().Aggregate(ds, reduce, by, "f", "row")
				require.NoError(t, err)
				text += ds.Schema().Head(got, 100)
			}
		}
		return text
	},
	"standard": func(t *testing.T, path string) string {
		s, err := transform.FitStandard(opened(t, path), nil)
		require.NoError(t, err)
		return fmt.Sprint(s.Mean(), s.Mean().Head(1), s.Std().Head(1))
	},
	"row differences": func(t *testing.T, path string) string {
		ds, base := opened(t, path), opened(t, filepath.Join(filepath.Dir(path), "zeros"))
		opt := inspect.RowDifferencesOptions{By: []nestedkey.Key{"c", "row"}, SchemaA: base.Schema(), SchemaB: ds.Schema()}
		var text []string
		for d, err := range inspect.RowDifferences(ctx, base.TensorDict, ds.TensorDict, opt) {
			require.NoError(t, err)
			text = append(text, fmt.Sprintf("%+v", d))
		}
		return strings.Join(text, "\n")
	},
}

// opened opens a dataset for the time of a test.
func opened(t *testing.T, path string) *memmap.Dataset {
	t.Helper()
	ds, err := memmap.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ds.Close()) })
	return ds
}

// tableText returns the table that write makes.
func tableText(t *testing.T, write func(to string) error) string {
	t.Helper()
	return formText(t, "out.csv", write)
}

// formText returns the file with this name that write makes.
func formText(t *testing.T, name string, write func(to string) error) string {
	t.Helper()
	to := filepath.Join(testkit.TempDir(t), name)
	require.NoError(t, write(to))
	return string(tensor.Must(os.ReadFile(to)))
}

// splitText returns the parts of a split as tables.
func splitText(t *testing.T, path string, stratify, by nestedkey.Key) string {
	t.Helper()
	to := filepath.Join(testkit.TempDir(t), "parts")
	require.NoError(t, forms.Split(ctx, to, path, forms.SplitOptions{
		Fractions: []float64{0.5, 0.5}, Names: []string{"a.csv", "b.csv"}, Stratify: stratify, By: by}))
	a, b := tensor.Must(os.ReadFile(filepath.Join(to, "a.csv"))), tensor.Must(os.ReadFile(filepath.Join(to, "b.csv")))
	return string(a) + "--\n" + string(b)
}
