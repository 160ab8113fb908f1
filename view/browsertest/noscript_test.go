package browsertest

import (
	"bufio"
	"maps"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// kindOf returns what distinguishes a kind of page: its path and the names in its query.
func kindOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	var names []string
	for name := range u.Query() {
		names = append(names, name)
	}
	slices.Sort(names)
	return u.Path + "?" + u.Query().Get("d") + strings.Join(names, "&")
}

// TestWithoutScript follows the links of all pages from the first one, one page of each kind of
// each dataset, with the script switched off.
func TestWithoutScript(t *testing.T) {
	base := serve(t, save(t, "digits", digits(t)), save(t, "patients", patients(t)), save(t, "visits", visits(t)), grow(t, "growing", 100).path)
	b := newTab(t, base)
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
	const links = `[...document.querySelectorAll("a[href]")].map(a => a.href.split("#")[0])`
	kinds, seen := map[string]int{}, map[string]bool{b.base: true}
	for queue := []string{b.base}; len(queue) > 0; queue = queue[1:] {
		address := strings.TrimPrefix(queue[0], b.base)
		if strings.HasPrefix(address, "row.json") {
			continue
		}
		b.see(place{address, 200})
		for _, link := range eval[[]string](b, links) {
			require.True(t, strings.HasPrefix(link, b.base), "%s leads to %s", address, link)
			kind := kindOf(t, link)
			if !seen[link] && kinds[kind] < 1 {
				seen[link] = true
				kinds[kind]++
				queue = append(queue, link)
			}
		}
	}
	require.Greater(t, len(seen), 25)
	for _, path := range []string{"leaf", "rows", "pictures", "lines"} {
		require.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(kinds)), func(kind string) bool { return strings.HasPrefix(kind, "/"+path+"?") }), "no link leads to %s", path)
	}

	// Forms, labels of bars and tables of bins need no script.
	b.open("leaf?d=visits&k=chol")
	show(b, "0")
	require.Contains(t, b.text(".index"), pbcseq().column("chol")[0])
	label := `getComputedStyle(document.querySelector("svg.large g:nth-of-type(3) text")).visibility`
	require.Equal(t, "hidden", eval[string](b, label))
	eval[bool](b, `document.querySelector("svg.large g:nth-of-type(3)").focus(), true`)
	require.Equal(t, "visible", eval[string](b, label))
	b.touch(".read summary")
	require.True(t, eval[bool](b, `document.querySelector(".read details").open`))
	b.open("?d=growing")
	require.Contains(t, eval[string](b, badge), "reload")
}

// TestCommand opens the link that tdict view prints: the token becomes a cookie, and the address
// does not keep it.
func TestCommand(t *testing.T) {
	if browser == nil {
		t.Skip(noBrowser)
	}
	program := filepath.Join(t.TempDir(), "tdict")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/tdict")
	build.Dir = filepath.Join("..", "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.CommandContext(t.Context(), program, "view", save(t, "visits", visits(t)))
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	link, err := bufio.NewReader(pipe).ReadString('\n')
	require.NoError(t, err)
	u, err := url.Parse(strings.TrimSpace(link))
	require.NoError(t, err)
	require.NotEmpty(t, u.Query().Get("token"))

	b := newTab(t, u.Scheme+"://"+u.Host+"/")
	b.expect("status of 403")
	b.open("")
	require.NotContains(t, b.text("body"), "chol", "without the token")
	b.open(strings.TrimPrefix(u.RequestURI(), "/"))
	require.Equal(t, "visits directory", b.text("h1"))
	require.Empty(t, b.path(), "the address keeps no token")
	require.Empty(t, eval[string](b, "document.cookie"), "no script reads the cookie")
	b.click(`a.card[href*="k=chol"]`)
	require.Equal(t, "chol", b.text("h1"))

	b.open("")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(patience):
		t.Error("it does not end, with a stream open")
	}
	b.expect("ERR_") // the stream of the page ends
}
