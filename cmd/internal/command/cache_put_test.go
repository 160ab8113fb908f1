//go:build unix

package command

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sampleOf returns a sample with the label n.
func sampleOf(t testing.TB, n int) *tdict.TensorDict {
	td := tdict.New()
	require.NoError(t, td.Set("obs/image", tensor.Must(tensor.Vector(bytes.Repeat([]byte{byte(n)}, 1000)...).Reshape(10, 100))))
	require.NoError(t, td.Set("label", tensor.Must(tensor.Vector(int64(n)).Reshape())))
	return td
}

// frameOf returns the length and the safetensors file of a sample.
func frameOf(t testing.TB, td *tdict.TensorDict) []byte {
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, td, safetensors.SaveOptions{}))
	return append(binary.LittleEndian.AppendUint64(nil, uint64(b.Len())), b.Bytes()...)
}

// cacheIn makes a directory with the cache c of generations of 4 samples, and files with the frames
// of samples 0 to 19.
func cacheIn(t testing.TB) (dir string) {
	dir = testkit.TempDir(t)
	for n := range 20 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), frameOf(t, sampleOf(t, n)), 0o666))
	}
	require.NoError(t, dircache.Create(filepath.Join(dir, "c"), sampleOf(t, 0), samplecache.Config{Samples: 4, Retain: 8}))
	return dir
}

// quick shortens the times that programs are waited for.
func quick(t testing.TB) {
	pause, wait := firstPause, claimWait
	firstPause, claimWait = time.Millisecond, 50*time.Millisecond
	t.Cleanup(func() { firstPause, claimWait = pause, wait })
}

// putIn returns the labels of all published samples, in order, and how many samples are committed
// in all.
func putIn(t testing.TB, dir string) (all []int64, committed int) {
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: filepath.Join(dir, "c")}, samplecache.Options{Verify: samplecache.Always})
	require.NoError(t, err)
	defer c.Close()
	s, err := c.Stats()
	require.NoError(t, err)
	for id := uint64(1); id <= s.Latest; id++ {
		g, err := c.At(t.Context(), id)
		require.NoError(t, err)
		td, err := g.Slice(0, g.Len())
		require.NoError(t, err)
		x, err := td.Tensor("label")
		require.NoError(t, err)
		all = append(all, testkit.Elements[int64](t, x)...)
		require.NoError(t, g.Close())
	}
	return all, int(s.Latest)*s.Samples + s.Committed
}

