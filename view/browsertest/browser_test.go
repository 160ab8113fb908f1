package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience bounds what a test waits for: a page, or a change of one.
const patience = 40 * time.Second

// browser is the browser of all tests, nil if there is none.
var browser context.Context

func TestMain(m *testing.M) {
	path := findBrowser()
	if path == "" {
		os.Exit(m.Run()) // each test skips
	}
	opt := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.Flag("hide-scrollbars", true), chromedp.Flag("font-render-hinting", "none"))
	if os.Geteuid() == 0 {
		opt = append(opt, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), opt...)
	ctx, cancel := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "browsertest: %s does not start: %v\n", path, err)
		os.Exit(1)
	}
	browser = ctx
	code := m.Run()
	last, end := context.WithTimeout(ctx, patience)
	if err := chromedp.Cancel(last); err != nil {
		fmt.Fprintf(os.Stderr, "browsertest: the browser does not end: %v\n", err)
	}
	end()
	cancel()
	stop()
	os.Exit(code)
}

// findBrowser returns the path of a browser, "" if there is none.
func findBrowser() string {
	if path := os.Getenv("BROWSER_TEST"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// A tab is a tab of the browser, that shows pages of one server. When the test ends, it fails if
// anything was written to the console, a dialog was opened, a script of the data was run, or a
// request left for another host.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // address of the server, with a slash

	mu       sync.Mutex
	problems []string
	expected []string // parts of messages that are no problem
	requests []string // addresses that were asked for
}

// newTab opens a tab of 1280 x 900 pixels for the server at base.
func newTab(t *testing.T, base string, opt ...chromedp.ContextOption) *tab {
	t.Helper()
	b := &tab{t: t, base: strings.TrimSuffix(base, "/") + "/"}
	ctx, cancel := chromedp.NewContext(browser, append(opt, chromedp.WithListener(b.hear))...)
	bounded, stop := context.WithTimeout(ctx, 5*time.Minute)
	b.ctx = bounded
	t.Cleanup(func() {
		b.calm()
		stop()
		cancel()
	})
	require.NoError(t, chromedp.Do(b.ctx))
	b.size(1280, 900)
	return b
}

// expect says that messages with a part are no problem.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

// hear notes what a page must not do.
func (b *tab) hear(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		b.problem("the log: %s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
	case *runtime.EventConsoleAPICalled:
		b.problem("console.%s was called", e.Type)
	case *runtime.EventExceptionThrown:
		b.problem("exception: %s", e.ExceptionDetails.Text)
	case *page.EventJavascriptDialogOpening:
		b.problem("a dialog: %s", e.Message)
		go func() {
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}()
	case *network.EventRequestWillBeSent:
		b.mu.Lock()
		b.requests = append(b.requests, e.Request.URL)
		allowed := strings.HasPrefix(e.Request.URL, b.base) || e.Request.URL == "about:blank"
		b.mu.Unlock()
		if !allowed {
			b.problem("a request to %.200s", e.Request.URL)
		}
	}
}

// asked returns the addresses that the tab has asked for, and forgets them.
func (b *tab) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.requests
	b.requests = nil
	return all
}

func (b *tab) problem(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

// calm fails the test if there was a problem.
func (b *tab) calm() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, problem := range b.problems {
		for _, part := range b.expected {
			if strings.Contains(problem, part) {
				continue next
			}
		}
		b.t.Errorf("%s", problem)
	}
	b.problems = nil
}

// move makes the tab show pages of another server.
func (b *tab) move(base string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.base = base
}

// at returns the address of a page.
func (b *tab) at(address string) string { return b.base + strings.TrimPrefix(address, "./") }

// open shows a page.
func (b *tab) open(address string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, chromedp.Navigate(b.at(address))), address)
	b.unharmed()
}

// unharmed fails the test if a script of the data was run: they all set harmed.
func (b *tab) unharmed() {
	b.t.Helper()
	require.False(b.t, eval[bool](b, `"harmed" in window`), "a script of the data was run")
}

