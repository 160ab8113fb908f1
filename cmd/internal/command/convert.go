package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
)

type convertCmd struct {
	Paths []string `arg:"" name:"path" help:"One or more inputs, and last the output."`
	formFlags
}

func (convertCmd) Help() string {
	return `
The suffix of the output determines its form: .tdz, .tdc, .npy, .npz, .safetensors, .nrt, .csv, .jsonl, .arrow or .parquet; a name without a suffix is a directory. Arrow and Parquet need tdict-arrow, which tdict runs if it is on the PATH. The rows of several inputs are written one input after the other. The output appears only when it is complete.

Examples:

	tdict convert visits.csv visits
	tdict convert visits visits.tdz
	tdict convert part1.csv part2.csv visits --schema visits.json
	tdict convert visits visits.safetensors --lossy`
}

func (c *convertCmd) Run(s *session) error {
	last := len(c.Paths) - 1
	if last < 1 {
		return s.usage("got one path, want inputs and an output")
	}
	form, err := c.form(s, c.Paths[last])
	if err != nil {
		return err
	}
	return c.write(s, c.Paths[:last], c.Paths[last], []forms.Form{form}, func(opt forms.Options) error {
		return forms.Convert(s.ctx, c.Paths[last], c.Paths[:last], opt)
	})
}

// formFlags say the form of the output, and how to write it.
type formFlags struct {
	To forms.Form `help:"The form of the output: directory, tdz, tdc, npy, npz, safetensors, nrt, csv, jsonl, arrow or parquet." placeholder:"FORM"`
	writeFlags
}

// form returns the form of the output.
func (f *formFlags) form(s *session, to string) (forms.Form, error) {
	if f.To != 0 {
		return f.To, nil
	}
	form, err := forms.For(to)
	if err != nil {
		err = s.usage("%w", err)
	}
	return form, err
}

// writeFlags say how to write an output.
type writeFlags struct {
	Force    bool     `help:"Replace the output if it exists."`
	SkipSums bool     `help:"Do not compare the checksums of the inputs. Damaged elements get new checksums."`
	Lossy    bool     `help:"Leave out everything that the form cannot hold, and list it on standard error."`
	Missing  string   `enum:"mask,nan" default:"mask" help:"What missing numbers become: a mask beside the entry, or nan in floating-point entries." placeholder:"FORM"`
	Rename   []string `help:"Give an entry or a dictionary another key." placeholder:"OLD=NEW"`
	pickFlags
	tableFlags
}

// write calls fn, which writes the output, with the options of the flags. from are the inputs, as
// are the forms of the outputs.
func (f *writeFlags) write(s *session, from []string, to string, as []forms.Form, fn func(opt forms.Options) error) error {
	open, err := f.checked(s, from, as...)
	if err != nil {
		return err
	}
	opt := forms.Options{Open: open, Form: as[0], Force: f.Force, SkipSums: f.SkipSums, MissingNaN: f.Missing == "nan", Progress: s.progress}
	if opt.Select, err = f.selection(s); err != nil {
		return err
	}
	for _, text := range f.Rename {
		from, to, ok := strings.Cut(text, "=")
		name := [2]nestedkey.Key{nestedkey.Key(from), nestedkey.Key(to)}
		if !ok || name[0].Check() != nil || name[1].Check() != nil {
			return s.usage("--rename takes OLD=NEW, two keys, got %q", text)
		}
		opt.Select.Rename = append(opt.Select.Rename, name)
	}
	err = fn(opt)
	if _, missing := os.Lstat(to); missing == nil && errors.Is(err, fs.ErrExist) && !f.Force {
		return fmt.Errorf("%s exists; --force replaces it", to)
	}
	lost, ok := errors.AsType[*forms.LossError](err)
	if !ok {
		return err
	}
	var lines []string
	for _, loss := range lost.Losses {
		lines = append(lines, loss.String())
	}
	if !f.Lossy {
		return fmt.Errorf("%v cannot hold %s; --lossy leaves it out", lost.Form, strings.Join(lines, ", "))
	}
	fmt.Fprintf(s.errs, "tdict: %s: left out %s\n", s.name, strings.Join(lines, ", "))
	opt.Lossy = true
	return fn(opt)
}