// put runs cache put with a bash program.
func put(ctx context.Context, t testing.TB, dir, flags, program string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"cache", "put", filepath.Join(dir, "c")}, strings.Fields(flags)...)
	code := run(ctx, nil, append(args, "--", "bash", "-c", "cd "+dir+"; "+program), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// TestPut has programs that end well, and programs that fail.
func TestPut(t *testing.T) {
	quick(t)
	for _, tt := range []struct {
		name    string
		flags   string
		program string
		code    int
		says    string // a regular expression
		samples int
	}{
		{"no sample", "", "true", 0, `samples put: 0\n$`, 0},
		{"samples", "", "cat 0 1 2 3 4 5", 0, `^tdict: cache put: samples put: 6\n$`, 6},
		{"two programs", "--name gen -n 2", "cat 0 1 2", 0, `samples put: 6\n`, 6},
		{"the environment", "--name gen -n 2", `echo "$TDICT_PRODUCER $TDICT_NUMBER $TDICT_INDEX" >&2`, 0, `(?m)^0: gen-0 0 0$`, 0},
		{"the environment of one program", "--name gen", `echo "$TDICT_PRODUCER $TDICT_NUMBER $TDICT_INDEX" >&2`, 0, `0: gen 0 0\n`, 0},
		{"no name", "", `echo "<$TDICT_PRODUCER> $TDICT_NUMBER" >&2`, 0, `0: <> 0\n`, 0},
		{"a limit", "--name gen --limit 3 --grace 100ms", "cat 0 1 2 3; trap '' TERM; sleep 99; echo late >&2", 0, `samples put: 3\n$`, 3},
		{"it goes on at its number", "--name gen --restart 3", `cat $TDICT_NUMBER $((TDICT_NUMBER + 1)); test $TDICT_NUMBER = 8`, 0, `before sample 4: exit status 1; starting it again in 1ms\n(?s).*samples put: 10, failures of programs: 4\n$`, 10},
		{"it fails too often", "--name gen --restart 2", `echo "line $TDICT_NUMBER" >&2; exit 7`, 3, `program 0 \(gen\): it ended before sample 0: exit status 7; its last lines: "line 0"\n.*samples put: 0, failures of programs: 3\n$`, 0},
		{"it cannot be started", "--restart 0", "exec nothing", 3, `exit status 127`, 0},
		{"it writes 4 bytes too few", "--restart 2", "head -c -4 0; cat 1 2; sleep 99", 3, `(?s)sample 1: corrupt: .*sample 3: corrupt: .*samples put: 3, failures of programs: 3\n$`, 3},

		{"a length of 2^63", "--restart 0", `printf '\0\0\0\0\0\0\0\x80'; sleep 99`, 3, `sample 0: corrupt: got a length of 9223372036854775808 bytes, the bytes "\\x00.*", want at most`, 0},
		{"a length of 0", "--restart 0", `printf '\0\0\0\0\0\0\0\0'; sleep 99`, 3, `sample 0: read: corrupt: got a file of 0 bytes.*; text belongs on standard error: it was ended\n`, 0},
		{"a length of 0 after a sample", "--restart 0", `cat 0; printf '\0\0\0\0\0\0\0\0'; sleep 99`, 3, `sample 1: read: corrupt: .*; the sample before has other bytes if its length was wrong: it was ended\n`, 1},
		{"a shorter length", "--restart 0", `(printf '\x10'; tail -c +2 0); sleep 99`, 3, `sample 0: read: .*: corrupt: got`, 0},
		{"a longer length", "--restart 0", `(printf '\xff'; tail -c +2 0); sleep 99`, 3, `sample 0: read: .*: corrupt: got`, 0},
		{"text", "--restart 0", "cat 0; echo 'Epoch 1: loss 0.5'; sleep 99", 3, `sample 1: corrupt: got a length of .*, the bytes "Epoch 1:", .*; text belongs on standard error: it was ended\n`, 1},
		{"cut in the length", "--restart 0", "cat 0; printf 'abc'", 3, `sample 1: unexpected EOF: its output ended after 3 bytes, "abc", of a length of 8 bytes: exit status 0`, 1},
		{"cut in the header", "--restart 0", "cat 0; head -c 30 1", 3, `sample 1: read: unexpected EOF: its output ended within the sample: exit status 0`, 1},
		{"killed in the data", "--restart 0", "cat 0; head -c 600 1; echo oh >&2; kill -9 $$", 3, `sample 1: .*: its output ended within the sample: signal: killed; its last lines: "oh"`, 1},
		{"fails after a sample", "--restart 0", "cat 0; exit 3", 3, `it ended before sample 1: exit status 3\n`, 1},

		{"closes its output and lives on", "--restart 0 --grace 100ms", "cat 0; exec >&-; exec sleep 99", 3, `sample 1: it has closed its output, and did not end within --grace 100ms: it was ended\n`, 1},
		{"and ends soon", "--restart 0", "cat 0; exec >&-; exec sleep 0.05", 0, `samples put: 1\n$`, 1},
		{"forks and exits", "--restart 0", "(sleep 99; cat 1) & cat 0", 0, `samples put: 1\n$`, 1},
		{"starts a daemon, which has the output", "--restart 0", "setsid sleep 99 & sleep 0.05; cat 0", 0, `samples put: 1\n$`, 1},
		{"long lines of errors", "--restart 0", `head -c 5000 /dev/zero | tr '\0' x >&2; printf '\a\r50 %%\r\n' >&2; cat 0; exit 1`, 3, `x\\a\n0: 50 %\n(?s).*; its last lines: "x{200}…" "x{200}…" "50 %"\n[^\n]*samples put: 1, failures of programs: 1\n$`, 1},
		{"much on standard error", "", "head -c 20000000 /dev/zero | tr '\\0' '\\n' >&2; cat 0", 0, `samples put: 1\n`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := cacheIn(t)
			began := time.Now()
			got := put(t.Context(), t, dir, tt.flags, tt.program)
			require.Equal(t, tt.code, got.code, got.stderr)
			require.Regexp(t, tt.says, got.stderr)
			require.Empty(t, got.stdout)
			require.Less(t, time.Since(began), time.Minute, "the sleeps are not waited for")
			_, committed := putIn(t, dir)
			require.Equal(t, tt.samples, committed)
			require.NoError(t, dircache.Remove(filepath.Join(dir, "c")), "nothing is held")
		})
	}
}

