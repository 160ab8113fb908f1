package natscache_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// marked returns the sample with a number of a producer. Its elements are computed from both.
func marked(name string, number uint64, size int) *tdict.TensorDict {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	rng, body := rand.New(rand.NewPCG(h.Sum64(), number)), make([]byte, size)
	for i := 0; i+8 <= size; i += 8 {
		v := rng.Uint64()
		for j := range 8 {
			body[i+j] = byte(v >> (8 * j))
		}
	}
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"body": tensor.Must(tensor.From(body, size)), "number": tensor.Scalar(number),
	}))
}

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// soon returns a context that ends if the test hangs.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until holds returns true, for as long as most.
func eventually(t testing.TB, most time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			require.FailNow(t, "not after "+most.String(), what)
		}
	}
}

// again calls fn until its error is not about servers that do not answer.
func again[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	for {
		v, err := fn()
		if !errors.Is(err, samplecache.ErrUnavailable) && !errors.Is(err, samplecache.ErrProducerBusy) || ctx.Err() != nil {
			return v, err
		}
		time.Sleep(time.Millisecond)
	}
}

// join joins a cache until the test ends.
func join(t testing.TB, e natscache.Engine) *samplecache.Cache {
	t.Helper()
	ctx := soon(t)
	c, err := again(ctx, func() (*samplecache.Cache, error) { return samplecache.Open(ctx, e, samplecache.Options{}) })
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // ErrClosed if the test did
	return c
}

// producer returns a producer, whose name a process that is dead may still have for a while.
func producer(t testing.TB, c *samplecache.Cache, name string) *samplecache.Producer {
	t.Helper()
	p, err := again(soon(t), func() (*samplecache.Producer, error) { return c.Producer(name) })
	require.NoError(t, err)
	return p
}

// audited is the config of a cache whose generations are all kept, up to 17 of them.
func audited(samples int) natscache.Config {
	c := natscache.Config{Lease: lease}
	c.Samples, c.Retain = samples, 16
	return c
}

// audit completes the generation that is being filled, and reads all generations. Each producer
// must have put the numbers from 0 on, each once, and at least as many as were acknowledged. It
// returns the numbers of samples.
func audit(t testing.TB, c *samplecache.Cache, size int, acknowledged map[string]uint64) map[string]uint64 {
	t.Helper()
	filler := producer(t, c, "filler")
	for {
		s, err := c.Stats()
		require.NoError(t, err)
		if s.Committed == 0 {
			break
		}
		require.NoError(t, filler.Put(soon(t), marked("filler", filler.Next(), size)))
	}
	require.NoError(t, filler.Close())
	s, err := c.Stats()
	require.NoError(t, err)
	found := map[string]map[uint64]uint64{}
	for id := uint64(1); id <= s.Latest; id++ {
		g, err := c.At(soon(t), id)
		require.NoError(t, err)
		for row := range g.Len() {
			about, err := g.Info(row)
			require.NoError(t, err)
			td, err := g.Fetch(soon(t), []int{row}, nil)
			require.NoError(t, err)
			body, err := tdict.Slice[uint8](td, "body")
			require.NoError(t, err)
			want, err := tdict.Slice[uint8](marked(about.Producer, about.Number, size), "body")
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, body), "row %d of generation %d is not sample %d of %q", row, id, about.Number, about.Producer)
			if found[about.Producer] == nil {
				found[about.Producer] = map[uint64]uint64{}
			}
			require.Zero(t, found[about.Producer][about.Number], "sample %d of %q is in generation %d too", about.Number, about.Producer, id)
			found[about.Producer][about.Number] = id
		}
		require.NoError(t, g.Close())
	}
	counts := map[string]uint64{}
	for name, n := range acknowledged {
		counts[name] = uint64(len(found[name]))
		require.GreaterOrEqual(t, counts[name], n, "samples of %q that were acknowledged", name)
		for number := range counts[name] {
			require.NotZero(t, found[name][number], "sample %d of %q is missing, and there are %d", number, name, counts[name])
		}
	}
	return counts
}

// workerVariable is the environment variable that makes a process of this test a worker: a job as
// JSON.
const workerVariable = "NATSCACHE_TEST_WORKER"

// A job says what a worker does. Its role is the name of a function in jobs.
type job struct {
	Role, URL, Place, Name string
	Size                   int
	Number                 uint64
	Mirror                 string
}

// jobs are functions that a worker runs until the end, or until an error.
var jobs = map[string]func(w *work) error{
	"put": (*work).put, "reserve": (*work).reserve, "hold": (*work).hold, "rank": (*work).rank,
	"mirror": (*work).mirror, "see": (*work).see, "visit": (*work).visit,
}

// A work is a job in its process.
type work struct {
	job
	c  *samplecache.Cache
	in *bufio.Scanner
}

func workHere(is string) {
	w := &work{in: bufio.NewScanner(os.Stdin)}
	err := json.Unmarshal([]byte(is), &w.job)
	if err == nil {
		ctx, e := context.Background(), natscache.Engine{URL: w.URL, Name: w.Place, Mirror: w.Mirror}
		w.c, err = again(ctx, func() (*samplecache.Cache, error) { return samplecache.Open(ctx, e, samplecache.Options{}) })
	}
	if err == nil {
		err = jobs[w.Role](w)
	}
	fmt.Println("end", err)
}

// listen waits for a line from the test. At the end of the test the process ends.
func (w *work) listen() {
	if !w.in.Scan() {
		os.Exit(0)
	}
}

func (w *work) producer() (*samplecache.Producer, error) {
	return again(context.Background(), func() (*samplecache.Producer, error) { return w.c.Producer(w.Name) })
}

