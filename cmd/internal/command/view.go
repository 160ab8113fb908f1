package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/cmd/internal/loopback"
	"github.com/go-tensordict/tensordict/interop/forms"
	pages "github.com/go-tensordict/tensordict/view"
)

type viewCmd struct {
	Paths []string `arg:"" name:"path" help:"Datasets or files."`
	Port  int      `help:"Serve on this port of this machine; by default on a free one." placeholder:"N"`
	tableFlags
}

func (viewCmd) Help() string {
	return `
View prints a link to pages that show the datasets, for a browser on this machine. It serves them until SIGINT, SIGTERM or SIGHUP. Whoever has the link can see them: give it to nobody else.

Examples:

	tdict view visits
	tdict view visits model.safetensors --port 8000`
}

func (c *viewCmd) Run(s *session) (err error) {
	if c.Port < 0 || c.Port > 1<<16-1 {
		return s.usage("--port takes 0 to 65535, got %d", c.Port)
	}
	sources, open, err := c.sources(s)
	defer func() { err = errors.Join(err, open.Close()) }()
	if err != nil {
		return err
	}
	handler, err := pages.Handler(pages.Options{Sources: sources})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handler.Close()) }()
	server, err := loopback.Listen(loopback.Options{Name: "tdict view", Port: c.Port, OnError: s.tell})
	if err != nil {
		return err
	}
	for _, path := range c.Paths {
		fmt.Fprintf(s.errs, "tdict: view: serving %s\n", path)
	}
	fmt.Fprintln(s.out, server.Link())
	if err = s.out.Flush(); err != nil {
		return errors.Join(err, server.Close())
	}
	return server.Serve(s.ctx, handler)
}

// opened are inputs to close.
type opened []*source

// Close closes the inputs.
func (o opened) Close() (err error) {
	for _, in := range o {
		err = errors.Join(err, in.Close())
	}
	return err
}

// sources returns the datasets of the command line, and the files that it has opened, also with an
// error.
func (c *viewCmd) sources(s *session) (list []pages.Source, open opened, err error) {
	opt, err := c.checked(s, c.Paths)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range c.Paths {
		from, in, err := c.source(s, path, opt)
		if err != nil {
			return nil, open, err
		}
		list = append(list, from)
		if in != nil {
			open = append(open, in)
		}
	}
	return list, open, nil
}

// source returns the dataset at a path. The pages open and follow what package memmap opens: if it
// is damaged, it has a page with its error. source opens other files, and returns them too. The
// pages leave nothing out: with --skip-unsupported, source opens all of them.
func (c *viewCmd) source(s *session, path string, opt forms.OpenOptions) (from pages.Source, in *source, err error) {
	if _, err = os.Stat(path); err != nil {
		return from, nil, err
	}
	form := c.From
	if form == 0 {
		form, err = forms.Of(path)
	}
	switch {
	case err != nil:
		return from, nil, err
	case !c.Skip && (form == forms.Directory || form == forms.Archive || form == forms.Consolidated):
		return pages.Source{Path: path}, nil, nil
	}
	full, err := filepath.Abs(path)
	if err == nil {
		in, err = s.openWith(path, opt, forms.Selection{})
	}
	if err != nil {
		return from, nil, err
	}
	return pages.Source{
		Name: filepath.Base(full), Path: path, Dict: in.Dict, Form: in.Form.String(), Schema: in.Input.Schema, Metadata: in.Metadata,
	}, in, nil
}