// TestPutSamples compares the labels in the cache with the labels that the program has written.
func TestPutSamples(t *testing.T) {
	dir := cacheIn(t)
	require.Equal(t, 0, put(t.Context(), t, dir, "--name gen", "cat 0 1 2 3 4 5").code)
	require.Equal(t, 0, put(t.Context(), t, dir, "--name gen", `test $TDICT_NUMBER = 6; cat 6 7`).code)
	got, _ := putIn(t, dir)
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6, 7}, got)
	require.Equal(t, result{}, command(t, dir, "cache", "keep", "c", "2", "kept"))
	require.Contains(t, command(t, dir, "head", "kept", "label", "-n", "4").stdout, "[4 5 6 7]")
}

// TestPutRefuses has command lines that are wrong.
func TestPutRefuses(t *testing.T) {
	dir := cacheIn(t)
	quick(t)
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"c", 2, "program"},
		{"c --", 2, "want a program after --"},
		{"c -n 0 -- true", 2, "-n 0: want 1 to 4096"},
		{"c --restart -1 -- true", 2, "--restart -1"},
		{"c --limit 3 -- true", 2, "--limit needs --name"},
		{"c --wait -1s -- true", 2, "--wait -1s: want at least 0"},
		{"none -- true", 3, "none"},
		{"0 -- true", 3, "0"},
		{"c -- nothing-of-the-kind", 3, "cannot be started: exec: "},
		{"none --wait 500ms -- true", 3, "--wait 500ms has passed: open none: "},
		{"nats://127.0.0.1/c -- true", 3, "this tdict has no NATS"},
		{"c --creds x -- true", 2, "--password-file, --creds and --ca are for nats://"},
	} {
		got := command(t, dir, append([]string{"cache", "put"}, strings.Fields(tt.args)...)...)
		require.Equal(t, tt.code, got.code, "%s: %+v", tt.args, got)
		require.Contains(t, got.stderr, tt.says, tt.args)
	}
}

// TestPutWaits starts before the cache is made.
func TestPutWaits(t *testing.T) {
	dir := cacheIn(t)
	t.Chdir(dir)
	require.NoError(t, os.Rename("c", "made"))
	go func() {
		time.Sleep(20 * time.Millisecond) // to be slower than the first look; nothing depends on it
		_ = os.Rename("made", "c")
	}()
	require.Equal(t, 0, put(t.Context(), t, dir, "--wait 1m", "cat 0").code)
	_, committed := putIn(t, dir)
	require.Equal(t, 1, committed)
}

// TestPutOneName has a name that another process has.
func TestPutOneName(t *testing.T) {
	quick(t)
	dir := cacheIn(t)
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: filepath.Join(dir, "c")}, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Producer("gen-1")
	require.NoError(t, err)
	got := put(t.Context(), t, dir, "--name gen -n 2", "cat 0")
	require.Equal(t, 3, got.code)
	busy := fmt.Sprintf(`tdict: cache put: producer "gen-1": producer is in use by pid %d`, os.Getpid())
	require.Equal(t, busy+": waiting for it\n"+busy+"\n", got.stderr)
}

// ended is a context that the caller ends as SIGTERM does.
func ended(t testing.TB) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(t.Context())
	return ctx, func() { cancel(fmt.Errorf("terminated signal received")) }
}

