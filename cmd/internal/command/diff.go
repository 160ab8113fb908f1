package command

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

type diffCmd struct {
	A         string          `arg:"" help:"A dataset or a file."`
	B         string          `arg:"" help:"A dataset or a file."`
	Keys      []nestedkey.Key `help:"Compare these entries only." placeholder:"KEY"`
	RTol      float64         `name:"rtol" help:"Numbers are equal if they differ by at most ATOL + RTOL times the number in B."`
	ATol      float64         `name:"atol" help:"Numbers are equal if they differ by at most ATOL + RTOL times the number in B."`
	Max       int             `default:"3" help:"List the first MAX elements of each entry that differ; 0 lists none."`
	TrustSums bool            `help:"Do not read leaves whose stored checksums are equal."`
	tableFlags
}

func (diffCmd) Help() string {
	return `
Diff reads both datasets. The exit code is 1 if they differ. NaN equals NaN. The flags for tables apply to both.

With --trust-sums, elements that were changed after they were saved, as Python does in place, may go unnoticed until seal has computed their checksums again.

Examples:

	tdict diff visits visits.tdz
	tdict diff old new --rtol 1e-5 --keys weights --max 10`
}

func (c *diffCmd) Run(s *session) error {
	if c.Max < 0 || !(c.RTol >= 0) || !(c.ATol >= 0) {
		return s.usage("--max, --rtol and --atol take 0 or more, got %d, %v and %v", c.Max, c.RTol, c.ATol)
	}
	opt, err := c.options(s)
	if err == nil {
		err = c.check([]string{c.A, c.B})
	}
	if err != nil {
		return err
	}
	a, err := s.openWith(c.A, opt)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := s.openWith(c.B, opt)
	if err != nil {
		return err
	}
	defer b.Close()
	var answer error
	for d, err := range inspect.Differences(s.ctx, a.Dict, b.Dict, inspect.DifferencesOptions{
		Keys: c.Keys, Tolerance: tensor.Tolerance{Relative: c.RTol, Absolute: c.ATol, EqualNaN: true}, Most: cmp.Or(c.Max, -1), TrustSums: c.TrustSums,
	}) {
		if err != nil {
			return err
		}
		answer = errNo
		if _, err := fmt.Fprintln(s.out, d); err != nil {
			break // the pipe is closed: report the answer
		}
	}
	return answer
}
