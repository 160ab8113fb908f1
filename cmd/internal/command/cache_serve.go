package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/tdict"
)

type serveCmd struct {
	Dir          string        `arg:"" help:"Directory of the cache."`
	Config       string        `required:"" placeholder:"FILE" help:"The config.yaml of wirehead."`
	Listen       string        `placeholder:"HOST:PORT" help:"Address. By default PORT of the config on this machine alone."`
	PasswordFile string        `placeholder:"FILE" help:"File with the line USER:PASSWORD that clients log in with."`
	Insecure     bool          `help:"Let other machines in without a password."`
	AllowDrop    bool          `help:"Have dropDatabase succeed, although it drops nothing."`
	Inflight     int64         `default:"512" placeholder:"MIB" help:"MiB of messages and unfinished samples in memory."`
	Every        time.Duration `default:"5s" help:"Time between two lines of output."`
	AddressFile  string        `placeholder:"FILE" help:"Write HOST:PORT to FILE once clients can connect."`
}

func (serveCmd) Help() string {
	return `
Serve takes the place of the MongoDB that wirehead uses: its generators, datasets and loggers connect to it unchanged. Samples are in DIR, which programs of this machine open, too. If DIR does not exist, the first sample makes it.

It writes a line of JSON every few seconds, with the names of wirehead's logger. After SIGTERM no tickets are given out, and clients that have one may put their sample, for 10 seconds.

	tdict cache serve /dev/shm/brains --config config.yaml
	tdict cache serve /dev/shm/brains --config config.yaml --listen 0.0.0.0:27017 --password-file password`
}

// drain is how long clients with a ticket may still put their sample after SIGTERM.
const drain = 10 * time.Second

func (c *serveCmd) Run(s *session) (err error) {
	config, err := readConfig(c.Config)
	if err == nil {
		err = config.check(c.Config)
	}
	if err != nil {
		return err
	}
	opt := config.options()
	opt.Inflight, opt.AllowDrop, opt.OnError = c.Inflight<<20, c.AllowDrop, s.print
	if opt.User, opt.Password, err = readPassword(c.PasswordFile); err != nil {
		return err
	}
	address, err := c.address(s, config, opt.User != "")
	if err != nil {
		return err
	}
	if c.Every <= 0 {
		return s.usage("--every %v: want more than 0", c.Every)
	}
	opt.Create = c.create(s, opt.Samples)
	cache, err := c.open(s)
	if err != nil {
		return err
	}
	if cache != nil {
		defer func() { err = errors.Join(err, cache.Close()) }()
	}
	server, err := mongowire.New(cache, opt)
	if err != nil {
		return err
	}
	return c.serve(s, server, address)
}

// serve serves until the session ends.
func (c *serveCmd) serve(s *session, server *mongowire.Server, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return errors.Join(err, server.Close())
	}
	fmt.Fprintf(s.errs, "tdict: cache serve: serving %s on %s\n", c.Dir, l.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	if err = writeAddress(s, c.AddressFile, l.Addr().String()); err == nil {
		err = c.tell(s, server, served)
	}
	if err != nil {
		return errors.Join(err, server.Close())
	}
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	if err = server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		return nil // it has given them up
	}
	return err
}

// tell writes snapshots until the session ends, or serving does.
func (c *serveCmd) tell(s *session, server *mongowire.Server, served <-chan error) error {
	var last mongowire.Snapshot
	for {
		snap, err := server.Snapshot(last)
		if err == nil {
			err = json.NewEncoder(s.out).Encode(snap)
		}
		if err == nil {
			err = s.out.Flush()
		}
		if err != nil {
			return err
		}
		last = snap
		select {
		case err := <-served:
			return err
		case <-s.ctx.Done():
			return nil
		case <-time.After(c.Every):
		}
	}
}

// open opens the cache, if there is one.
func (c *serveCmd) open(s *session) (*samplecache.Cache, error) {
	if _, err := os.Lstat(c.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return samplecache.Open(s.ctx, dircache.Engine{Dir: c.Dir}, samplecache.Options{OnError: s.print})
}

// create returns the function that makes the cache, unless a program of this machine has made it
// meanwhile.
func (c *serveCmd) create(s *session, samples int) func(context.Context, *tdict.TensorDict) (*samplecache.Cache, error) {
	return func(ctx context.Context, schema *tdict.TensorDict) (*samplecache.Cache, error) {
		err := dircache.Create(c.Dir, schema, samplecache.Config{Samples: samples})
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		return samplecache.Open(ctx, dircache.Engine{Dir: c.Dir}, samplecache.Options{OnError: s.print})
	}
}

// address returns the address to listen on. One that other machines reach needs a password.
func (c *serveCmd) address(s *session, config *wireheadConfig, password bool) (string, error) {
	if c.Listen == "" {
		return fmt.Sprintf("127.0.0.1:%d", config.port()), nil
	}
	at, err := net.ResolveTCPAddr("tcp", c.Listen)
	if err != nil {
		return "", s.usage("--listen: %v", err)
	}
	if !at.IP.IsLoopback() && !password && !c.Insecure {
		return "", s.usage("--listen %s lets other machines in: want --password-file, or --insecure", c.Listen)
	}
	return at.String(), nil
}