// TestPutEnds ends put while a sample is read: the sample is put, and the program gets SIGTERM.
func TestPutEnds(t *testing.T) {
	quick(t)
	for _, tt := range []struct {
		name    string
		flags   string
		program string
		before  int // samples committed before the signal
		samples int
		says    string
	}{
		{"in a sample", "", "trap 'echo bye >&2; exit 1' TERM; head -c 600 0; touch at; until test -e go; do sleep 0.01; done; tail -c +601 0; cat 1 2; sleep 10 & wait", 0, 1, "0: bye\n"},
		{"between samples, in time", "", "cat 0; touch at; until test -e go; do sleep 0.01; done; cat 1; sleep 99", 1, 2, ""},
		{"between samples, too late", "--grace 100ms", "cat 0; touch at; sleep 99", 1, 1, ""},
		{"in a sample, too late", "--grace 100ms", "cat 0; head -c 600 1; touch at; sleep 99", 1, 1, ""},
		{"the program ignores SIGTERM", "--grace 100ms", "trap '' TERM; cat 0; touch at; while true; do sleep 99; done", 1, 1, ""},
		{"the program has ended, too", "", "trap 'exit 0' TERM; touch at; kill -TERM $$; sleep 99", 0, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := cacheIn(t)
			ctx, end := ended(t)
			go func() {
				for ctx.Err() == nil {
					_, stats, failed := dircache.Engine{Dir: filepath.Join(dir, "c")}.Observe(ctx)
					if _, err := os.Stat(filepath.Join(dir, "at")); err == nil && failed == nil && stats.Committed >= tt.before {
						end()
						_ = os.WriteFile(filepath.Join(dir, "go"), nil, 0o666)
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
			got := put(ctx, t, dir, tt.flags, tt.program)
			require.Equal(t, 0, got.code, got.stderr)
			require.Contains(t, got.stderr, tt.says)
			_, committed := putIn(t, dir)
			require.Equal(t, tt.samples, committed, got.stderr)
		})
	}
}

// TestPutEndsEarly ends put before it has started a program: nothing was to be put.
func TestPutEndsEarly(t *testing.T) {
	dir := cacheIn(t)
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: filepath.Join(dir, "c")}, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Producer("taken")
	require.NoError(t, err)
	early := func(flags string) {
		ctx, end := ended(t)
		time.AfterFunc(100*time.Millisecond, end)
		got := put(ctx, t, dir, flags, "cat 0")
		require.Equal(t, 0, got.code, got.stderr)
		require.NotContains(t, got.stderr, "terminated")
	}
	early("--name taken")
	require.NoError(t, os.Rename(filepath.Join(dir, "c"), filepath.Join(dir, "away")))
	early("--wait 1m")
}

// A goneEngine is a cache on servers that go away while a name is claimed; then SIGTERM comes.
type goneEngine struct {
	engine.Engine
	end func()
}

func (e goneEngine) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	s, err := e.Engine.Join(ctx, opt)
	return goneSession{s, e.end}, err
}

type goneSession struct {
	engine.Session
	end func()
}

func (s goneSession) Claim(context.Context, string) (engine.Claim, error) {
	s.end()
	return nil, engine.ErrUnavailable
}

// TestPutEndsAway ends put while it claims a name and the servers are away: nothing was to be put.
func TestPutEndsAway(t *testing.T) {
	e, err := memcache.New(sampleOf(t, 0), samplecache.Config{Samples: 2})
	require.NoError(t, err)
	ctx, end := ended(t)
	var stdout, stderr bytes.Buffer
	code := run(ctx, memoryServers{engine: goneEngine{e, end}}, []string{"cache", "put", "nats://host/c", "--name", "gen", "--", "cat"}, &stdout, &stderr)
	require.Zero(t, code, stderr.String())
	require.Empty(t, stderr.String())
}

