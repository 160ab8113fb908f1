package main

import (
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

type headCmd struct {
	rowsFlags
	N int `short:"n" default:"10" help:"Print N rows."`
}

func (headCmd) Help() string {
	return `
Of one leaf, --index may go on with the dims after the batch shape, as in '5:9, :, 3'. The forms csv, jsonl and npy are for other programs; npy needs a KEY.

	tdict head visits
	tdict head visits chol -n 3
	tdict head digits image --index '5, 2:4'
	tdict head visits -n 1000 --as csv > first.csv`
}

func (c *headCmd) Run(s *session) error {
	if c.N < 0 {
		return s.usage("-n %d is negative", c.N)
	}
	d, err := c.open(s)
	if err != nil {
		return err
	}
	defer d.Close()
	return c.print(s, d, ix.Range(0, c.N))
}

// rowsFlags say what to print of a dataset.
type rowsFlags struct {
	Path  string        `arg:"" help:"A dataset or a file."`
	Key   nestedkey.Key `arg:"" optional:"" help:"A leaf, or a dictionary in the dataset."`
	Index string        `help:"Print these rows: an index expression, such as '5:9' or '[0, 7]'."`
	As    string        `enum:"text,csv,jsonl,npy" default:"text" help:"The form: text, csv, jsonl or npy."`
	tableFlags
}