// awaited makes eval wait for a promise.
var awaited chromedp.EvaluateOption = chromedp.EvalAwaitPromise

// eval returns the value of an expression in the page.
func eval[T any](b *tab, js string, opt ...chromedp.EvaluateOption) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	x, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, opt...))
	require.NoError(b.t, err, "%.300s", js)
	return x
}

// until waits until an expression is true, also in a page that is yet to come.
func (b *tab) until(js string) {
	b.t.Helper()
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+js+")"))
		cancel()
		if ok {
			return
		}
		last = err
	}
	require.Failf(b.t, "it did not come", "%s: at %s, error %v", js, eval[string](b, "location.href"), last)
}

// leaves runs f, which must make the tab show another page, and waits for it.
func (b *tab) leaves(f func()) {
	b.t.Helper()
	eval[bool](b, `window.before = true`)
	f()
	b.until(`!window.before && document.readyState === "complete"`)
	b.unharmed()
}

// click clicks an element with the mouse, and waits for the page that it leads to.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.leaves(func() { b.touch(selector) })
}

// touch clicks an element with the mouse.
func (b *tab) touch(selector string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector))), selector)
}

// raw makes a key that is pressed the one of a keyboard: a page can keep it from writing.
func raw(p *input.DispatchKeyEventParams) {
	if p.Type == input.DispatchKeyEventTypeKeyDown {
		p.Type = input.DispatchKeyEventTypeRawKeyDown
	}
}

// press presses keys one after the other.
func (b *tab) press(keys string, opt ...chromedp.KeyOption) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, chromedp.KeyEvent(keys, append(opt, raw)...)))
}

// size sets the size of the window in pixels.
func (b *tab) size(wide, high int64) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, chromedp.EmulateViewport(wide, high)))
}

// media sets features of the media, such as prefers-color-scheme, in pairs.
func (b *tab) media(pairs ...string) {
	b.t.Helper()
	p := emulation.SetEmulatedMediaParams{}
	for i := 0; i < len(pairs); i += 2 {
		p.Features = append(p.Features, &emulation.MediaFeature{Name: pairs[i], Value: pairs[i+1]})
	}
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p)
	require.NoError(b.t, err)
}

// texts returns the texts of all elements of a selector, without the space around them.
func (b *tab) texts(selector string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(x => x.textContent.trim().replace(/\s+/g, " "))`, selector))
}

// rows returns the texts of the cells of each row of a selector, with a space between them.
func (b *tab) rows(selector string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(x => [...x.cells].map(c => c.textContent.trim()).join(" "))`, selector))
}

// text returns the text of the only element of a selector.
func (b *tab) text(selector string) string {
	b.t.Helper()
	all := b.texts(selector)
	require.Len(b.t, all, 1, selector)
	return all[0]
}

// path returns the last part of the address with its query.
func (b *tab) path() string {
	b.t.Helper()
	return strings.TrimPrefix(eval[string](b, "location.href"), b.base)
}

// shot writes a screenshot of the window, and checks that it is not empty.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("BROWSER_TEST_SHOTS")
	if dir == "" {
		dir = b.t.TempDir()
	}
	require.NoError(b.t, os.MkdirAll(dir, 0o755))
	eval[int](b, `document.fonts.ready.then(() => 1)`, awaited)
	b.until(`[...document.images].every(x => x.complete || x.getBoundingClientRect().top > innerHeight)`)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o644))
	picture, err := png.Decode(bytes.NewReader(shot))
	require.NoError(b.t, err)
	require.Equal(b.t, eval[[]int](b, "[innerWidth, innerHeight]"), []int{picture.Bounds().Dx(), picture.Bounds().Dy()}, name)
	colours := map[color.Color]bool{}
	for y := range picture.Bounds().Dy() {
		colours[picture.At(picture.Bounds().Dx()/2, y)] = true
	}
	require.Greater(b.t, len(colours), 4, "%s: an empty page", name)
}
