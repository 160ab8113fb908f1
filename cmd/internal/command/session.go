package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A session is one run of the command.
type session struct {
	ctx      context.Context
	servers  Servers       // of caches on servers, or nil
	name     string        // name of the command
	stdout   io.Writer     // for binary data
	data     io.Writer     // for text that programs read: out on a terminal, otherwise stdout
	out      *bufio.Writer // stdout for text, with control characters quoted
	stderr   io.Writer
	errs     io.Writer // stderr for text, with control characters quoted
	tty      bool      // stdout is a terminal
	wantBars bool      // stderr is a terminal
	start    time.Time
	bar      *progressbar.ProgressBar
	noted    map[string]bool
	printing sync.Mutex // held by print
}

func newSession(ctx context.Context, stdout, stderr io.Writer) *session {
	s := &session{
		ctx: ctx, stdout: stdout, data: stdout, stderr: stderr, out: bufio.NewWriterSize(&quoter{to: stdout}, 1<<16), errs: &quoter{to: stderr},
		tty: isTerminal(stdout), wantBars: isTerminal(stderr), start: time.Now(),
	}
	if s.tty {
		s.data = s.out
	}
	return s
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// errReported is the error of a command that has printed its errors.
var errReported = errors.New("reported")

// errNo is the error of a command that has printed a negative answer.
var errNo = errors.New("no")

// A usageError is an error in the command line.
type usageError struct {
	command string
	error
}

func (e usageError) Error() string {
	return fmt.Sprintf("%v; see %s --help", e.error, strings.TrimSpace("tdict "+e.command))
}

// usage returns a usageError of the running command.
func (s *session) usage(format string, args ...any) error {
	return usageError{s.name, fmt.Errorf(format, args...)}
}

// report prints an error, and returns the exit code for it.
func (s *session) report(err error) int {
	var wrong usageError
	switch {
	case err == nil || errors.Is(err, syscall.EPIPE):
		return 0
	case errors.Is(err, errNo):
		return exitNo
	case errors.Is(err, errReported):
		return exitFailure
	case s.ctx.Err() != nil:
		s.print(context.Cause(s.ctx))
		return exitInterrupted
	case errors.As(err, &wrong):
		s.name = wrong.command
		s.print(err)
		return exitUsage
	}
	s.print(err)
	return exitFailure
}

// asFlags replaces names of Go options in errors by flags.
var asFlags = strings.NewReplacer(
	"set SkipUnknown to skip others", "give a --schema with it", "set SkipUnknown", `give a --schema that has it`,
	"make the entry Optional, or give it a Fill", `write "optional":true in the schema`,
	"set Comma to what separates the fields", "give --comma",
	"schema mismatch: dtype mismatch", "schema mismatch",
	"may be csv: say so, with its separator", `may be csv: give --from csv, and --comma '\t' if tabs separate its fields`,
	"say one of", "give --from with one of",
	"Seal the dataset if the change is right", "if the change is right, tdict seal accepts it",
	", or raise MaxRecord", "", ": raise MaxRecord", "",
	"rename it with Rename, or leave it out with Drop", "give it another key with --rename, or leave it out with --drop",
	"set Separator to a text that no header has", "give --nested with a text that no header has",
	"leave it out with SkipPickled", "--skip-unsupported leaves it out", "leave them out with SkipPickled", "--skip-unsupported leaves them out",
	"it is not a cache: Create makes one", "it is not a cache: tdict cache create makes one",
	"there is no such cache: Create makes one", "there is no such cache: tdict cache create makes one",
	"file does not exist: it is not a cache: Create makes one", "it is not a cache: tdict cache create makes one",
	"file does not exist: it is not a cache", "it is not a cache", ": NoReplace is set", "",
	"got a hint for a key that the file does not have", "--dates, --categories or --dtype has a key that the file does not have",
	"got Counts, want Fractions", "got --count, want --sizes",
	"the module interop/arrow has one: call arrowforms.Register", "in a clone, go install -C cmd/tdict-arrow . makes tdict-arrow, which tdict runs if it is on the PATH",
	"leave it out with Skip", "--skip-unsupported leaves it out",
	": Delete it first", "; --drop leaves it out first", "Slice with Keys", "use --keys", "set Force to replace it", "--force replaces it",
)

// note prints a fact that may surprise on a line of standard error, once.
func (s *session) note(text string) {
	if s.noted == nil {
		s.noted = map[string]bool{}
	}
	if s.noted[text] {
		return
	}
	s.noted[text] = true
	if s.bar != nil {
		_ = s.bar.Clear()
	}
	fmt.Fprintf(s.errs, "tdict: %s: note: %s\n", s.name, asFlags.Replace(text))
}

// tell prints a text as print does.
func (s *session) tell(text string) { s.print(errors.New(text)) }

// print prints an error on one line of standard error. Several goroutines may call it.
func (s *session) print(err error) {
	s.printing.Lock()
	defer s.printing.Unlock()
	s.endBar()
	text := plainKeys(asFlags.Replace(strings.ReplaceAll(err.Error(), "\n", "; ")))
	verb := s.name[strings.LastIndexByte(s.name, ' ')+1:]
	for _, prefix := range []string{s.name + ": ", s.name + " ", verb + " "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if s.name != "" {
		text = s.name + ": " + text
	}
	fmt.Fprintln(s.errs, "tdict: "+text)
}

// keyOf is a key as the library advises it to Go programs.
var keyOf = regexp.MustCompile(`nestedkey\.Of\("([^"]*)"\)`)

// plainKeys replaces keys in Go by keys as flags have them.
func plainKeys(text string) string {
	return keyOf.ReplaceAllStringFunc(text, func(call string) string {
		return `"` + string(nestedkey.Of(keyOf.FindStringSubmatch(call)[1])) + `"`
	})
}

// progress shows a progress bar if stderr is a terminal and the command has run for a second. The
// library calls it from one goroutine at a time. If total is 0, no bar is shown.
func (s *session) progress(done, total int64) {
	if !s.wantBars || total == 0 || time.Since(s.start) < time.Second {
		return
	}
	if s.bar == nil {
		wide := s.columns() >= 80
		s.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(s.stderr),
			progressbar.OptionSetDescription(s.name), progressbar.OptionShowBytes(wide),
			progressbar.OptionSetPredictTime(wide), progressbar.OptionSetElapsedTime(wide), progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = s.bar.Set64(done) // a bar that cannot be drawn does not stop the command
}

// columns returns the width of the terminal, or 80 if it is not known.
func (s *session) columns() int {
	if f, ok := s.stderr.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 80
}

// endBar removes the bar from the terminal.
func (s *session) endBar() {
	if s.bar != nil {
		_ = s.bar.Clear()
		s.bar, s.wantBars = nil, false
	}
}
