package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/tdict"
)

// tableFlags say how csv and jsonl files are read and written.
type tableFlags struct {
	From   forms.Form `help:"The form of the inputs, if neither their bytes nor their suffix says it: csv for a .tsv or .txt." placeholder:"FORM"`
	Schema string     `help:"Read csv and jsonl with the schema in FILE, as 'tdict schema' prints it." placeholder:"FILE"`
	Comma  string     `help:"The character between fields of csv; '\\t' is a tab." placeholder:"CHAR"`
	Nested string     `help:"What separates the parts of nested keys in headers of csv; by default /. A header with it becomes an entry in a dictionary." placeholder:"SEP"`
	Skip   bool       `name:"skip-unsupported" help:"Leave out what Python has pickled, and say so."`
	NA     []string   `name:"na" sep:"none" help:"A spelling of missing values in csv; by default NA and the empty field. May be repeated." placeholder:"TEXT"`
}

// options returns the options of the flags.
func (f *tableFlags) options(s *session) (opt forms.OpenOptions, err error) {
	opt.Form, opt.CSV, opt.Note = f.From, csv.Format{NA: f.NA, Separator: f.Nested}, s.note
	opt.SkipPickled = f.Skip
	switch {
	case f.Comma == `\t`:
		opt.CSV.Comma = '\t'
	case len(f.Comma) > 1:
		return opt, s.usage("--comma takes one character, got %q", f.Comma)
	case f.Comma != "":
		opt.CSV.Comma = f.Comma[0]
	}
	if f.Schema != "" {
		opt.Schema, err = readSchema(f.Schema)
	}
	return opt, err
}

// check returns an error if a flag for tables is given, but neither an input nor an output is a
// table of that kind.
func (f *tableFlags) check(inputs []string, outputs ...forms.Form) error {
	if f.Schema == "" && f.Comma == "" && f.NA == nil && f.Nested == "" {
		return nil
	}
	all := slices.Clone(outputs)
	for _, path := range inputs {
		form := f.From
		if form == 0 {
			var err error
			if form, err = forms.Of(path); err != nil {
				return err
			}
		}
		all = append(all, form)
	}
	isCSV := slices.Contains(all, forms.CSV)
	switch {
	case f.Schema != "" && !isCSV && !slices.Contains(all, forms.JSONL):
		return fmt.Errorf("--schema is for csv and jsonl, got %v", all)
	case f.Comma != "" && !isCSV:
		return fmt.Errorf("--comma is for csv, got %v", all)
	case f.Nested != "" && !isCSV:
		return fmt.Errorf("--nested is for csv, got %v", all)
	case f.NA != nil && !isCSV:
		return fmt.Errorf("--na is for csv, got %v", all)
	}
	return nil
}

// A source is an opened dataset. Dict is never nil.
type source struct {
	*forms.Input
	temp *vfs.Temp // a temporary directory that Close removes, or nil
}

// open opens a dataset for reading.
func (s *session) open(path string, flags tableFlags) (*source, error) {
	opt, err := flags.options(s)
	if err == nil {
		err = flags.check([]string{path})
	}
	if err != nil {
		return nil, err
	}
	return s.openWith(path, opt)
}

// openWith opens a dataset with options. A table is converted to a temporary directory. If
// the command is killed, the next command removes that: see run.
func (s *session) openWith(path string, opt forms.OpenOptions) (*source, error) {
	in, err := forms.Open(path, opt)
	if err != nil || in.Dict != nil {
		return &source{Input: in}, err
	}
	if err := in.Close(); err != nil {
		return nil, err
	}
	temp, err := vfs.MakeTemp(vfs.OS, filepath.Join(os.TempDir(), "rows"))
	if err != nil {
		return nil, err
	}
	table, rows := *in, filepath.Join(temp.New(), "rows")
	opt.Note = nil // Open has called it
	if err = vfs.OS.Mkdir(temp.New(), 0o700); err == nil {
		err = forms.Convert(s.ctx, rows, []string{path}, forms.Options{Open: opt, Progress: s.progress, NoSync: true})
	}
	if err == nil {
		in, err = forms.Open(rows, forms.OpenOptions{})
	}
	if err != nil {
		return nil, errors.Join(err, temp.Remove())
	}
	in.Path, in.Form = table.Path, table.Form
	return &source{in, temp}, nil
}

// masked returns a schema that says which entries have masks, or nil if only names say it. Then it
// notes which do.
func (in *source) masked(s *session) tdict.Schema {
	guessed := in.Guessed()
	for _, key := range guessed {
		s.note(fmt.Sprintf("%s: %q counts as the mask of %q, by its name: no schema says which entries are masks", in.Path, string(key+"_mask"), string(key)))
	}
	if len(guessed) > 0 {
		return nil
	}
	return in.Input.Schema
}

// Close unmaps the files.
func (in *source) Close() error {
	err := in.Input.Close()
	if in.temp != nil {
		err = errors.Join(err, in.temp.Remove())
	}
	return err
}
