package view

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"log"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
)

// A Server answers requests for the pages. Safe for concurrent use.
type Server struct {
	opt     Options
	shelf   *shelf.Shelf
	pages   map[string]func(*visit) error
	working chan struct{} // has an element for each page that is worked on
	waiting chan struct{} // has an element for each request that waits or is worked on
	streams chan struct{} // has an element for each stream of events
	drawing chan struct{} // has an element for each picture that is drawn

	patience time.Duration // time that a page waits for a dataset to open
}

var _ http.Handler = (*Server)(nil)

// Handler returns a handler for the pages of the sources. It opens none of them: a dataset that
// cannot be opened has a page that says why. Close the handler when it is not used any more.
//
// It returns [ErrSource] if there is no source, a source has neither a Path nor a Dict, or a limit
// is negative.
func Handler(opt Options) (*Server, error) {
	opt, sources, err := opt.check()
	if err != nil {
		return nil, err
	}
	s := &Server{
		opt: opt, shelf: shelf.New(sources, shelf.Options{Idle: opt.Idle, Interval: followInterval}),
		working: make(chan struct{}, opt.MaxRequests), waiting: make(chan struct{}, 11*opt.MaxRequests),
		streams: make(chan struct{}, opt.MaxStreams), drawing: make(chan struct{}, 4),
		patience: 150 * time.Millisecond,
	}
	s.pages = map[string]func(*visit) error{
		"/": (*visit).leaves, "/leaf": (*visit).leaf, "/rows": (*visit).rows, "/row.json": (*visit).rowJSON,
		"/pictures": (*visit).pictures, "/picture": (*visit).picture, "/lines": (*visit).lines,
		"/search": (*visit).search, "/keys": (*visit).keys, "/events": (*visit).events,
	}
	return s, nil
}

// Close closes the datasets that are open. Pages that are being answered can be read to their end;
// streams of events end, and later requests get an error. Call it once, and before
// [http.Server.Shutdown], which waits for the streams.
func (s *Server) Close() error { return s.shelf.Close() }

// followInterval is how long a page may not know of a replacement. Tests have less patience.
var followInterval = 500 * time.Millisecond

const policy = "default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	v := &visit{Server: s, w: w, r: r, out: http.NewResponseController(w), path: "/" + strings.TrimPrefix(r.URL.Path, "/")}
	err := workers.Call(v.answer)
	if p, ok := errors.AsType[*workers.PanicError](err); ok { // as net/http does
		log.Printf("view: panic serving %q: %v\n%s", r.URL.Path, p.Value, p.Stack)
	}
	v.finish(err)
}

// answer finds who answers the request, and returns its error.
func (v *visit) answer() error {
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		v.w.Header().Set("Allow", "GET, HEAD")
		return fail(http.StatusMethodNotAllowed, "This page can only be read", "got "+v.r.Method+", want GET or HEAD")
	}
	if v.asset() {
		return nil
	}
	page := v.pages[v.path]
	if page == nil {
		return fail(http.StatusNotFound, "There is no such page", "the address "+v.path+" leads nowhere")
	}
	if err := v.parse(); err != nil {
		return err
	}
	if v.path == "/events" { // it waits most of the time
		return page(v)
	}
	slots := v.working
	if v.path == "/picture" { // it can take a slow browser half a minute
		slots = v.drawing
	}
	release, err := v.turn(slots)
	if err != nil {
		return err
	}
	defer release()
	return page(v)
}

// turn waits until one of the slots is free.
func (v *visit) turn(slots chan struct{}) (release func(), err error) {
	select {
	case v.waiting <- struct{}{}:
	default:
		return nil, fail(http.StatusServiceUnavailable, "Too many requests at a time", "the server works on others; try again")
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), 10*time.Second)
	defer cancel()
	select {
	case slots <- struct{}{}:
		return func() { <-slots; <-v.waiting }, nil
	case <-ctx.Done():
		<-v.waiting
		return nil, fail(http.StatusServiceUnavailable, "Too many requests at a time", "the server works on others; try again")
	}
}

//go:embed templates/*.html
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"list": func(x ...any) []any { return x },
	"f":    func(x float64) float64 { return math.Round(10*x) / 10 }, // a position
}).ParseFS(templateFiles, "templates/*.html"))
