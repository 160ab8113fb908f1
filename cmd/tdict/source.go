package main

import (
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
)

// tableFlags say how tables are read and written.
type tableFlags struct {
	Schema string   `help:"A file with the schema of the csv or jsonl files, as 'tdict schema' prints it." placeholder:"FILE"`
	Comma  string   `help:"The character between the fields of csv." placeholder:"CHAR"`
	NA     []string `name:"na" help:"Spellings of missing values in csv." placeholder:"TEXT"`
}

func (c *rowsFlags) open(s *session) (*memmap.Dataset, error) { return memmap.Open(c.Path) }

func (c *schemaOf) schemaOf(s *session, path string) (tdict.Schema, error) {
	d, err := memmap.Open(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return tdict.SchemaOf(d.TensorDict), nil
}

type schemaCheck struct {
	Path   string `arg:""`
	Schema string `arg:""`
}

func (c *schemaCheck) Run(s *session) error { return nil }

func (c *rowsFlags) print(s *session, args ...any) error { return nil }
