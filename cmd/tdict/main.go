package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes; doc.go says what they mean.
const (
	exitNo          = 1
	exitUsage       = 2
	exitFailure     = 3
	exitInterrupted = 130
)

// commands are the commands and flags of tdict.
type commands struct {
	Version kong.VersionFlag `help:"Print the version of tdict."`

	Show    showCmd    `cmd:"" help:"Print the keys, dtypes and shapes of a dataset."`
	Head    headCmd    `cmd:"" help:"Print the first rows."`
	Tail    tailCmd    `cmd:"" help:"Print the last rows, and with -f those that are appended."`
	Stats   statsCmd   `cmd:"" help:"Print count, range, mean and quantiles of each leaf."`
	Verify  verifyCmd  `cmd:"" help:"Read all of a dataset, and report what is damaged."`
	Diff    diffCmd    `cmd:"" help:"List how two datasets differ."`
	Convert convertCmd `cmd:"" help:"Write a dataset in another form, or several as one."`
	Slice   sliceCmd   `cmd:"" help:"Write some rows and entries of a dataset."`
	Split   splitCmd   `cmd:"" help:"Divide the rows of a dataset at random."`
	Schema  schemaCmd  `cmd:"" help:"Print, propose or check a schema."`
	Cache   cacheCmd   `cmd:"" help:"Serve a circular cache of samples."`
}

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe is an error, which quiet ends
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// exited is what kong panics with where it would end the process, after --help and --version.
type exited int

// run does what the arguments say, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	s := newSession(ctx, stdout, stderr)
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(exited)
			if !ok {
				panic(r)
			}
			code = int(e)
			_ = s.out.Flush()
		}
	}()
	command, err := parse(args, s.out, s.errs)
	if err == nil {
		s.name = nameOf(command)
		err = command.Run(s)
	}
	s.endBar()
	if flushed := s.out.Flush(); err == nil {
		err = flushed
	}
	return s.report(err)
}

// parse reads a command line. Without arguments it prints the help.
func parse(args []string, stdout, stderr io.Writer) (*kong.Context, error) {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parser, err := kong.New(&commands{},
		kong.Name("tdict"),
		kong.Description("Look at datasets, check, cut and convert them. Keys are spelled obs/pixels."),
		kong.Vars{"version": version()},
		kong.WithHyphenPrefixedParameters(true), // --index -2:
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100, FlagsLast: true}),
	)
	if err != nil {
		return nil, err
	}
	command, err := parser.Parse(args)
	if parsed, ok := errors.AsType[*kong.ParseError](err); ok {
		return nil, usageError{nameOf(parsed.Context), err}
	}
	return command, err
}

// nameOf returns the name of the command that arguments got to, such as "schema check".
func nameOf(c *kong.Context) string {
	if c.Selected() == nil {
		return ""
	}
	return strings.TrimPrefix(c.Selected().FullPath(), "tdict ")
}

// version returns the version of the module, or the commit that it was built from.
func version() string {
	info, _ := debug.ReadBuildInfo() // there is one in a program that go build makes
	return fmt.Sprintf("tdict %s %s %s/%s", info.Main.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
