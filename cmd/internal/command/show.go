package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

type showCmd struct {
	Path  string        `arg:"" help:"A dataset or a file."`
	Key   nestedkey.Key `arg:"" optional:"" help:"Print this entry only."`
	Depth int           `help:"Print N levels of dictionaries; 0 means all." placeholder:"N"`
	Sort  bool          `help:"Sort the entries of each dictionary by name."`
	All   bool          `help:"Print all entries, not only 40 lines."`
	JSON  bool          `name:"json" help:"Print JSON; docs/cli.md describes it."`
	readFlags
}

func (showCmd) Help() string {
	return `
Examples:

	tdict show visits
	tdict show model.safetensors layers/0 --all
	tdict show visits.tdz --json`
}

func (c *showCmd) Run(s *session) error {
	in, err := s.openPart(c.Path, c.tableFlags, c.pickFlags)
	if err != nil {
		return err
	}
	defer in.Close()
	f := facts{Path: in.Path, Form: in.Form.String(), Batch: in.Dict.Shape(), Names: in.Dict.Names(), Bytes: in.Dict.ByteSize(), Metadata: in.Metadata}
	if in.Dataset != nil {
		report, err := inspect.Opened(in.Path, in.Dataset)
		if err != nil {
			return err
		}
		f.Says = in.Dataset.Schema()
		f.Saved, f.Summed, f.Growing, f.Leftovers = in.Dataset.Schema() != nil, report.Summed, report.Growing, report.Leftovers
	}
	td := in.Dict
	if c.Key != "" {
		if td, err = td.Select(c.Key); err != nil {
			return err
		}
	}
	if c.JSON {
		f.Schema = tdict.SchemaOf(td)
		return json.NewEncoder(s.out).Encode(f)
	}
	fmt.Fprintln(s.out, f)
	opt := inspect.PrintOptions{Depth: c.Depth, Sort: c.Sort, Schema: in.Input.Schema}
	if c.All {
		opt.Rows = -1
	}
	return inspect.Print(s.out, td, opt)
}

// facts are what show prints about a whole dataset.
type facts struct {
	Path      string       `json:"path"`
	Form      string       `json:"form"`
	Batch     []int        `json:"batch"`
	Names     []string     `json:"names"` // names of the batch dims
	Bytes     int          `json:"bytes"` // bytes of elements
	Summed    int          `json:"summed"`
	Growing   bool         `json:"growing"`
	Saved     bool         `json:"saved_schema"`
	Metadata  metadata     `json:"metadata"`
	Leftovers []string     `json:"leftovers"`
	Schema    tdict.Schema `json:"schema"`
	Says      tdict.Schema `json:"says"` // the saved schema
}

// String returns one line of text.
func (f facts) String() string {
	text := f.Path + ": " + f.Form
	if f.Summed > 0 {
		text += fmt.Sprint(", leaves with checksums: ", f.Summed)
	}
	if f.Saved {
		text += ", with a saved schema"
	}
	if f.Growing {
		text += ", not finished by a Writer"
	}
	if n := len(f.Leftovers); n > 0 {
		text += fmt.Sprint(", leftovers of killed saves beside it: ", n)
	}
	if len(f.Metadata) > 0 {
		text += ", metadata: " + f.Metadata.String()
	}
	return text
}

// metadata is the metadata of a safetensors file.
type metadata map[string]string

// String returns the first eight strings, truncated if they are long.
func (m metadata) String() string {
	const most = 8
	var list []string
	names := slices.Sorted(maps.Keys(m))
	for _, name := range names[:min(most, len(names))] {
		list = append(list, errtext.Quote(name)+": "+errtext.Quote(m[name]))
	}
	if more := len(names) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}
