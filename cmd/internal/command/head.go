package command

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rowsFlags say which rows and entries to print, and how.
type rowsFlags struct {
	Path string        `arg:"" help:"A dataset or a file."`
	Key  nestedkey.Key `arg:"" optional:"" help:"Print this entry only."`
	As   string        `enum:"text,csv,jsonl,npy" default:"text" help:"The form: text, csv, jsonl or npy."`
	readFlags
	noHeader bool // the header was printed before
}

type headCmd struct {
	N int `short:"n" default:"10" help:"Number of rows; -2 means all but the last two."`
	rowsFlags
	Index string `help:"Print these rows instead: an index expression, such as '5:9' or '[0, 7]'." placeholder:"EXPR"`
}

func (headCmd) Help() string {
	return `
The index of one tensor may have the dims after the batch shape, too, as in '5:9, :, 3'. npy needs the key of a tensor. The table shows the first eight leaves: --as jsonl prints all leaves, and KEY a certain one.

Examples:

	tdict head visits
	tdict head visits chol -n 3
	tdict head digits image --index '5, 2:4'
	tdict head visits -n 1000 --as csv > first.csv`
}

func (c *headCmd) Run(s *session) error {
	part := []ix.Index{ix.Range(0, c.N)}
	if c.Index != "" {
		var err error
		if part, err = ix.Parse(c.Index); err != nil {
			return s.usage("--index: %w", err)
		}
	}
	in, err := s.openPart(c.Path, c.tableFlags, c.pickFlags, c.outputs()...)
	if err != nil {
		return err
	}
	defer in.Close()
	td, err := c.columns(in)
	if err != nil {
		return err
	}
	return c.print(s, td, in.Schema, part...)
}

// outputs returns the form that is written, if it is one of tables.
func (c *rowsFlags) outputs() []forms.Form {
	switch c.As {
	case "csv":
		return []forms.Form{forms.CSV}
	case "jsonl":
		return []forms.Form{forms.JSONL}
	}
	return nil
}

// columns returns the rows of an input, for csv and jsonl with data as columns.
func (c *rowsFlags) columns(in *source) (*tdict.TensorDict, error) {
	if c.As == "csv" || c.As == "jsonl" {
		return in.Columns(in.Dict)
	}
	return in.Dict, nil
}

type tailCmd struct {
	N int `short:"n" default:"10" help:"Number of rows."`
	rowsFlags
	Follow bool `short:"f" help:"Continue with the rows that a Writer commits, until interrupted."`
}

func (tailCmd) Help() string {
	return `
With -f, tail also continues when a Writer has finished the dataset, since another Writer may append to it. It ends with an error if the dataset is replaced.

Examples:

	tdict tail visits -n 3
	tdict tail -f log --as jsonl`
}

func (c *tailCmd) Run(s *session) error {
	if c.N < 0 {
		return s.usage("-n takes 0 or more rows, got %d", c.N)
	}
	in, err := s.openPart(c.Path, c.tableFlags, c.pickFlags, c.outputs()...)
	if err != nil {
		return err
	}
	defer in.Close()
	switch n := rows(in.Dict); {
	case !c.Follow:
		td, err := c.columns(in)
		if err != nil {
			return err
		}
		return c.print(s, td, in.Schema, ix.Range(max(0, n-c.N), ix.End))
	case in.Form != forms.Directory:
		return fmt.Errorf("%s: -f follows directories, got the form %v", c.Path, in.Form)
	case len(in.Dict.Shape()) == 0:
		return fmt.Errorf("%s: -f follows rows, got batch shape []", c.Path)
	default:
		return c.follow(s, max(0, n-c.N), in.Schema)
	}
}

