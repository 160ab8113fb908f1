package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// tableFlags say how csv and jsonl files are read and written.
type tableFlags struct {
	From       forms.Form      `help:"The form of the inputs, if neither their bytes nor their suffix says it: csv for a .tsv or .txt." placeholder:"FORM"`
	Schema     string          `help:"Read tables with the schema in FILE, as 'tdict schema' prints it." placeholder:"FILE"`
	Dates      []string        `help:"Read the texts of KEY as times of LAYOUT, a layout of Go such as 02.01.2006; KEY alone for ISO 8601." placeholder:"KEY=LAYOUT"`
	Categories []nestedkey.Key `help:"Read the texts of KEY as integers, for which the schema has the texts." placeholder:"KEY"`
	DType      []string        `name:"dtype" help:"Read the values of KEY as DTYPE, such as float32, or as text." placeholder:"KEY=DTYPE"`
	Float32    bool            `name:"float32" help:"Read numbers that are not integers as float32."`
	MaxRecord  int             `help:"The largest size of a row of csv or jsonl in bytes; by default 1 GiB." placeholder:"BYTES"`
	Skip       bool            `name:"skip-unsupported" help:"Leave out what Python has pickled, and columns of Arrow and Parquet that no dtype holds, and say so."`
	csvFlags
}

// csvFlags are the flags for csv alone.
type csvFlags struct {
	Comma     string   `help:"The character between fields; '\\t' is a tab." placeholder:"CHAR"`
	NA        []string `name:"na" sep:"none" help:"A spelling of missing values; by default NA and the empty field. May be repeated." placeholder:"TEXT"`
	NoHeader  bool     `help:"The first line has values, not names of columns."`
	Comment   string   `help:"The character that begins lines to skip." placeholder:"CHAR"`
	Nested    string   `help:"What separates the parts of nested keys in headers. A header with it becomes an entry in a dictionary." placeholder:"SEP"`
	Decimal   string   `help:"The character before the fraction of a number; by default a point." placeholder:"CHAR"`
	Thousands string   `help:"The character between groups of three digits." placeholder:"CHAR"`
}

// options returns the options of the flags.
func (f *tableFlags) options(s *session) (opt forms.OpenOptions, err error) {
	opt.Form, opt.Note, opt.SkipPickled, opt.MaxRecord, opt.Stdin = f.From, s.note, f.Skip, f.MaxRecord, os.Stdin
	if opt.CSV, err = f.format(s); err != nil {
		return opt, err
	}
	if opt.Hints, err = f.hints(s); err != nil {
		return opt, err
	}
	if f.Schema != "" {
		opt.Schema, err = readSchema(f.Schema)
	}
	return opt, err
}

// format returns the syntax of csv files.
func (f *csvFlags) format(s *session) (format csv.Format, err error) {
	format = csv.Format{NA: f.NA, Separator: f.Nested, NoHeader: f.NoHeader}
	for _, one := range []struct {
		flag, text string
		to         *byte
	}{{"--comma", f.Comma, &format.Comma}, {"--comment", f.Comment, &format.Comment}, {"--decimal", f.Decimal, &format.Decimal}, {"--thousands", f.Thousands, &format.Thousands}} {
		switch {
		case one.text == `\t`:
			*one.to = '\t'
		case len(one.text) > 1:
			return format, s.usage("%s takes one character, got %q", one.flag, one.text)
		case one.text != "":
			*one.to = one.text[0]
		}
	}
	return format, nil
}

// hints returns the hints of the flags about columns.
func (f *tableFlags) hints(s *session) (hints csv.Hints, err error) {
	hints = csv.Hints{Float32: f.Float32, Dates: map[nestedkey.Key]string{}, DTypes: map[nestedkey.Key]tensor.DType{}, Categories: map[nestedkey.Key]bool{}}
	for _, text := range f.Dates {
		key, layout, _ := strings.Cut(text, "=")
		hints.Dates[nestedkey.Key(key)] = layout
	}
	for _, text := range f.DType {
		key, name, ok := strings.Cut(text, "=")
		dtype, failed := tensor.ParseDType(name)
		if !ok || failed != nil && name != "text" {
			return hints, s.usage("--dtype takes KEY=DTYPE, such as age=float32 or id=text, got %q", text)
		}
		hints.DTypes[nestedkey.Key(key)] = dtype
	}
	for _, key := range f.Categories {
		hints.Categories[key] = true
	}
	if given := len(f.Dates)+len(f.DType)+len(f.Categories) > 0 || f.Float32; given && f.Schema != "" {
		return hints, s.usage("--dates, --dtype, --categories and --float32 are for columns that are inferred, and --schema says what they are: give only one")
	}
	return hints, nil
}

// given returns the flags that are given: for csv alone, for csv and jsonl, and for any table.
func (f *tableFlags) given() (csvOnly, texts, any []string) {
	add := func(list *[]string, name string, is bool) {
		if is {
			*list = append(*list, name)
		}
	}
	add(&csvOnly, "--comma", f.Comma != "")
	add(&csvOnly, "--na", f.NA != nil)
	add(&csvOnly, "--no-header", f.NoHeader)
	add(&csvOnly, "--comment", f.Comment != "")
	add(&csvOnly, "--nested", f.Nested != "")
	add(&csvOnly, "--decimal", f.Decimal != "")
	add(&csvOnly, "--thousands", f.Thousands != "")
	add(&any, "--schema", f.Schema != "")
	add(&texts, "--dates", f.Dates != nil)
	add(&texts, "--categories", f.Categories != nil)
	add(&texts, "--dtype", f.DType != nil)
	add(&texts, "--float32", f.Float32)
	add(&texts, "--max-record", f.MaxRecord != 0)
	return csvOnly, texts, any
}

