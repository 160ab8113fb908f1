package command

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

type sliceCmd struct {
	In    string `arg:"" help:"A dataset or a file."`
	Out   string `arg:"" help:"The output; its suffix says its form."`
	Index string `help:"Keep these rows: an index expression over the batch shape, such as '100:' or '[0, 7]'." placeholder:"EXPR"`
	formFlags
}

func (sliceCmd) Help() string {
	return `
A condition compares leaves with one column to numbers or text, by ==, !=, <, <=, > and >=. It combines comparisons by and, or, not and parentheses. missing(KEY) is true where a value is missing; a comparison with a missing value is neither true nor false, as in SQL.

Examples:

	tdict slice visits adults --where 'age >= 18 and sex == "f"'
	tdict slice visits measured --where 'not missing(chol)' --keys id,day,chol
	tdict slice digits first.npz --index ':100' --drop meta/index`
}

func (c *sliceCmd) Run(s *session) (err error) {
	var opt forms.SliceOptions
	if c.Index != "" {
		if opt.Index, err = ix.Parse(c.Index); err != nil {
			return s.usage("--index: %w", err)
		}
	}
	if c.Index != "" && c.Where != "" {
		return s.usage("got --index and --where, want one of them")
	}
	form, err := c.form(s, c.Out)
	if err != nil {
		return err
	}
	return c.write(s, []string{c.In}, c.Out, []forms.Form{form}, func(o forms.Options) error {
		opt.Options = o
		return forms.Slice(s.ctx, c.Out, c.In, opt)
	})
}

type splitCmd struct {
	In    string        `arg:"" help:"A dataset or a file."`
	Out   string        `arg:"" help:"The directory of the parts."`
	Sizes []float64     `required:"" xor:"sizes" help:"The share of the rows of each part; shares add up to 1." placeholder:"SHARE"`
	Count []int         `required:"" xor:"sizes" help:"The number of rows, or of groups with --by, of each part; numbers add up to all." placeholder:"N"`
	Names []string      `help:"The names of the parts; their suffixes say their forms. By default 0, 1 and so on." placeholder:"NAME"`
	By    nestedkey.Key `help:"Keep rows with equal values of KEY (integers, bools or text) in one part." placeholder:"KEY"`
	Class nestedkey.Key `name:"stratify" help:"Give each part its share of the rows with each value of KEY (integers, bools or text)." placeholder:"KEY"`
	Seed  uint64        `placeholder:"N" help:"Seed of the random order of the rows."`
	writeFlags
}

func (splitCmd) Help() string {
	return `
The same seed divides the same rows in the same way, on any machine. With --by, sizes and counts are numbers of groups, not of rows: if there are few groups, a part may be empty, which a note says. Rows without a value of KEY are one more group.

Examples:

	tdict split visits parts --sizes 0.8,0.2 --by id --names train,test
	tdict split digits parts --count 1500,297 --seed 7`
}

func (c *splitCmd) Run(s *session) error {
	as, err := c.parts(s)
	if err != nil {
		return err
	}
	err = c.write(s, []string{c.In}, c.Out, as, func(o forms.Options) error {
		return forms.Split(s.ctx, c.Out, c.In, forms.SplitOptions{
			Options: o, Fractions: c.Sizes, Counts: c.Count, Names: c.Names, By: c.By, Stratify: c.Class, Seed: c.Seed,
		})
	})
	if errors.Is(err, fs.ErrInvalid) {
		return s.usage("%w", err) // about the names
	}
	return err
}

// parts returns the forms of the parts, or a usageError for invalid sizes, counts or names.
func (c *splitCmd) parts(s *session) (as []forms.Form, err error) {
	for _, size := range c.Sizes {
		if !(size >= 0 && size <= 1) {
			return nil, s.usage("--sizes takes shares from 0 to 1, got %v; --count takes numbers of rows", size)
		}
	}
	if len(c.Sizes) > 0 {
		if _, err := sampler.Split(0, c.Sizes, 0); err != nil {
			return nil, s.usage("--sizes: %w", err)
		}
	}
	for _, n := range c.Count {
		if n < 0 {
			return nil, s.usage("--count takes 0 or more rows, got %d", n)
		}
	}
	if n := len(c.Sizes) + len(c.Count); c.Names == nil {
		return slices.Repeat([]forms.Form{forms.Directory}, n), nil
	} else if len(c.Names) != n {
		return nil, s.usage("--names: got %d names for %d parts", len(c.Names), n)
	}
	for _, name := range c.Names {
		form, err := forms.For(name)
		if err != nil {
			return nil, s.usage("--names: %w", err)
		}
		as = append(as, form)
	}
	return as, nil
}
