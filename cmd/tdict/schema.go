package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/go-tensordict/tensordict/tdict"
)

type schemaCmd struct {
	Of    schemaOf    `cmd:"" name:"of" default:"withargs" help:"Print the schema of a dataset as JSON; propose one for a csv or jsonl file."`
	Check schemaCheck `cmd:"" help:"Check that a dataset has the entries of a schema."`
}

func (schemaCmd) Help() string {
	return `
A schema of a csv or jsonl file is a proposal: the narrowest dtypes that all rows fit. Correct it, and hand it to convert. docs/schema.md describes the JSON.

	tdict schema visits
	tdict schema visits.csv > visits.json
	tdict schema check visits visits.json`
}

type schemaOf struct {
	Path  string `arg:"" help:"A dataset or a file."`
	Table bool   `help:"Print a table for people."`
	Rows  int    `short:"n" help:"Look at the first N rows of a csv or jsonl file only."`
	tableFlags
}

func (c *schemaOf) Run(s *session) error {
	schema, err := c.schemaOf(s, c.Path)
	if err != nil {
		return err
	}
	if c.Table {
		_, err = fmt.Fprintln(s.out, schema)
		return err
	}
	return writeSchema(s.out, schema)
}

// writeSchema writes a schema as JSON, with a line for each entry.
func writeSchema(w io.Writer, schema tdict.Schema) error {
	fmt.Fprint(w, `{"version":1,"entries":[`)
	for i, spec := range schema {
		text, err := json.Marshal(tdict.Schema{spec})
		if err != nil {
			return err
		}
		text = bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(`{"version":1,"entries":[`)), []byte("]}"))
		fmt.Fprintf(w, "%s\n  %s", []string{"", ","}[min(i, 1)], text)
	}
	_, err := fmt.Fprintln(w, "]}")
	return err
}

// readSchema reads a file that schema printed.
func readSchema(path string) (schema tdict.Schema, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return schema, nil
}