// put puts samples until the test ends, or as many as Number, and says which were acknowledged, and
// after how long.
func (w *work) put() error {
	if w.Number == 0 {
		go func() { w.listen(); os.Exit(0) }()
	}
	p, err := w.producer()
	if err != nil {
		return err
	}
	for number := p.Next(); w.Number == 0 || number < w.Number; number++ {
		began := time.Now()
		for {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			err := p.PutAt(ctx, number, marked(w.Name, number, w.Size))
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, samplecache.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("put %d: %w", number, err)
			}
		}
		fmt.Println("put", number, time.Since(began).Milliseconds())
	}
	return w.c.Close()
}

// reserve reserves and writes a sample, waits for the test, and commits it.
func (w *work) reserve() error {
	p, err := w.producer()
	if err != nil {
		return err
	}
	s, err := p.ReserveAt(context.Background(), w.Number)
	if err != nil {
		return err
	}
	if err := s.Sample().UpdateInPlace(marked(w.Name, w.Number, w.Size)); err != nil {
		return err
	}
	fmt.Println("ready", w.Number)
	w.listen()
	_, err = again(context.Background(), func() (bool, error) { return true, s.Commit(context.Background()) })
	fmt.Println("committed", err)
	return errors.Join(err, w.c.Close())
}

// hold holds the latest generation, waits for the test, and reads it.
func (w *work) hold() error {
	g, err := w.c.Latest(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("ready", g.ID())
	w.listen()
	_, err = again(context.Background(), func() (*tdict.TensorDict, error) { return g.Fetch(context.Background(), []int{0, 1}, nil) })
	fmt.Println("read", errors.Is(err, samplecache.ErrGenerationGone), err)
	return w.c.Close()
}

// rank is a rank of a group of Number ranks. It makes a pass each time that the test says so.
func (w *work) rank() error {
	for epoch := uint64(0); ; epoch++ {
		g, err := again(context.Background(), func() (*samplecache.Generation, error) {
			return w.c.Group(w.Name, int(w.Number)).Epoch(context.Background(), epoch)
		})
		if err != nil {
			return err
		}
		fmt.Println("ready", g.ID())
		w.listen()
		if err := g.Close(); err != nil {
			return err
		}
	}
}

// A worker is a process that does a job.
type worker struct {
	t    testing.TB
	job  job
	cmd  *exec.Cmd
	in   io.WriteCloser
	kill func()
	read chan struct{} // closed when the process has said its last

	mu      sync.Mutex
	lines   []string
	put     uint64        // samples that were acknowledged: number of the last one, plus 1
	slowest time.Duration // longest put since slow was called
}

// start starts a worker. It ends with the test.
func start(t testing.TB, j job) *worker {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(j)
	require.NoError(t, err)
	w := &worker{t: t, job: j, cmd: exec.Command(exe), read: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), workerVariable+"="+string(text))
	var stderr bytes.Buffer
	w.cmd.Stderr = &stderr
	w.in, err = w.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := w.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, w.cmd.Start())
	go w.scan(out)
	w.kill = sync.OnceFunc(func() {
		_ = w.cmd.Process.Kill() // it may have ended
		<-w.read
		_ = w.cmd.Wait()
		if stderr.Len() > 0 {
			t.Errorf("%s: %s", j.Name, &stderr)
		}
	})
	t.Cleanup(w.kill)
	return w
}

func (w *worker) scan(out io.Reader) {
	defer close(w.read)
	for in := bufio.NewScanner(out); in.Scan(); {
		w.mu.Lock()
		var number uint64
		var ms int64
		if n, _ := fmt.Sscanf(in.Text(), "put %d %d", &number, &ms); n == 2 {
			w.put, w.slowest = number+1, max(w.slowest, time.Duration(ms)*time.Millisecond)
		} else {
			w.lines = append(w.lines, in.Text())
		}
		w.mu.Unlock()
	}
}

// said returns what follows a word on a line that the worker has said.
func (w *worker) said(word string) (rest string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.lines {
		if rest, ok := strings.CutPrefix(line, word); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

// hears waits until the worker has said a word, and forgets the line. It returns the rest.
func (w *worker) hears(most time.Duration, word string) (rest string) {
	w.t.Helper()
	eventually(w.t, most, w.job.Role+" "+w.job.Name+" says "+word, func() bool {
		var ok bool
		rest, ok = w.said(word)
		if end, over := w.said("end"); over && word != "end" && !ok {
			require.FailNow(w.t, "the worker has ended", end)
		}
		return ok
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, line := range w.lines {
		if strings.HasPrefix(line, word) {
			w.lines = append(w.lines[:i:i], w.lines[i+1:]...)
			break
		}
	}
	return rest
}

// tell lets the worker go on.
func (w *worker) tell() {
	_, err := fmt.Fprintln(w.in)
	require.NoError(w.t, err)
}

// acknowledged returns how many samples were acknowledged.
func (w *worker) acknowledged() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.put
}

// slow returns the longest put since the call before.
func (w *worker) slow() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.slowest
	w.slowest = 0
	return d
}

// advances waits until n more samples are acknowledged, and returns how long that took.
func (w *worker) advances(most time.Duration, n uint64) time.Duration {
	w.t.Helper()
	began, from := time.Now(), w.acknowledged()
	eventually(w.t, most, fmt.Sprintf("%s puts %d samples after %d", w.job.Name, n, from), func() bool {
		if end, over := w.said("end"); over {
			require.FailNow(w.t, "the worker has ended", end)
		}
		return w.acknowledged() >= from+n
	})
	return time.Since(began)
}

// numbers returns how many samples each of some workers has put.
func numbers(all ...*worker) map[string]uint64 {
	m := map[string]uint64{}
	for _, w := range all {
		m[w.job.Name] = max(m[w.job.Name], w.acknowledged())
	}
	return m
}
