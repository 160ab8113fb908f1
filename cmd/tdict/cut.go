package main

import (
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

type sliceCmd struct {
	In    string          `arg:"" help:"A dataset or a file."`
	Out   string          `arg:"" help:"The output; its suffix says its form."`
	Index string          `xor:"rows" help:"Keep these rows: an index expression over the batch shape, such as '100:' or '[0, 7]'." placeholder:"EXPR"`
	Where string          `xor:"rows" help:"Keep the rows for which this holds." placeholder:"CONDITION"`
	Keys  []nestedkey.Key `help:"Keep these entries only." placeholder:"KEY"`
	Drop  []nestedkey.Key `help:"Leave out these entries." placeholder:"KEY"`
	writeFlags
}

func (sliceCmd) Help() string {
	return `
A condition compares leaves of one column with numbers or text by ==, !=, <, <=, > and >=, and joins comparisons by and, or, not and parentheses. missing(KEY) holds where a value is missing; a comparison of a missing value does not.

	tdict slice visits adults --where 'age >= 18 and sex == "f"'
	tdict slice visits measured --where 'not missing(chol)' --keys id,day,chol
	tdict slice digits first.npz --index ':100' --drop meta/index`
}

func (c *sliceCmd) Run(s *session) (err error) {
	opt := forms.SliceOptions{Keys: c.Keys, Drop: c.Drop}
	if c.Index != "" {
		if opt.Index, err = ix.Parse(c.Index); err != nil {
			return s.usage("--index: %w", err)
		}
	}
	if c.Where != "" {
		condition, err := where.Parse(c.Where)
		if err != nil {
			return s.usage("--where: %w", err)
		}
		opt.Keep = func(chunk *tdict.TensorDict) (*tensor.Tensor, error) {
			filter, err := condition.Bind(chunk)
			if err != nil {
				return nil, err
			}
			return filter.Mask(chunk)
		}
	}
	return c.write(s, c.Out, func(o forms.Options) error {
		opt.Options = o
		return forms.Slice(s.ctx, c.Out, c.In, opt)
	})
}

type splitCmd struct {
	In    string        `arg:"" help:"A dataset or a file."`
	Out   string        `arg:"" help:"The directory of the parts."`
	Sizes []float64     `required:"" xor:"sizes" help:"The parts' shares of the rows, which add up to 1." placeholder:"SHARE"`
	Count []int         `required:"" xor:"sizes" help:"The parts' numbers of rows." placeholder:"N"`
	Names []string      `help:"The names of the parts; their suffixes say their forms. Without it 0, 1 and so on." placeholder:"NAME"`
	By    nestedkey.Key `help:"Keep rows with equal values of KEY together; --count counts groups." placeholder:"KEY"`
	Seed  uint64        `placeholder:"N" help:"Another number gives another order of the rows."`
	writeFlags
}

func (splitCmd) Help() string {
	return `
The same seed divides the same rows in the same way, on any machine.

	tdict split visits parts --sizes 0.8,0.2 --by id --names train,test
	tdict split digits parts --count 1500,297 --seed 7`
}

func (c *splitCmd) Run(s *session) error {
	return c.write(s, c.Out, func(o forms.Options) error {
		return forms.Split(s.ctx, c.Out, c.In, forms.SplitOptions{
			Options: o, Fractions: c.Sizes, Counts: c.Count, Names: c.Names, By: c.By, Seed: c.Seed,
		})
	})
}
