package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

type showCmd struct {
	Path  string        `arg:"" help:"A dataset or a file."`
	Key   nestedkey.Key `arg:"" optional:"" help:"Print this entry only."`
	Depth int           `help:"Print N levels of dictionaries; 0 prints all." placeholder:"N"`
	Sort  bool          `help:"Print the entries of a dictionary in the order of their names."`
	All   bool          `help:"Print all entries; without it at most 40 lines."`
	JSON  bool          `name:"json" help:"Print JSON, which docs/cli.md describes."`
	tableFlags
}

func (showCmd) Help() string {
	return `
	tdict show visits
	tdict show model.safetensors layers/0 --all
	tdict show visits.tdz --json`
}

func (c *showCmd) Run(s *session) error {
	in, err := s.open(c.Path, c.tableFlags)
	if err != nil {
		return err
	}
	defer in.Close()
	facts, err := factsOf(in)
	if err != nil {
		return err
	}
	td := in.Dict
	if c.Key != "" {
		if td, err = td.Select(c.Key); err != nil {
			return err
		}
	}
	if c.JSON {
		if err := facts.list(td); err != nil {
			return err
		}
		return json.NewEncoder(s.out).Encode(facts)
	}
	fmt.Fprintln(s.out, facts)
	opt := inspect.PrintOptions{Depth: c.Depth, Sort: c.Sort}
	if c.All {
		opt.Rows = -1
	}
	return inspect.Print(s.out, td, opt)
}

// facts are what show prints of a dataset besides its entries, and with --json also these.
type facts struct {
	Path      string   `json:"path"`
	Form      string   `json:"form"`
	Batch     []int    `json:"batch"`
	Names     []string `json:"names,omitempty"` // of the batch dims
	Leaves    int      `json:"leaves"`
	Bytes     int64    `json:"bytes"`
	Summed    int      `json:"summed"`            // leaves with checksums
	Growing   bool     `json:"growing,omitempty"` // a Writer has not finished it
	Leftovers []string `json:"leftovers,omitempty"`
	Entries   []entry  `json:"entries"`
}

// An entry is an entry as --json prints it. A size that differs between rows is null.
type entry struct {
	Key   nestedkey.Key `json:"key"`
	Kind  string        `json:"kind"`
	DType string        `json:"dtype,omitempty"`
	Shape []*int        `json:"shape"`
	Bytes int64         `json:"bytes"`
}

// factsOf returns the facts of a dataset, without entries.
func factsOf(in *source) (*facts, error) {
	f := &facts{Path: in.Path, Form: in.Form.String(), Batch: in.Dict.Shape(), Names: in.Dict.Names()}
	if strings.Join(f.Names, "") == "" {
		f.Names = nil
	}
	if in.Form != forms.Directory && in.Form != forms.Archive {
		return f, nil
	}
	report, err := inspect.Dataset(in.Path)
	if err != nil {
		return nil, err
	}
	f.Summed, f.Growing, f.Leftovers = report.Summed, report.Growing, report.Leftovers
	return f, nil
}

// list adds the entries.
func (f *facts) list(td *tdict.TensorDict) error {
	for _, spec := range tdict.SchemaOf(td) {
		e, err := entryOf(td, spec)
		if err != nil {
			return err
		}
		f.Entries = append(f.Entries, e)
		f.Bytes += e.Bytes
		if spec.Kind != tdict.KindDict {
			f.Leaves++
		}
	}
	return nil
}

// entryOf returns the entry of td that a spec says.
func entryOf(td *tdict.TensorDict, spec tdict.Spec) (entry, error) {
	e := entry{Key: spec.Key, Kind: spec.Kind.String(), DType: dtypeText(spec.DType), Shape: []*int{}}
	sizes := slices.Concat(spec.Batch, slices.Repeat([]int{tdict.Any}, spec.Depth), spec.Shape)
	if spec.Kind != tdict.KindUnbatched {
		sizes = slices.Concat(td.Shape(), sizes)
	}
	for _, n := range sizes {
		if n == tdict.Any {
			e.Shape = append(e.Shape, nil)
		} else {
			e.Shape = append(e.Shape, &n)
		}
	}
	v, err := td.Get(spec.Key)
	if v, ok := v.(interface{ ByteSize() int }); ok && spec.Kind != tdict.KindDict {
		e.Bytes = int64(v.ByteSize())
	}
	return e, err
}

// String returns a line for people.
func (f *facts) String() string {
	text := f.Path + ": " + f.Form
	if f.Summed > 0 {
		text += fmt.Sprint(", ", count(f.Summed, "leaf has", "leaves have"), " checksums")
	}
	if f.Growing {
		text += ", a Writer has not finished it"
	}
	if n := len(f.Leftovers); n > 0 {
		text += ", beside it " + count(n, "leftover", "leftovers") + " of a killed save"
	}
	return text
}
