package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
)

type statusCmd struct {
	placeFlags
	waitFlags
	Watch   bool          `help:"Look again and again, until SIGINT or SIGTERM."`
	JSON    bool          `name:"json" help:"Print a line of JSON for each look, until SIGINT or SIGTERM; docs/cli.md describes it."`
	Once    bool          `help:"Print one line with --json."`
	Metrics string        `placeholder:"HOST:PORT" help:"Serve metrics to Prometheus, until SIGINT or SIGTERM. Without HOST, to this machine alone."`
	Every   time.Duration `default:"1s" help:"Time between two looks."`
}

func (c *statusCmd) Run(s *session) error {
	if c.Every <= 0 {
		return s.usage("--every %v: want more than 0", c.Every)
	}
	if c.Wait < 0 {
		return s.usage("--wait %v: want at least 0", c.Wait)
	}
	if c.Once && (c.Watch || !c.JSON) {
		return s.usage("--once is for --json without --watch")
	}
	c.Watch = c.Watch || c.JSON && !c.Once
	e, err := c.engine(s, nil)
	if err != nil {
		return err
	}
	l := &lookout{engine: e, name: string(c.Place), mirrors: c.mirrored()}
	defer l.close()
	v := l.first(s, c.waitFlags)
	if v.err != nil {
		return c.orWait(c.Place, c.advise(v.err))
	}
	served := make(chan error, 1)
	if c.Metrics != "" {
		stop, err := serveMetrics(s, l, c.Metrics, served)
		if err != nil {
			return err
		}
		defer stop()
	}
	return c.show(s, l, v, served)
}

// show prints the state that l sees, until the session or served ends. It prints it once if nobody
// asked for more.
func (c *statusCmd) show(s *session, l *lookout, v view, served <-chan error) error {
	var screen *screen
	if c.Watch && s.tty && !c.JSON {
		screen = newScreen(s.stdout.(*os.File))
		defer func() { screen.close(v.text()) }()
	}
	for {
		if err := c.print(s, screen, v); err != nil {
			return err
		}
		if !c.Watch && c.Metrics == "" {
			return nil
		}
		var again <-chan time.Time
		if c.Watch {
			again = time.After(c.Every)
		}
		select {
		case <-s.ctx.Done():
			return nil
		case err := <-served:
			return err
		case <-again:
			v = l.look(s.ctx, v)
		}
		if !c.JSON && screen == nil {
			fmt.Fprintln(s.out)
		}
	}
}

// print prints a view.
func (c *statusCmd) print(s *session, screen *screen, v view) error {
	switch {
	case c.JSON:
		if err := json.NewEncoder(s.out).Encode(v.line()); err != nil {
			return err
		}
	case screen != nil:
		return screen.draw(v.text())
	default:
		fmt.Fprint(s.out, v.text())
	}
	return s.out.Flush()
}

// A lookout looks at a cache. It does not become a member, unless the engine needs that: then it is
// one until close.
//
// Safe for concurrent use.
type lookout struct {
	engine  samplecache.Engine
	name    string
	mirrors string // the cache on servers of which it is a mirror, or ""
	mu      sync.Mutex
	member  engine.Session // nil for an engine.Observer, and before the first look
}

// A view is the state of a cache at one time.
type view struct {
	name    string
	mirrors string
	at      time.Time
	config  samplecache.Config
	stats   samplecache.Stats
	snap    mongowire.Snapshot
	err     error
}

// waits returns the waits of the cache. A mirror has none: it reserves all slots in advance.
func (v *view) waits() []engine.Wait {
	if v.mirrors != "" {
		return nil
	}
	return v.stats.Waits(v.config)
}

// look looks at the cache. before is the view before.
func (l *lookout) look(ctx context.Context, before view) view {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := view{name: l.name, mirrors: l.mirrors, at: time.Now(), snap: before.snap}
	if v.config, v.stats, v.err = l.stats(ctx); v.err == nil {
		v.snap = mongowire.NewSnapshot(l.name, v.stats, before.snap)
	}
	return v
}

// lookPatience is how long a look waits for servers. Prometheus gives up after 10 seconds.
var lookPatience = 3 * time.Second

// stats looks at the cache. l.mu is held.
func (l *lookout) stats(ctx context.Context) (config samplecache.Config, st samplecache.Stats, err error) {
	if o, ok := l.engine.(engine.Observer); ok {
		about, st, err := o.Observe(ctx)
		return about.Config, st, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	if l.member == nil {
		member, err := l.engine.Join(ctx, engine.Options{})
		if err != nil {
			return config, st, err
		}
		l.member = member
	}
	config = l.member.About().Config
	st, err = l.member.Stats(ctx)
	if err != nil && !errors.Is(err, samplecache.ErrUnavailable) {
		l.leave() // the next look opens the cache that is there then
	}
	return config, st, err
}

// first looks at the cache. It waits for a cache that does not exist, and for servers.
func (l *lookout) first(s *session, wait waitFlags) view {
	ctx, cancel := wait.limit(s)
	defer cancel()
	last := error(nil) // why the look before has failed
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		v := l.look(ctx, view{})
		if v.err != nil && ctx.Err() != nil && last != nil {
			v.err = fmt.Errorf("%w: %w", context.Cause(ctx), last)
			return v
		}
		last = v.err
		if wait.Wait == 0 || !errors.Is(v.err, fs.ErrNotExist) && !errors.Is(v.err, samplecache.ErrUnavailable) {
			return v
		}
		if err := sleep(ctx, pause); err != nil {
			if !errors.Is(v.err, err) { // an engine may say it
				v.err = fmt.Errorf("%w: %w", err, v.err)
			}
			return v
		}
	}
}

func (l *lookout) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave()
}

// leave ends the membership, if there is one. l.mu is held.
func (l *lookout) leave() {
	if l.member != nil {
		_ = l.member.Close() // it has put nothing
		l.member = nil
	}
}

// A screen draws text on a terminal, each time in the same place.
type screen struct{ file *os.File }

// newScreen switches the terminal to its alternate screen, and clears that.
func newScreen(file *os.File) *screen {
	fmt.Fprint(file, "\x1b[?1049h\x1b[?25l\x1b[2J")
	return &screen{file}
}

// draw draws as much of the text as fits.
func (s *screen) draw(text string) error {
	width, height, err := term.GetSize(int(s.file.Fd()))
	if err != nil || width < 1 || height < 1 {
		width, height = 80, 24
	}
	lines := strings.Split(strings.TrimSuffix(printable(text), "\n"), "\n")
	if more := len(lines) - height; more > 0 {
		lines = append(lines[:height-1], fmt.Sprintf("... and %d lines more", more+1))
	}
	out := "\x1b[H"
	for i, line := range lines {
		if runes := []rune(line); len(runes) > width {
			line = string(runes[:width])
		}
		out += line + "\x1b[K"
		if i < len(lines)-1 {
			out += "\n"
		}
	}
	_, err = io.WriteString(s.file, out+"\x1b[J")
	return err
}

// close switches the terminal back to its main screen, and prints the text that was drawn last.
func (s *screen) close(text string) {
	fmt.Fprint(s.file, "\x1b[?25h\x1b[?1049l"+printable(text))
}

// printable returns text with control characters quoted.
func printable(text string) string {
	var b bytes.Buffer
	_, _ = (&quoter{to: &b}).Write([]byte(text)) // a Buffer returns no errors
	return b.String()
}
