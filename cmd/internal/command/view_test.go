package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// A viewer is tdict view, which runs, and a browser of its user.
type viewer struct {
	link   string
	client *http.Client
	end    func() result // ends the command; standard output is without the link
}

// startView runs tdict view in a directory, and waits for its link.
func startView(t *testing.T, dir string, args ...string) viewer {
	t.Helper()
	t.Chdir(dir)
	ctx, cancel := context.WithCancel(t.Context())
	stdout, write := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, nil, append([]string{"view"}, args...), write, &stderr)
		_ = write.Close()
	}()
	lines := bufio.NewReader(stdout)
	link, err := lines.ReadString('\n')
	if err != nil {
		require.FailNow(t, "no link", "exit code %d: %s", <-code, stderr.String())
	}
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	return viewer{strings.TrimSpace(link), client, func() result {
		cancel()
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		return result{<-code, string(rest), stderr.String()}
	}}
}

// get returns the page at an address.
func (v *viewer) get(t *testing.T, address string) (int, string) {
	t.Helper()
	got, err := v.client.Get(address)
	require.NoError(t, err)
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return got.StatusCode, string(body)
}

func TestView(t *testing.T) {
	dir := testkit.TempDir(t)
	visits(t, dir)
	for _, form := range []string{"visits", "visits.tdz", "visits.tdc", "visits.jsonl"} {
		require.Equal(t, 0, command(t, dir, "convert", "visits.csv", form).code, form)
	}
	require.Equal(t, 0, command(t, dir, "convert", "visits", "day.npz", "--lossy").code)
	tmp := filepath.Join(dir, "tmp")
	require.NoError(t, os.Mkdir(tmp, 0o777))
	t.Setenv("TMPDIR", tmp)

	paths := []string{"visits", "visits.tdz", "visits.tdc", "visits.csv", "visits.jsonl", "day.npz"}
	v := startView(t, dir, paths...)
	code, _ := v.get(t, strings.ReplaceAll(v.link, "token=", "token=x"))
	require.Equal(t, http.StatusForbidden, code)
	code, page := v.get(t, v.link)
	require.Equal(t, http.StatusOK, code)
	for _, path := range paths {
		require.Contains(t, page, path)
	}
	kept, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.NotEmpty(t, kept, "tables are converted")

	got := v.end()
	require.Equal(t, 0, got.code, got.stderr)
	require.Empty(t, got.stdout, "the link is the only line")
	for _, path := range paths {
		require.Contains(t, got.stderr, "tdict: view: serving "+path+"\n")
	}
	at, err := url.Parse(v.link)
	require.NoError(t, err)
	_, err = net.Dial("tcp", at.Host)
	require.Error(t, err, "it has ended")
	kept, err = os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, kept, "tables are removed")
}

// TestViewDamaged has a dataset that does not open beside one that does.
func TestViewDamaged(t *testing.T) {
	dir := testkit.TempDir(t)
	visits(t, dir)
	require.Equal(t, 0, command(t, dir, "convert", "visits.csv", "visits").code)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cut.tdz"), []byte("PK"), 0o666))
	v := startView(t, dir, "cut.tdz", "visits")
	_, page := v.get(t, v.link+"&d=cut.tdz")
	require.Contains(t, page, "got a file of 2 bytes")
	require.NotContains(t, page, dir)
	code, page := v.get(t, v.link+"&d=visits")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, page, "alk.phos")
	require.Equal(t, 0, v.end().code)
}

func TestViewRefuses(t *testing.T) {
	dir := testkit.TempDir(t)
	for name, text := range map[string]string{"broken.npz": "PK", "a.csv": "x\n1\n", "note.txt": "a note"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	require.NoError(t, err)
	tests := []struct {
		name string
		args string
		code int
		says string
	}{
		{"no path", "", 2, "path"},
		{"an empty path", "a.csv ''", 2, "empty value"},
		{"a path that does not exist", "a.csv nowhere", 3, "tdict: view: stat nowhere: no such file or directory\n"},
		{"one with a form that does not exist", "nowhere --from directory", 3, "tdict: view: stat nowhere: no such file or directory\n"},
		{"a file that is damaged", "broken.npz", 3, "tdict: view: "},
		{"a form that nobody knows", "note.txt", 3, "unknown form"},
		{"a flag for tables without one", "broken.npz --comma ;", 3, "--comma is for csv"},
		{"a port beyond the last", "a.csv --port 65536", 2, "tdict: view: --port takes 0 to 65535, got 65536; see tdict view --help\n"},
		{"a negative port", "a.csv --port -1", 2, "--port takes 0 to 65535, got -1"},
		{"a port that is taken", "a.csv --port " + port, 3, "127.0.0.1:" + port},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := strings.Fields("view " + tt.args)
			for i := range args {
				args[i] = strings.Trim(args[i], "'")
			}
			got := command(t, dir, args...)
			require.Equal(t, tt.code, got.code, got.stderr)
			require.Contains(t, got.stderr, tt.says)
			require.Empty(t, got.stdout)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
		})
	}
}

// TestViewPort serves on the port of the flag.
func TestViewPort(t *testing.T) {
	dir := testkit.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.csv"), []byte("x\n1\n"), 0o666))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := free.Addr().(*net.TCPAddr).Port
	require.NoError(t, free.Close())
	v := startView(t, dir, "a.csv", "--port", fmt.Sprint(port))
	require.True(t, strings.HasPrefix(v.link, fmt.Sprintf("http://127.0.0.1:%d/?token=", port)), v.link)
	require.Equal(t, 0, v.end().code)
}

// TestViewSkip leaves out what Python has pickled.
func TestViewSkip(t *testing.T) {
	dir := testkit.TempDir(t)
	files := map[string]string{
		"meta.json":      `{"a":{"device":"cpu","shape":[1],"dtype":"torch.uint8"},"p":{"type":"NonTensorData"},"shape":[1],"device":null,"_type":"<class 'tensordict._td.TensorDict'>"}`,
		"a.memmap":       "x",
		"p/meta.json":    `{"_type":"<class 'tensordict.tensorclass.NonTensorData'>","_is_non_tensor":true}`,
		"p/other.pickle": "pickled",
	}
	for name, text := range files {
		path := filepath.Join(dir, "d", filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	v := startView(t, dir, "d")
	_, page := v.get(t, v.link)
	require.Contains(t, page, "See the rest: tdict view d --skip-unsupported")
	require.Equal(t, 0, v.end().code)
	v = startView(t, dir, "d", "--skip-unsupported")
	code, page := v.get(t, v.link)
	require.Equal(t, http.StatusOK, code, page)
	require.Contains(t, page, "uint8")
	require.Contains(t, v.end().stderr, "left out p")
}
