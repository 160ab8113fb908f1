//go:build unix

package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// brain returns a sample of 8 bytes.
func brain() *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{"n": tensor.Must(tensor.From([]int64{5}, 1))}))
}

// makeBrains makes a cache in dir.
func makeBrains(t *testing.T, dir string, config samplecache.Config) {
	t.Helper()
	require.NoError(t, dircache.Create(filepath.Join(dir, "brains"), brain(), config))
}

// openBrains joins the cache in dir.
func openBrains(t *testing.T, dir string) *samplecache.Cache {
	t.Helper()
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: filepath.Join(dir, "brains")}, samplecache.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// putBrains puts samples under a name, which stays claimed.
func putBrains(t *testing.T, c *samplecache.Cache, name string, n int) {
	t.Helper()
	p, err := c.Producer(name)
	require.NoError(t, err)
	for range n {
		require.NoError(t, p.Put(t.Context(), brain()))
	}
}

var varies = regexp.MustCompile(`\b[0-9.]+(ns|µs|ms|s)\b`)

// TestCacheStatus prints the text about a cache in which producers wait.
func TestCacheStatus(t *testing.T) {
	dir := testkit.TempDir(t)
	makeBrains(t, dir, samplecache.Config{Samples: 2, Retain: -1, MaxHeld: 1, Limits: samplecache.Limits{MinPasses: 1}})
	require.Contains(t, command(t, dir, "cache", "status", "brains").stdout, "generation  none yet\n")
	c := openBrains(t, dir)
	for i := range 10 {
		putBrains(t, c, fmt.Sprintf("gen-%02d", i), 1)
	}
	g, err := c.Group("train", 2).Epoch(t.Context(), 0)
	require.NoError(t, err)
	defer g.Close()
	putBrains(t, c, "gen-10", 1)
	putBrains(t, c, "odd\x1b[2J", 1)
	putBrains(t, c, "gen-11", 2)
	got := command(t, dir, "cache", "status", "brains")
	require.Zero(t, got.code, got.stderr)
	got.stdout = strings.Replace(got.stdout, "readers that are not known", fmt.Sprintf("pid %d", os.Getpid()), 1) // on some systems
	text := strings.ReplaceAll(varies.ReplaceAllString(got.stdout, "TIME"), fmt.Sprintf("pid %d", os.Getpid()), "pid PID")
	require.Equal(t, `cache       brains
generation  6, published TIME ago in TIME
filling     generation 7: 2 of 2 samples, slots reserved: 0
room        8 B a sample, 16 B a generation, kept besides the latest: 0
held        generation 5 by pid PID
members     1: pid PID
producers   "gen-00": numbers below 1 are committed, pid PID
            "gen-01": numbers below 1 are committed, pid PID
            "gen-02": numbers below 1 are committed, pid PID
            "gen-03": numbers below 1 are committed, pid PID
            "gen-04": numbers below 1 are committed, pid PID
            "gen-05": numbers below 1 are committed, pid PID
            "gen-06": numbers below 1 are committed, pid PID
            "gen-07": numbers below 1 are committed, pid PID
            "gen-08": numbers below 1 are committed, pid PID
            "gen-09": numbers below 1 are committed, pid PID
            and 3 more: --json has them
groups      "train": 1 of 2 ranks, 0.0 passes over generation 6, 0 rows in all
waits       Producers wait for room: generation 7 is full and waits for group "train", which has taken 0 rows of generation 6, want 2 (MinPasses 1).
`, text)
}

