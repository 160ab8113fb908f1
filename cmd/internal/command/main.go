package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
)

// Exit codes; see cmd/tdict/main.go.
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
	Tail    tailCmd    `cmd:"" help:"Print the last rows, and with -f each row that is appended."`
	Stats   statsCmd   `cmd:"" help:"Print count, range, mean and quantiles of each leaf."`
	View    viewCmd    `cmd:"" help:"Show datasets in the browser."`
	Feed    feedCmd    `cmd:"" help:"Give shuffled batches to training programs, in shared memory."`
	Verify  verifyCmd  `cmd:"" help:"Read a whole dataset, and report all damage."`
	Seal    sealCmd    `cmd:"" help:"Accept changed elements: compute their checksums again."`
	Diff    diffCmd    `cmd:"" help:"List the differences between two datasets."`
	Convert convertCmd `cmd:"" help:"Write a dataset in another form, or join several."`
	Slice   sliceCmd   `cmd:"" help:"Write some rows and entries of a dataset."`
	Split   splitCmd   `cmd:"" help:"Divide the rows of a dataset at random."`
	Sample  sampleCmd  `cmd:"" help:"Write rows that are chosen at random."`
	Sort    sortCmd    `cmd:"" help:"Write the rows in the order of some columns."`
	Join    joinCmd    `cmd:"" help:"Write the rows of two datasets that match, side by side."`
	Schema  schemaCmd  `cmd:"" help:"Print, infer or check a schema."`
	Cache   cacheCmd   `cmd:"" help:"Serve a circular cache of samples."`
}

// Main runs the command line of this process, and ends the process. servers has the caches on
// servers; it is nil in a binary without them.
func Main(servers Servers) {
	// A write to a closed pipe returns EPIPE, which report ignores. Programs that this process
	// starts would inherit a signal that is ignored, but not one that is caught.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		ends = append(ends, syscall.SIGHUP) // the terminal was closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, servers, os.Args[1:], os.Stdout, os.Stderr))
}

// exited is the value with which kong panics instead of ending the process, after --help and
// --version.
type exited int

// run runs the command of the arguments, and returns the exit code.
func run(ctx context.Context, servers Servers, args []string, stdout, stderr io.Writer) (code int) {
	s := newSession(ctx, stdout, stderr)
	s.servers = servers
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
	_ = vfs.Sweep(os.TempDir()) // a killed command may have left a table there; nothing depends on it
	command, err := parse(args, s.out, s.errs)
	if err == nil {
		s.name = nameOf(command)
		err = command.Run(s)
	}
	if errors.Is(err, forms.ErrDriver) && stdout == os.Stdout { // not in a test, which is several runs
		err = handOver(err, args) // nothing was printed: tableFlags.check comes first
	}
	s.endBar()
	if flushed := s.out.Flush(); err == nil {
		err = flushed
	}
	return s.report(err)
}

// parse reads a command line. Without arguments, and after the argument help, it prints the help.
func parse(args []string, stdout, stderr io.Writer) (*kong.Context, error) {
	asked := len(args) == 0
	for len(args) > 0 && args[0] == "help" {
		asked, args = true, args[1:]
	}
	if asked {
		args = append(slices.Clone(args), "--help")
	}
	parser, err := kong.New(&commands{},
		kong.Name("tdict"),
		kong.Description("Show, check, slice and convert datasets. A nested key is written obs/pixels."),
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
		name := nameOf(parsed.Context)
		if name == "schema print" && strings.HasPrefix(err.Error(), "unexpected argument") {
			err = fmt.Errorf("%w: schema takes one PATH, did you mean \"schema check\"?", err)
		}
		return nil, usageError{name, err}
	}
	if err == nil {
		err = checkValues(command)
	}
	return command, err
}

// checkValues refuses an empty value, except for --na, and "-" for a file.
func checkValues(command *kong.Context) error {
	for _, path := range command.Path {
		given, name, isFile := path.Positional, "", true
		switch {
		case path.Flag != nil:
			given, name, isFile = path.Flag.Value, "--"+path.Flag.Name, path.Flag.Name == "schema"
		case given != nil:
			name = "<" + given.Name + ">"
		default:
			continue
		}
		paths, keys := texts(given.Target.Interface())
		switch {
		case name != "--na" && (slices.Contains(paths, "") || slices.Contains(keys, "")):
			return usageError{nameOf(command), fmt.Errorf("%s: got an empty value", name)}
		case isFile && slices.Contains(paths, "-") && !readable(name, paths):
			return usageError{nameOf(command), fmt.Errorf("%s: got -, want a file: standard output is not written, and standard input is read as an input of rows only", name)}
		}
	}
	return nil
}

// readable reports whether an argument, in which there is a "-", has inputs of rows: the last of
// several paths is the output.
func readable(name string, paths []string) bool {
	switch name {
	case "<path>":
		return len(paths) == 1 || paths[len(paths)-1] != "-"
	case "<in>", "<left>", "<right>", "<a>", "<b>":
		return true
	}
	return false
}

// texts returns the texts or keys in the value of a flag or argument. For an empty list it returns
// one empty text.
func texts(value any) (texts []string, keys []nestedkey.Key) {
	empty := true
	switch v := value.(type) {
	case string:
		return []string{v}, nil
	case place:
		return []string{string(v)}, nil
	case []string:
		texts = v
	case nestedkey.Key:
		return nil, []nestedkey.Key{v}
	case []nestedkey.Key:
		keys = v
	case []float64:
		empty = len(v) == 0
	case []int:
		empty = len(v) == 0
	default:
		return nil, nil
	}
	if empty && len(texts)+len(keys) == 0 {
		texts = []string{""}
	}
	return texts, keys
}

// nameOf returns the name of the selected command, such as "schema check".
func nameOf(c *kong.Context) string {
	if c.Selected() == nil {
		return ""
	}
	return strings.TrimPrefix(c.Selected().FullPath(), "tdict ")
}

// version returns the version of the module, or the commit that it was built from.
func version() string {
	info, _ := debug.ReadBuildInfo() // go build always adds it
	return fmt.Sprintf("tdict %s %s %s/%s", info.Main.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
