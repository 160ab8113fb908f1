package command

import (
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
)

type sortCmd struct {
	In   string          `arg:"" help:"A dataset or a file."`
	Out  string          `arg:"" help:"The output; its suffix says its form."`
	By   []nestedkey.Key `required:"" help:"Sort by the values of KEY (numbers, bools or text), and for equal values by the next KEY." placeholder:"KEY"`
	Desc bool            `help:"Begin with the largest value."`
	formFlags
}

func (sortCmd) Help() string {
	return `
Rows with equal values keep their order. NaN is after all numbers, and a missing value after all others, also with --desc.

Examples:

	tdict sort visits by-day --by id,day
	tdict sort visits.csv oldest.csv --by age --desc`
}

func (c *sortCmd) Run(s *session) error {
	form, err := c.form(s, c.Out)
	if err != nil {
		return err
	}
	return c.write(s, []string{c.In}, c.Out, []forms.Form{form}, func(o forms.Options) error {
		return forms.Sort(s.ctx, c.Out, c.In, forms.SortOptions{Options: o, By: c.By, Descending: c.Desc})
	})
}

type sampleCmd struct {
	In   string `arg:"" help:"A dataset or a file."`
	Out  string `arg:"" help:"The output; its suffix says its form."`
	N    int    `short:"n" required:"" help:"Number of rows." placeholder:"N"`
	Seed uint64 `help:"Seed of the choice." placeholder:"N"`
	formFlags
}

func (sampleCmd) Help() string {
	return `
Each row is chosen at most once, and the rows keep their order. With --where the rows are chosen among the rows for which the condition is true. The same seed chooses the same rows, on any machine.

Examples:

	tdict sample visits hundred.csv -n 100 --seed 1`
}

func (c *sampleCmd) Run(s *session) error {
	if c.N < 0 {
		return s.usage("-n takes 0 or more rows, got %d", c.N)
	}
	form, err := c.form(s, c.Out)
	if err != nil {
		return err
	}
	return c.write(s, []string{c.In}, c.Out, []forms.Form{form}, func(o forms.Options) error {
		return forms.Sample(s.ctx, c.Out, c.In, forms.SampleOptions{Options: o, N: c.N, Seed: c.Seed})
	})
}

type joinCmd struct {
	Left  string          `arg:"" help:"A dataset or a file."`
	Right string          `arg:"" help:"A dataset or a file."`
	Out   string          `arg:"" help:"The output; its suffix says its form."`
	On    []nestedkey.Key `required:"" help:"Rows match if they have equal values of KEY (numbers, bools or text), which both have." placeholder:"KEY"`
	All   bool            `name:"keep-left" help:"Keep the rows of LEFT that match no row; the entries of RIGHT are missing in them."`
	formFlags
}

func (joinCmd) Help() string {
	return `
The output has a row for each pair of rows that match, in the order of LEFT, with the entries of both. An entry of RIGHT whose key LEFT has too becomes KEY_right. A missing value matches nothing.

Examples:

	tdict join visits patients.csv both --on id
	tdict join visits lab both --on id,day --keep-left`
}

func (c *joinCmd) Run(s *session) error {
	form, err := c.form(s, c.Out)
	if err != nil {
		return err
	}
	return c.write(s, []string{c.Left, c.Right}, c.Out, []forms.Form{form}, func(o forms.Options) error {
		return forms.Join(s.ctx, c.Out, c.Left, c.Right, forms.JoinOptions{Options: o, On: c.On, Left: c.All})
	})
}
