package main

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/nestedkey"
)

type diffCmd struct {
	A         string          `arg:"" help:"A dataset or a file."`
	B         string          `arg:"" help:"Another one."`
	Keys      []nestedkey.Key `help:"Compare these entries only." placeholder:"KEY"`
	RTol      float64         `name:"rtol" help:"Numbers are equal within ATOL + RTOL times the one in B."`
	ATol      float64         `name:"atol" help:"Numbers are equal within ATOL + RTOL times the one in B."`
	Max       int             `default:"3" help:"List the first MAX elements of each entry that differ."`
	TrustSums bool            `help:"Do not read leaves whose stored checksums agree."`
}

func (diffCmd) Help() string {
	return `
Diff reads both sides. The exit code is 1 if they differ. NaN equals NaN.

	tdict diff visits visits.tdz
	tdict diff old new --rtol 1e-5 --keys weights --max 10`
}

func (c *diffCmd) Run(s *session) error {
	a, err := s.open(c.A, tableFlags{})
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := s.open(c.B, tableFlags{})
	if err != nil {
		return err
	}
	defer b.Close()
	var answer error
	for d, err := range inspect.Differences(s.ctx, a.Dict, b.Dict, inspect.DifferencesOptions{
		Keys: c.Keys, RTol: c.RTol, ATol: c.ATol, Most: cmp.Or(c.Max, -1), TrustSums: c.TrustSums,
	}) {
		if err != nil {
			return err
		}
		answer = errNo
		if _, err := fmt.Fprintln(s.out, d); err != nil {
			break // a closed pipe; the answer stands
		}
	}
	return answer
}
