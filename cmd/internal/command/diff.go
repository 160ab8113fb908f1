package command

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

type diffCmd struct {
	A         string          `arg:"" help:"A dataset or a file."`
	B         string          `arg:"" help:"A dataset or a file."`
	RTol      float64         `name:"rtol" help:"Numbers are equal if they differ by at most ATOL + RTOL times the number in B."`
	ATol      float64         `name:"atol" help:"Numbers are equal if they differ by at most ATOL + RTOL times the number in B."`
	Max       int             `default:"3" help:"List the first MAX elements of each entry that differ, and with --by the first MAX rows of each kind; 0 lists none."`
	TrustSums bool            `help:"Do not read leaves whose stored checksums are equal."`
	By        []nestedkey.Key `help:"Match rows by the values of KEY (numbers, bools or text), not by their places." placeholder:"KEY"`
	readFlags
}

func (diffCmd) Help() string {
	return `
Diff reads both datasets. The exit code is 1 if they differ. NaN equals NaN. Codes of other categories, and other units, differ too. The flags for tables apply to both.

With --trust-sums, elements that were changed after they were saved, as Python does in place, may go unnoticed until seal has computed their checksums again.

Examples:

	tdict diff visits visits.tdz
	tdict diff old new --rtol 1e-5 --keys weights --max 10`
}

func (c *diffCmd) Run(s *session) error {
	if c.Max < 0 || !(c.RTol >= 0) || !(c.ATol >= 0) {
		return s.usage("--max, --rtol and --atol take 0 or more, got %d, %v and %v", c.Max, c.RTol, c.ATol)
	}
	opt, err := c.checked(s, []string{c.A, c.B})
	if err != nil {
		return err
	}
	sel, err := c.selection(s)
	if err != nil {
		return err
	}
	a, b, err := s.openTwo(c.A, c.B, opt, sel)
	if err != nil {
		return err
	}
	defer a.Close()
	defer b.Close()
	compare := inspect.DifferencesOptions{
		Tolerance: tensor.Tolerance{Relative: c.RTol, Absolute: c.ATol, EqualNaN: true}, Most: cmp.Or(c.Max, -1), TrustSums: c.TrustSums,
	}
	if c.By != nil {
		return c.rows(s, a, b, compare)
	}
	answer := s.meanings(a, b)
	if _, err = printAll(s, inspect.Differences(s.ctx, a.Dict, b.Dict, compare)); err != nil {
		return err
	}
	return answer
}

// meanings prints the entries whose units or categories differ between the schemas of two datasets.
// It returns errNo if there are some.
func (s *session) meanings(a, b *source) (answer error) {
	if a.Dataset == nil || b.Dataset == nil {
		return nil
	}
	others := map[nestedkey.Key]tdict.Spec{}
	for _, spec := range b.Dataset.Schema() {
		others[spec.Key] = spec
	}
	for _, x := range a.Dataset.Schema() {
		y := others[x.Key]
		units := x.Unit != y.Unit && x.Unit != "" && y.Unit != ""
		codes := !slices.Equal(x.Categories, y.Categories) && x.Categories != nil && y.Categories != nil
		if (units || codes) && a.Dict.Has(x.Key) && b.Dict.Has(x.Key) {
			answer = errNo
			fmt.Fprintf(s.out, "%q: %s, other %s\n", string(x.Key), x.Meaning(), y.Meaning())
		}
	}
	return answer
}

// openTwo opens the same part of two datasets. An entry that only one of them has is no error.
func (s *session) openTwo(pathA, pathB string, opt forms.OpenOptions, sel forms.Selection) (a, b *source, err error) {
	keys := sel.Keys
	sel.Keys = nil
	if a, err = s.openWith(pathA, opt, sel); err != nil {
		return nil, nil, err
	}
	if b, err = s.openWith(pathB, opt, sel); err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	if keys == nil {
		return a, b, nil
	}
	for _, in := range []*source{a, b} {
		var own []nestedkey.Key
		for _, key := range keys {
			if found, missing := forms.Select(in.Dict, key); missing == nil {
				own = append(own, found...)
			} else if _, both := forms.Select(b.Dict, key); both != nil && in == a {
				err = missing
			}
		}
		if err == nil {
			err = in.Narrow(append([]nestedkey.Key{}, own...), nil)
		}
		if err != nil {
			return nil, nil, errors.Join(err, a.Close(), b.Close())
		}
	}
	return a, b, nil
}

// printAll prints differences, a line for each. It returns their number, and errNo if there are
// some.
func printAll[D any](s *session, all iter.Seq2[D, error]) (n int, answer error) {
	for d, err := range all {
		if err != nil {
			return n, err
		}
		n, answer = n+1, errNo
		if _, err := fmt.Fprintln(s.out, d); err != nil {
			break // the pipe is closed: report the answer
		}
	}
	return n, answer
}

// rows prints the differences between rows, which are matched by the values of columns.
func (c *diffCmd) rows(s *session, a, b *source, compare inspect.DifferencesOptions) error {
	var empty [2]*tdict.TensorDict
	for i, in := range []*source{a, b} {
		if len(in.Dict.Shape()) == 0 {
			return fmt.Errorf("%s: --by needs rows, got batch shape []", in.Path)
		}
		var err error
		if empty[i], err = in.Dict.Narrow(0, 0, 0); err != nil {
			return err
		}
	}
	answer := s.meanings(a, b)
	if _, err := printAll(s, inspect.Differences(s.ctx, empty[0], empty[1], compare)); errors.Is(err, errNo) {
		answer = err
	} else if err != nil {
		return err
	}
	opt := inspect.RowDifferencesOptions{DifferencesOptions: compare, By: c.By, SchemaA: a.Input.Schema, SchemaB: b.Input.Schema}
	var counts rowCounts
	for d, err := range inspect.RowDifferences(s.ctx, a.Dict, b.Dict, opt) {
		if err != nil {
			return err
		}
		answer = errNo
		if *counts.of(d)++; *counts.of(d) > c.Max {
			continue
		}
		if _, err := fmt.Fprintln(s.out, d); err != nil {
			return answer // the pipe is closed: report the answer
		}
	}
	if answer != nil {
		fmt.Fprintln(s.out, counts)
	}
	return answer
}

// rowCounts are the numbers of rows that differ.
type rowCounts struct{ added, removed, changed int }

// of returns the number of rows like d.
func (n *rowCounts) of(d inspect.RowDifference) *int {
	switch {
	case d.A < 0:
		return &n.added
	case d.B < 0:
		return &n.removed
	}
	return &n.changed
}

func (n rowCounts) String() string {
	return fmt.Sprintf("rows added: %d, removed: %d, changed: %d", n.added, n.removed, n.changed)
}