// checked returns the options of the flags, or the error of check. A file of a flag may be a pipe,
// so nothing is read before this binary has turned out to be the right one.
func (f *tableFlags) checked(s *session, inputs []string, outputs ...forms.Form) (forms.OpenOptions, error) {
	if err := f.check(s, inputs, outputs...); err != nil {
		return forms.OpenOptions{}, err
	}
	return f.options(s)
}

// check returns an error if a flag for tables is given, but neither an input nor an output is a
// table of that kind, and forms.ErrDriver for a form that this binary cannot read or write.
func (f *tableFlags) check(s *session, inputs []string, outputs ...forms.Form) error {
	csvOnly, texts, any := f.given()
	if f.MaxRecord < 0 {
		return s.usage("--max-record takes a number of bytes, got %d", f.MaxRecord)
	}
	if i := slices.Index(inputs, forms.Stdin); i >= 0 && slices.Contains(inputs[i+1:], forms.Stdin) {
		return s.usage("-: got standard input twice, want it once")
	}
	if slices.Contains(inputs, forms.Stdin) && (f.Schema == "" || f.From != forms.CSV && f.From != forms.JSONL) {
		return s.usage("-: standard input is read once: give --from csv or jsonl, and --schema with a file that tdict schema has printed")
	}
	flags := len(csvOnly)+len(texts)+len(any) > 0
	all := slices.Clone(outputs)
	for _, path := range inputs {
		form := f.From
		if form == 0 {
			var err error
			if form, err = forms.Of(path); err != nil && flags {
				return err
			}
		}
		all = append(all, form)
	}
	for i, form := range all {
		if err := form.CheckDriver(); err != nil && i >= len(outputs) {
			return fmt.Errorf("%s: %w", inputs[i-len(outputs)], err)
		} else if err != nil {
			return err
		}
	}
	isCSV := slices.Contains(all, forms.CSV)
	isText := isCSV || slices.Contains(all, forms.JSONL)
	switch {
	case len(csvOnly) > 0 && !isCSV:
		return fmt.Errorf("%s is for csv, got %v", csvOnly[0], all)
	case len(texts) > 0 && !isText:
		return fmt.Errorf("%s is for csv and jsonl, got %v", texts[0], all)
	case len(any) > 0 && !slices.ContainsFunc(all, forms.Form.IsTable):
		return fmt.Errorf("%s is for tables, got %v", any[0], all)
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
	return s.openPart(path, flags, pickFlags{})
}

// openPart opens some rows and entries of a dataset. outputs are the forms that are written.
func (s *session) openPart(path string, flags tableFlags, pick pickFlags, outputs ...forms.Form) (*source, error) {
	opt, err := flags.checked(s, []string{path}, outputs...)
	if err != nil {
		return nil, err
	}
	sel, err := pick.selection(s)
	if err != nil {
		return nil, err
	}
	return s.openWith(path, opt, sel)
}

// openWith opens a part of a dataset with options. A table, and rows that a condition selects, are
// saved in a temporary directory. If the command is killed, the next command removes that: see run.
func (s *session) openWith(path string, opt forms.OpenOptions, sel forms.Selection) (*source, error) {
	if opt.Form == 0 {
		var err error
		if opt.Form, err = forms.Of(path); err != nil {
			return nil, err
		}
	}
	if opt.Form.IsTable() || sel.Where != nil {
		return s.convertPart(path, opt, sel)
	}
	in, err := forms.Open(path, opt)
	if err != nil {
		return nil, err
	}
	if sel.Keys != nil || sel.Drop != nil {
		if err = in.Narrow(sel.Keys, sel.Drop); err != nil {
			return nil, errors.Join(err, in.Close())
		}
	}
	return &source{Input: in}, nil
}

// convertPart saves a part of a dataset in a temporary directory, and opens that.
func (s *session) convertPart(path string, opt forms.OpenOptions, sel forms.Selection) (*source, error) {
	temp, err := vfs.MakeTemp(vfs.OS, filepath.Join(os.TempDir(), "rows"))
	if err != nil {
		return nil, err
	}
	var in *forms.Input
	rows := filepath.Join(temp.New(), "rows")
	if err = vfs.OS.Mkdir(temp.New(), 0o700); err == nil {
		err = forms.Convert(s.ctx, rows, []string{path}, forms.Options{Open: opt, Select: sel, Progress: s.progress, NoSync: true})
	}
	if err == nil {
		in, err = forms.Open(rows, forms.OpenOptions{})
	}
	if err != nil {
		return nil, errors.Join(err, temp.Remove())
	}
	in.Path, in.Form = path, opt.Form
	return &source{in, temp}, nil
}

// Close unmaps the files.
func (in *source) Close() error {
	err := in.Input.Close()
	if in.temp != nil {
		err = errors.Join(err, in.temp.Remove())
	}
	return err
}