// TestPutFailedBefore ends put after one of two programs has failed too often. That was said at
// once, and the exit code says so, too.
func TestPutFailedBefore(t *testing.T) {
	quick(t)
	dir := cacheIn(t)
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: filepath.Join(dir, "c")}, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	ctx, end := ended(t)
	go func() {
		for st, err := c.Stats(); err == nil && st.Committed == 0; st, err = c.Stats() {
			time.Sleep(time.Millisecond)
		}
		time.AfterFunc(time.Second, end) // the other one has failed, too
	}()
	got := put(ctx, t, dir, "-n 2 --restart 0 --grace 100ms", "if test $TDICT_INDEX = 0; then exit 7; fi; cat 0; sleep 99")
	require.Equal(t, 3, got.code)
	require.Equal(t, "tdict: cache put: program 0: it ended before sample 0: exit status 7\n"+
		"tdict: cache put: stopping: waiting up to 100ms for the samples at hand; another signal ends it at once\n"+
		"tdict: cache put: samples put: 1, failures of programs: 1\n", got.stderr)
}

// TestPutBackPressure puts into a cache that has no room, since a slot is held: the program draws
// one sample, and is not read on. Its sample is given up at the end of --grace.
func TestPutBackPressure(t *testing.T) {
	quick(t)
	dir := cacheIn(t)
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: filepath.Join(dir, "c")}, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	p, err := c.Producer("")
	require.NoError(t, err)
	slot, err := p.Reserve(t.Context())
	require.NoError(t, err)
	ctx, end := ended(t)
	go func() {
		for {
			if s, err := c.Stats(); err != nil || s.Committed == 3 {
				end()
				return
			}
		}
	}()
	got := put(ctx, t, dir, "--name gen --grace 100ms", "cat 0 1 2 3 4 5 > all; cat all; sleep 99") // with one write, before it can be stopped
	require.Equal(t, 0, got.code)
	require.Contains(t, got.stderr, `sample 3: reserve: --grace 100ms has passed: blocked: waiting for a free slot: 3 of 4 samples of generation 1 are committed, and slot 0 is held, by pid `)
	require.NoError(t, slot.Abort())
	_, committed := putIn(t, dir)
	require.Equal(t, 3, committed)
}

// TestPutRemoved removes the cache under put.
func TestPutRemoved(t *testing.T) {
	quick(t)
	dir := cacheIn(t)
	got := put(t.Context(), t, dir, "-n 2", "if test $TDICT_INDEX = 0; then rm -r c; cat 0 1 2 3 4 5 6 7; fi; sleep 99")
	require.Equal(t, 3, got.code)
	require.Regexp(t, `^tdict: cache put: samples put: \d\ntdict: cache put: .*removed or replaced\n$`, got.stderr)
}

// TestPutKilled kills put with SIGKILL: its programs die, too.
func TestPutKilled(t *testing.T) {
	dir := cacheIn(t)
	cmd := exec.CommandContext(t.Context(), executable(t), "cache", "put", "c", "--name", "gen", "-n", "2", "--", "bash", "-c", "echo pid $$ >&2; cat 0; sleep 100; cat 1")
	cmd.Dir = dir
	var stderr lockedBuffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	pids := regexp.MustCompile(`pid (\d+)`)
	require.Eventually(t, func() bool { return len(pids.FindAllString(stderr.String(), -1)) == 2 }, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait()
	for _, found := range pids.FindAllStringSubmatch(stderr.String(), -1) {
		pid, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH || zombie(pid) }, time.Minute, time.Millisecond, "pid %d lives", pid)
	}
}

// TestPutSIGPIPE has a program that ends only by a signal when nobody reads its output.
func TestPutSIGPIPE(t *testing.T) {
	dir := cacheIn(t)
	cmd := exec.CommandContext(t.Context(), executable(t), "cache", "put", "c", "--restart", "0", "--", "bash", "-c", "trap '' TERM; printf 12345678; while true; do echo; done 2>/dev/null")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "signal: broken pipe")
}

// zombie reports whether a process has ended and nobody has waited for it.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(text, []byte(") Z "))
}

// A lockedBuffer is a buffer that is read while a process writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