// TestCacheStatusJSON compares a line of JSON with wirehead's names.
func TestCacheStatusJSON(t *testing.T) {
	dir := testkit.TempDir(t)
	makeBrains(t, dir, samplecache.Config{Samples: 2})
	c := openBrains(t, dir)
	putBrains(t, c, "gen", 3)
	p, err := c.Producer("")
	require.NoError(t, err)
	slot, err := p.Reserve(t.Context())
	require.NoError(t, err)
	defer slot.Abort()
	got := command(t, dir, "cache", "status", "brains", "--json", "--once")
	require.Equal(t, 1, strings.Count(got.stdout, "\n"), "one line")
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &line))
	for name, want := range map[string]any{
		"samples_started": 2., "samples_completed": 1., "in_flight": 1., "swap_cap": 2., "fill_pct": 50., "swap_count": 1.,
		"db_name": "brains", "generation": 1., "filling": 2., "sample_bytes": 8., "poll_interval": 0., "samples_per_s": 0.,
		"held": []any{}, "holders": []any{}, "groups": []any{},
		"waits": line["waits"].([]any),
	} {
		require.Equal(t, want, line[name], name)
	}
	require.Contains(t, line["waits"].([]any)[0], " is held, by pid ")
	require.InDelta(t, float64(time.Now().Unix()), line["swap_timestamp"], 60)
	require.InDelta(t, 0, line["time_since_last_swap"], 60)
	require.InDelta(t, 0, line["slots"].([]any)[0].(map[string]any)["for"], 60)
	require.Contains(t, line["producers"].([]any)[0], "window")
}

// TestCacheStatusRefuses has flags and places that are wrong.
func TestCacheStatusRefuses(t *testing.T) {
	dir := testkit.TempDir(t)
	makeBrains(t, dir, samplecache.Config{Samples: 2})
	require.NoError(t, os.Mkdir(filepath.Join(dir, "other"), 0o777))
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"brains --every 0", 2, "--every 0s: want more than 0"},
		{"brains --wait -5s", 2, "--wait -5s: want at least 0"},
		{"brains --metrics nowhere", 2, "--metrics: "},
		{"brains --metrics " + busy.Addr().String(), 3, "address already in use"},
		{"brains --creds x", 2, "are for nats://"},
		{"nats://a/b", 3, "this tdict has no NATS"},
		{"none", 3, "observe none: "},
		{"none", 3, ": --wait 10m waits until it is made"},
		{"other", 3, ": it is not a cache: tdict cache create makes one"},
		{"none --wait 500ms", 3, "--wait 500ms has passed: observe none: "}, // of which one look takes little
		{"none --watch", 3, "observe none: "},
	} {
		got := command(t, dir, append([]string{"cache", "status"}, strings.Fields(tt.args)...)...)
		require.Equal(t, tt.code, got.code, "%s: %+v", tt.args, got)
		require.Contains(t, got.stderr, tt.says, tt.args)
		require.Empty(t, got.stdout, tt.args)
	}
}

// A running is a command that runs until it gets SIGTERM.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Scanner // of standard output
	stderr *bufio.Reader
}

// startStatus starts tdict cache status in a directory.
func startStatus(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), executable(t), append([]string{"cache", "status"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	messages, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return &running{t, cmd, bufio.NewScanner(out), bufio.NewReader(messages)}
}

// until reads lines until one contains text, and returns it.
func (r *running) until(text string) string {
	r.t.Helper()
	for r.lines.Scan() {
		if strings.Contains(r.lines.Text(), text) {
			return r.lines.Text()
		}
	}
	rest, _ := io.ReadAll(r.stderr)
	require.Fail(r.t, "no line has "+text, string(rest))
	return ""
}

// end ends the command.
func (r *running) end() {
	r.t.Helper()
	require.NoError(r.t, r.cmd.Process.Signal(syscall.SIGTERM))
	for r.lines.Scan() {
	}
	require.NoError(r.t, r.cmd.Wait(), "exit code 0")
}

// TestCacheStatusWatch looks at a cache that comes, is filled, goes, and comes again.
func TestCacheStatusWatch(t *testing.T) {
	dir := testkit.TempDir(t)
	for _, json := range []bool{false, true} {
		words := []string{"none yet", "generation  1,", "away ", "none yet"}
		args := []string{"brains", "--watch", "--wait", "1m", "--every", "5ms"}
		if json {
			words = []string{`"generation":0`, `"generation":1`, `"error":"observe brains: `, `"generation":0`}
			args = append(args, "--json")
		}
		r := startStatus(t, dir, args...)
		makeBrains(t, dir, samplecache.Config{Samples: 2})
		r.until(words[0])
		c := openBrains(t, dir)
		putBrains(t, c, "gen", 2)
		r.until(words[1])
		require.NoError(t, errors.Join(c.Close(), os.RemoveAll(filepath.Join(dir, "brains"))))
		r.until(words[2])
		makeBrains(t, dir, samplecache.Config{Samples: 2})
		r.until(words[3])
		r.end()
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "brains")))
	}
}