// follow prints the rows of a directory from row on, and then each row that is appended.
func (c *tailCmd) follow(s *session, row int, schema tdict.Schema) error {
	f := &followed{path: c.Path, grows: true}
	defer f.close()
	for {
		more, err := f.refresh()
		if err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		if n := rows(f.ds.TensorDict); more && n > row {
			if err := c.print(s, f.ds.TensorDict, schema, ix.Range(row, n)); err != nil {
				return err
			}
			row, c.noHeader = n, true
		}
		if err := s.out.Flush(); err != nil {
			return err
		}
		if more && !f.grows {
			fmt.Fprintf(s.errs, "tdict: tail: %s is finished: waiting for a Writer to append to it\n", c.Path)
		}
		select {
		case <-s.ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// A followed is a dataset that may grow.
type followed struct {
	path  string
	ds    *memmap.Dataset // nil before the first refresh
	grows bool            // a Writer has not finished it
}

// close unmaps the files.
func (f *followed) close() {
	if f.ds != nil {
		_ = f.ds.Close() // nothing was written
	}
}

// refresh opens the dataset again if it has changed, and reports whether it has. It returns an
// error if another dataset has replaced it. A Writer replaces the directory when it finishes a
// dataset and when it resumes one; then the rows stay the same.
func (f *followed) refresh() (changed bool, err error) {
	next, replaced := (*memmap.Dataset)(nil), false
	if f.ds == nil {
		next, err = memmap.Open(f.path)
	} else if next, err = f.ds.Refresh(); err == nil && next != f.ds {
		replaced, err = f.ds.Stale()
	}
	if err != nil || next == f.ds {
		return false, err
	}
	l, err := memmap.Look(f.path, memmap.OpenOptions{})
	if err == nil && replaced && (l.Growing == f.grows || rows(next.TensorDict) < rows(f.ds.TensorDict) || tdict.SchemaOf(f.ds.TensorDict).Check(next.TensorDict) != nil) {
		err = errors.New("another dataset has replaced it")
	}
	if err != nil {
		_ = next.Close() // nothing was written
		return false, err
	}
	f.close()
	f.ds, f.grows = next, l.Growing
	return true, nil
}

// print prints the rows part of a dictionary.
func (c *rowsFlags) print(s *session, td *tdict.TensorDict, schema tdict.Schema, part ...ix.Index) (err error) {
	if c.Key != "" {
		v, err := td.Get(c.Key)
		if err != nil {
			return err
		}
		keys := []nestedkey.Key{c.Key}
		spec, _ := schema.Find(c.Key)
		if spec.Mask != "" && td.Has(spec.Mask) {
			keys = append(keys, spec.Mask)
		}
		plain := spec.Time == "" && spec.Categories == nil
		if t, ok := v.(*tensor.Tensor); ok && (c.As == "text" && plain || c.As == "npy") {
			hidden := false
			if len(keys) > 1 {
				if hidden, err = missing(td, keys[1], part); err != nil {
					return err
				}
			}
			switch {
			case !hidden:
				return c.tensor(s, t, part)
			case c.As == "npy":
				return fmt.Errorf("%s: %q has missing values in these rows, which npy cannot hold: print it --as csv or jsonl", c.Path, string(c.Key))
			}
		}
		td = td.SelectPresent(keys...)
		schema = slices.DeleteFunc(slices.Clone(schema), func(spec tdict.Spec) bool { return !td.Has(spec.Key) })
	}
	if len(td.Shape()) > 0 {
		td, err = td.Index(part...)
	}
	if err == nil && len(td.Shape()) == 0 { // one row
		td, err = td.Unsqueeze(0)
	}
	if err != nil {
		return err
	}
	return c.table(s, td, schema)
}

// missing reports whether the mask under a key hides a value of the rows part.
func missing(td *tdict.TensorDict, key nestedkey.Key, part []ix.Index) (bool, error) {
	mask, err := td.Tensor(key)
	if err == nil && len(mask.Shape()) > 0 {
		mask, err = mask.Index(part...)
	}
	if err != nil {
		return false, err
	}
	all, err := arith.All(mask, arith.Whole)
	if err != nil {
		return false, err
	}
	present, err := tensor.Item[bool](all)
	return !present, err
}

// tensor prints the elements part of a tensor.
func (c *rowsFlags) tensor(s *session, t *tensor.Tensor, part []ix.Index) (err error) {
	if len(t.Shape()) > 0 {
		if t, err = t.Index(part...); err != nil {
			return err
		}
	}
	if c.As == "npy" && s.tty {
		return s.usage("--as npy writes bytes: redirect standard output to a file")
	} else if c.As == "npy" {
		return npy.Write(s.stdout, t)
	}
	_, err = fmt.Fprintln(s.out, t)
	return err
}

// table prints rows.
func (c *rowsFlags) table(s *session, td *tdict.TensorDict, schema tdict.Schema) error {
	chunks := func(yield func(*tdict.TensorDict, error) bool) { yield(td, nil) }
	switch c.As {
	case "csv":
		f, err := c.options(s)
		if err != nil {
			return err
		}
		f.CSV.NoHeader = c.noHeader
		return csv.Write(s.ctx, s.data, schema, chunks, f.CSV)
	case "jsonl":
		return jsonl.Write(s.ctx, s.data, schema, chunks, jsonl.WriteOptions{})
	case "npy":
		return s.usage("--as npy needs the KEY of a tensor, got %q", c.Key)
	}
	_, err := fmt.Fprintln(s.out, schema.Head(td, rows(td)))
	return err
}

// rows returns the size of the first batch dim, or 0.
func rows(td *tdict.TensorDict) int {
	if len(td.Shape()) == 0 {
		return 0
	}
	return td.Shape()[0]
}
