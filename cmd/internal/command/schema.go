package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

type schemaCmd struct {
	Of    schemaOf    `cmd:"" name:"print" default:"withargs" help:"Print the schema of a dataset as JSON; infer one for a csv or jsonl file."`
	Check schemaCheck `cmd:"" help:"Check that a dataset has the entries of a schema."`
}

func (schemaCmd) Help() string {
	return `
The schema of a csv or jsonl file is inferred: each column is int64, float64, bool or text, the first of these that fits all values. Correct it, and pass it to convert by --schema. docs/schema.md describes the JSON. 'tdict schema print --help' lists the flags for tables.

Examples:

	tdict schema visits
	tdict schema visits.csv > visits.json
	tdict schema check visits visits.json`
}

type schemaOf struct {
	Path    string `arg:"" help:"A dataset or a file."`
	Table   bool   `xor:"as" help:"Print a table instead of JSON."`
	Explain bool   `xor:"as" help:"Print a line for each column of a csv or jsonl file: what its values are, and why it is text."`
	tableFlags
}

func (c *schemaOf) Run(s *session) error {
	opt, err := c.checked(s, []string{c.Path})
	if err != nil {
		return err
	}
	if c.Explain { // which says what notes say
		opt.Note = nil
	}
	in, err := forms.Open(c.Path, opt)
	if err != nil {
		return err
	}
	defer in.Close()
	if c.Explain {
		return c.explain(s, in)
	}
	if c.Table {
		_, err = fmt.Fprintln(s.out, in.Schema)
		return err
	}
	text, err := json.Marshal(in.Schema)
	if err != nil {
		return err
	}
	// The pattern cannot occur in a text, in which quotes are escaped.
	_, err = fmt.Fprintf(s.out, "%s\n", bytes.ReplaceAll(text, []byte(`{"key":`), []byte("\n  {\"key\":")))
	return err
}

// explain prints the inferred type of each column, with the reason.
func (c *schemaOf) explain(s *session, in *forms.Input) error {
	lines := in.Explain()
	if lines == nil {
		return s.usage("--explain is for csv and jsonl without --schema, got %v", in.Form)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(s.out, line); err != nil {
			return err
		}
	}
	return nil
}

type schemaCheck struct {
	Path string `arg:"" help:"A dataset or a file."`
	File string `arg:"" name:"schema" help:"A schema, as 'tdict schema' prints it."`
	tableFlags
}

func (c *schemaCheck) Run(s *session) error {
	if err := c.check(s, []string{c.Path}); err != nil {
		return err
	}
	want, err := readSchema(c.File)
	if err != nil {
		return err
	}
	in, err := s.open(c.Path, c.tableFlags)
	if err != nil {
		return err
	}
	defer in.Close()
	var masks []nestedkey.Key // the schema of a table does not list them
	for _, spec := range in.Input.Schema {
		if _, listed := want.Find(spec.Mask); spec.Mask != "" && !listed {
			masks = append(masks, spec.Mask)
		}
	}
	err = want.Check(in.Dict.Exclude(masks...))
	if !errors.Is(err, tdict.ErrSchema) {
		return err
	}
	fmt.Fprintln(s.out, err)
	return errNo
}

// readSchema reads a schema from a file.
func readSchema(path string) (schema tdict.Schema, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
			before := text[:wrong.Offset]
			path += fmt.Sprintf(": line %d, column %d", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')-1)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return schema, nil
}