// promLine is a line of the text format of Prometheus.
var promLine = regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="([^"\\\n]|\\.)*"(,[a-z]+="([^"\\\n]|\\.)*")*\})? [-+0-9.e]+)$`)

// TestCacheStatusMetrics asks for the metrics of a cache, and then takes the cache away.
func TestCacheStatusMetrics(t *testing.T) {
	dir := testkit.TempDir(t)
	makeBrains(t, dir, samplecache.Config{Samples: 2})
	c := openBrains(t, dir)
	putBrains(t, c, "a \"b\"\\\n", 5)
	r := startStatus(t, dir, "brains", "--metrics", ":0")
	r.until("generation  2,")
	line, err := r.stderr.ReadString('\n')
	require.NoError(t, err)
	_, url, _ := strings.Cut(strings.TrimSpace(line), "metrics on ")
	require.True(t, strings.HasPrefix(url, "http://127.0.0.1:"), line)
	ask := func() string {
		answer, err := http.Get(url)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			require.Regexp(t, promLine, strings.TrimSuffix(line, "\n"))
		}
		return string(text)
	}
	text := ask()
	for _, want := range []string{
		"tdict_cache_up 1\n", "# TYPE tdict_cache_puts_acked_total counter\ntdict_cache_puts_acked_total 5\n", "tdict_cache_bytes_total 40\n",
		"tdict_cache_fill 0.5\n", "tdict_cache_generation 2\n", "tdict_cache_swaps_total 2\n", "tdict_cache_in_flight 0\n",
		"tdict_cache_members{host=\"\"} 1\n", `tdict_cache_producer_puts_acked_total{producer="a \"b\"\\\n"} 5` + "\n",
		`tdict_cache_waits{for="room"} 0` + "\n", "tdict_cache_held 0\n",
	} {
		require.Contains(t, text, want)
	}
	require.NoError(t, errors.Join(c.Close(), os.RemoveAll(filepath.Join(dir, "brains"))))
	text = ask()
	require.Contains(t, text, "tdict_cache_up 0\n")
	require.NotContains(t, text, "tdict_cache_generation")
	r.end()
}

// TestLookout looks at a cache that has to be joined: it is joined once, until close.
func TestLookout(t *testing.T) {
	e, err := memcache.New(brain(), samplecache.Config{Samples: 2})
	require.NoError(t, err)
	l := &lookout{engine: e, name: "memory"}
	v := l.first(&session{ctx: t.Context()}, waitFlags{})
	for range 2 {
		before := v
		v = l.look(t.Context(), before)
		require.NoError(t, v.err)
		require.Len(t, v.stats.Members, 1)
		require.WithinDuration(t, v.at, before.at, time.Minute)
		require.Positive(t, v.snap.PollInterval)
	}
	require.Contains(t, v.text(), "rates       0 samples/s, 0 generations/s, 0 B/s\n")
	joined := v.stats.Members[0].For
	require.Greater(t, l.look(t.Context(), v).stats.Members[0].For, joined, "it is the same membership")
	l.close()
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	st, err := c.Stats()
	require.NoError(t, err)
	require.Len(t, st.Members, 1, "only this one")
}

// An awayEngine is a cache on servers that do not answer any more.
type awayEngine struct{ engine.Engine }

func (e awayEngine) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	s, err := e.Engine.Join(ctx, opt)
	return awaySession{s}, err
}

type awaySession struct{ engine.Session }

func (s awaySession) Stats(ctx context.Context) (engine.Stats, error) {
	<-ctx.Done()
	return engine.Stats{}, fmt.Errorf("%w: %w", context.Cause(ctx), engine.ErrUnavailable)
}

// TestLookoutAway looks at servers that do not answer: it says so before those who ask give up.
func TestLookoutAway(t *testing.T) {
	e, err := memcache.New(brain(), samplecache.Config{Samples: 2})
	require.NoError(t, err)
	was := lookPatience
	lookPatience = 10 * time.Millisecond
	defer func() { lookPatience = was }()
	require.Less(t, was, 5*time.Second)
	l := &lookout{engine: awayEngine{e}}
	require.ErrorIs(t, l.look(t.Context(), view{}).err, samplecache.ErrUnavailable)
	l.close()
}

// TestStatusText has what other tests do not print.
func TestStatusText(t *testing.T) {
	st := samplecache.Stats{Latest: 9, Filling: 10, Samples: 4, Bytes: 16_777_216, Held: []uint64{3}, Holders: []samplecache.HolderStats{{Generation: 3, PID: 7, Host: "a"}, {Generation: 3, PID: 8, Host: "b"}}}
	for i := range 25 {
		st.Members = append(st.Members, samplecache.MemberStats{PID: i + 1, Host: "ab"[i%2 : i%2+1]})
	}
	st.Producers = []samplecache.ProducerStats{{Name: "y", PID: 4, Host: "b"}, {Name: "x", Window: samplecache.Window{Floor: 7, Above: 0b110}}} // by name
	v := view{name: "n", stats: st}
	for _, want := range []string{
		"generation  9\n", "room        16.8 MB a sample, 67.1 MB a generation", "held        generation 3 by pid 7 on a, pid 8 on b\n",
		"members     a 13: pid 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 3 more; b 12: pid 2, 4,", "producers   \"x\": numbers below 7 are committed, and 2 above, not a member\n            \"y\": ",
		`"y": numbers below 0 are committed, pid 4 on b`,
	} {
		require.Contains(t, v.text(), want)
	}
	require.NotContains(t, v.text(), "waits")
	v.err = errors.New("gone\naway")
	require.Equal(t, "cache       n\naway        \"gone\\naway\"\n", v.text())
}

// memoryServers have one cache, in memory.
type memoryServers struct {
	Servers
	engine samplecache.Engine
}

func (m memoryServers) Engine(Remote) (samplecache.Engine, error) { return m.engine, nil }

// TestStatusOfServers looks at a cache on servers: the command has left it when it ends.
func TestStatusOfServers(t *testing.T) {
	e, err := memcache.New(brain(), samplecache.Config{Samples: 2})
	require.NoError(t, err)
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), memoryServers{engine: e}, []string{"cache", "status", "nats://host/brains"}, &stdout, &stderr)
	require.Zero(t, code, stderr.String())
	require.Contains(t, stdout.String(), "cache       nats://host/brains\ngeneration  none yet\nfilling     generation 1: 0 of 2 samples, slots reserved: 0\n")
	require.Contains(t, stdout.String(), fmt.Sprintf("members     1: pid %d\n", os.Getpid()), "itself")
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	st, err := c.Stats()
	require.NoError(t, err)
	require.Len(t, st.Members, 1, "the caller alone")
}

// TestScreenQuotes draws text that would command a terminal.
func TestScreenQuotes(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, (&screen{w}).draw("a\x1b[2J\nb\n"))
	require.NoError(t, w.Close())
	drawn, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "\x1b[Ha\\x1b[2J\x1b[K\nb\x1b[K\x1b[J", string(drawn))
}

// A silentEngine is a cache on servers that do not answer.
type silentEngine struct{ samplecache.Engine }

func (silentEngine) Join(ctx context.Context, _ engine.Options) (engine.Session, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", samplecache.ErrUnavailable, context.Cause(ctx))
}

// TestStatusOfSilentServers waits for servers no longer than --wait says.
func TestStatusOfSilentServers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, memoryServers{engine: silentEngine{}}, []string{"cache", "status", "nats://host/brains", "--wait", "30ms"}, &stdout, &stderr)
	require.Equal(t, 3, code, stderr.String())
	require.Equal(t, 1, strings.Count(stderr.String(), "--wait 30ms has passed"), stderr.String())
}

// A lateEngine is a cache that is made just as the wait for it ends.
type lateEngine struct {
	samplecache.Engine
	joined *bool
}

func (e lateEngine) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	if !*e.joined {
		*e.joined = true
		return nil, fs.ErrNotExist
	}
	<-ctx.Done()
	return e.Engine.Join(context.WithoutCancel(ctx), opt)
}

// TestStatusJustInTime sees a cache that is made as --wait passes.
func TestStatusJustInTime(t *testing.T) {
	e, err := memcache.New(sampleOf(t, 0), samplecache.Config{Samples: 3})
	require.NoError(t, err)
	l := &lookout{engine: lateEngine{e, new(bool)}}
	defer l.close()
	require.NoError(t, l.first(&session{ctx: t.Context()}, waitFlags{30 * time.Millisecond}).err)
}

// TestPlaceFiles names a file that is missing: no server is asked, and nothing is waited for.
func TestPlaceFiles(t *testing.T) {
	for _, flag := range []string{"--creds", "--ca", "--password-file"} {
		for _, wait := range []string{"0s", "1m"} {
			var stderr bytes.Buffer
			code := run(t.Context(), memoryServers{engine: silentEngine{}}, []string{"cache", "status", "nats://host/brains", flag, "none", "--wait", wait}, io.Discard, &stderr)
			require.Equal(t, 3, code, stderr.String())
			require.Regexp(t, "^tdict: cache status: (open|stat) none: no such file or directory\n$", stderr.String(), flag)
		}
	}
}

// TestStatusOfMirror looks at a mirror, whose process has reserved all slots, and puts into it.
func TestStatusOfMirror(t *testing.T) {
	dir := cacheIn(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c", "mirror.json"), []byte(`{"name":"brains","id":"x"}`), 0o666))
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: filepath.Join(dir, "c")}, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	p, err := c.Producer("")
	require.NoError(t, err)
	for range 4 {
		_, err := p.Reserve(t.Context())
		require.NoError(t, err)
	}
	got := command(t, dir, "cache", "status", "c").stdout
	require.Contains(t, got, "mirror      of the cache \"brains\" on servers, where its status says who waits\n")
	require.NotContains(t, got, "waits       ")
	require.Contains(t, command(t, dir, "cache", "status", "c", "--json", "--once").stdout, `"waits":[]`)
	put := command(t, dir, "cache", "put", "c", "--", "true")
	require.Equal(t, result{3, "", "tdict: cache put: c is a mirror of the cache \"brains\" on servers: put into that, at nats://HOST/brains\n"}, put)
}

// TestMirrored looks at directories whose mirror.json is none. A pipe hangs nobody.
func TestMirrored(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"none":      func(string) error { return nil },
		"directory": func(path string) error { return os.Mkdir(path, 0o777) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"huge": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat(" ", 1<<16)+`{"name":"x"}`), 0o666)
		},
		"text":   func(path string) error { return os.WriteFile(path, []byte("name"), 0o666) },
		"array":  func(path string) error { return os.WriteFile(path, []byte("[1]"), 0o666) },
		"number": func(path string) error { return os.WriteFile(path, []byte(`{"name":5}`), 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, make(filepath.Join(dir, "mirror.json")))
			got := ""
			done := func() bool { got = (&placeFlags{Place: place(dir)}).mirrored(); return true }
			require.Eventually(t, done, time.Minute, time.Millisecond)
			require.Empty(t, got)
		})
	}
}
