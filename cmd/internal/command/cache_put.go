package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-tensordict/tensordict/cmd/internal/programs"
	"github.com/go-tensordict/tensordict/samplecache"
)

type putCmd struct {
	placeFlags
	Program []string      `arg:"" passthrough:"" help:"The program that writes samples, after --, with its arguments."`
	Name    string        `help:"Name of the producer, or NAME-0, NAME-1 … with -n. Samples of a name are numbered, and each number is stored once. Without a name they are not." placeholder:"NAME"`
	N       int           `short:"n" default:"1" help:"How many programs to run."`
	Limit   uint64        `help:"End when each producer has put N samples." placeholder:"N"`
	Restart int           `default:"5" help:"Start a program that fails again, N times in a row. The count begins anew when it has put two samples." placeholder:"N"`
	Grace   time.Duration `default:"30s" help:"After SIGTERM, wait this long for the sample that a program is drawing."`
	waitFlags
}

func (putCmd) Help() string {
	return `
A program writes each sample to standard output: its length in 8 bytes, little-endian, then a safetensors file. Names are keys: obs.pos is obs/pos. Its environment has TDICT_PRODUCER, TDICT_NUMBER (the first number of that producer which is not in the cache) and TDICT_INDEX. A program that fails is started again. After SIGTERM the sample at hand is put, and the exit code is 0.

	tdict cache put /dev/shm/brains --name gen -n 4 -- python draw.py`
}

const (
	lastPause  = time.Minute            // before a program is started again, at most
	claimPause = 200 * time.Millisecond // between two attempts to claim a name
	termGrace  = 5 * time.Second        // between SIGTERM and SIGKILL for a program, at most
)

// Tests shorten them.
var (
	firstPause = time.Second      // before a program is started again; it doubles
	claimWait  = 10 * time.Second // for a name that a process which has just ended had
)

func (c *putCmd) Run(s *session) error {
	dashes := c.Program[0]
	c.Program = c.Program[1:]
	switch {
	case dashes != "--":
		return s.usage("got %s, want -- and then the program", dashes)
	case len(c.Program) == 0:
		return s.usage("want a program after --")
	case c.N < 1 || c.N > 4096:
		return s.usage("-n %d: want 1 to 4096", c.N)
	case c.Restart < 0 || c.Grace < 0:
		return s.usage("--restart %d, --grace %v: want at least 0", c.Restart, c.Grace)
	case c.Limit > 0 && c.Name == "":
		return s.usage("--limit needs --name: samples without a name are not numbered")
	case !programs.Supported:
		return fmt.Errorf("%w: this system has no process groups", errors.ErrUnsupported)
	}
	if of := c.mirrored(); of != "" {
		return fmt.Errorf("%s is a mirror of the cache %q on servers: put into that, at nats://HOST/%s", c.Place, of, of)
	}
	cache, err := c.open(s, c.waitFlags)
	if err != nil {
		return c.unlessEnded(s, c.orWait(c.Place, err))
	}
	p := &putting{cmd: c, session: s, cache: cache}
	p.most = uint64(cache.Schema().ByteSize()) + maxHeader
	err = c.unlessEnded(s, errors.Join(p.run(), cache.Close()))
	if !p.failed.Load() {
		return err
	}
	if err != nil {
		s.print(err)
	}
	return errReported
}

// unlessEnded returns err, or nil if it says that SIGTERM has come before a program was started.
func (c *putCmd) unlessEnded(s *session, err error) error {
	if cause := context.Cause(s.ctx); cause != nil && errors.Is(err, cause) {
		return nil
	}
	return err
}

// A putting runs the programs.
type putting struct {
	cmd      *putCmd
	session  *session
	cache    *samplecache.Cache
	most     uint64                  // bytes of a sample as a file
	total    atomic.Int64            // samples put
	failures atomic.Int64            // of programs
	failed   atomic.Bool             // a program has failed too often, and that was printed
	late     context.Context         // ends some time after the programs are to end
	fail     context.CancelCauseFunc // ends all programs: the cache has failed
}

// run runs the programs until all have ended.
func (p *putting) run() error {
	all, err := p.claim()
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(p.session.ctx)
	defer fail(nil)
	late, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	p.fail, p.late = fail, late
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		if p.session.ctx.Err() != nil && p.cmd.Grace > 0 {
			p.session.tell(fmt.Sprintf("stopping: waiting up to %v for the samples at hand; another signal ends it at once", p.cmd.Grace))
		}
		time.AfterFunc(p.grace(), func() { end(fmt.Errorf("--grace %v has passed", p.cmd.Grace)) })
	})
	var running sync.WaitGroup
	for _, g := range all {
		running.Go(func() { g.run(ctx) })
	}
	running.Wait()
	if !stop() {
		<-told
	}
	text := fmt.Sprintf("samples put: %d", p.total.Load())
	if n := p.failures.Load(); n > 0 {
		text += fmt.Sprintf(", failures of programs: %d", n)
	}
	p.session.tell(text)
	if failed := context.Cause(ctx); failed != nil && p.session.ctx.Err() == nil {
		return failed // the others have ended because of it
	}
	var errs []error
	for _, g := range all {
		errs = append(errs, g.producer.Close())
	}
	return errors.Join(errs...)
}

// grace returns how long the sample at hand may take after the programs are to end.
func (p *putting) grace() time.Duration {
	if p.session.ctx.Err() == nil {
		return 0 // the cache has failed
	}
	return p.cmd.Grace
}

// claim claims the names of the generators, and returns them.
func (p *putting) claim() (all []*generator, err error) {
	for i := range p.cmd.N {
		g := &generator{putting: p, index: i, name: p.cmd.Name}
		if p.cmd.N > 1 && g.name != "" {
			g.name = fmt.Sprintf("%s-%d", g.name, i)
		}
		if g.producer, err = p.producer(g.name); err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// producer claims a name. If another process has it, producer waits for a while: that process may
// have been killed a moment ago, and have a lease.
func (p *putting) producer(name string) (*samplecache.Producer, error) {
	end := time.Now().Add(max(claimWait, p.cmd.Wait))
	for told := false; ; told = true {
		producer, err := p.cache.Producer(name)
		if err != nil && p.session.ctx.Err() != nil {
			return nil, context.Cause(p.session.ctx)
		}
		if !errors.Is(err, samplecache.ErrProducerBusy) || time.Now().After(end) {
			return producer, err
		}
		if !told {
			p.session.print(fmt.Errorf("%w: waiting for it", err))
		}
		if err := sleep(p.session.ctx, claimPause); err != nil {
			return nil, err
		}
	}
}

// sleep waits, or returns the cause of ctx if that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// full reports whether an error says that the disk is full.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
