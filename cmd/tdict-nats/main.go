// Tdict-nats is the command tdict with caches of samples on NATS servers, at places
// nats://HOST/NAME. Its manual is docs/cli.md.
//
//	go install -C cmd/tdict-nats .
package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/go-tensordict/tensordict/cmd/internal/command"
	"github.com/go-tensordict/tensordict/cmd/internal/doctor"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/tdict"
)

func main() { command.Main(servers{}) }

// servers implements command.Servers with package natscache.
type servers struct{}

// engine returns the engine of a cache.
func engine(at command.Remote) natscache.Engine {
	return natscache.Engine{URL: at.URL, Name: at.Name, Options: options(at)}
}

// options returns the options of a connection.
func options(at command.Remote) (list []nats.Option) {
	if at.User != "" {
		list = append(list, nats.UserInfo(at.User, at.Password))
	}
	if at.Creds != "" {
		list = append(list, nats.UserCredentials(at.Creds))
	}
	if at.CA != "" {
		list = append(list, nats.RootCAs(at.CA))
	}
	if at.Tell == nil {
		return list
	}
	return append(list, nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
		if !nc.IsClosed() {
			at.Tell(fmt.Sprintf("the connection to the servers is lost (%v): waiting for them", err))
		}
	}), nats.ReconnectHandler(func(nc *nats.Conn) {
		at.Tell("the servers answer again, at " + nc.ConnectedAddr())
	}))
}

func (servers) Engine(at command.Remote) (samplecache.Engine, error) { return engine(at), nil }

func (servers) Create(ctx context.Context, at command.Remote, schema *tdict.TensorDict, c command.RemoteConfig) error {
	config := natscache.Config{Config: c.Config, Memory: c.Memory, Replicas: c.Replicas, Lease: c.Lease}
	return natscache.Create(ctx, at.URL, at.Name, schema, config, options(at)...)
}

func (servers) Remove(ctx context.Context, at command.Remote) error {
	return natscache.Remove(ctx, at.URL, at.Name, options(at)...)
}

func (servers) Mirror(ctx context.Context, at command.Remote, dir string) error {
	return natscache.Mirror(ctx, engine(at), dir)
}

func (servers) Serve(opt command.RemoteServe) (address string, stop func() error, err error) {
	s, err := natscache.Serve(natscache.ServeOptions{Dir: opt.Dir, Addr: opt.Addr, Durable: opt.Durable, Configure: func(o *server.Options) {
		o.Username, o.Password = opt.User, opt.Password
	}})
	if err != nil {
		return "", nil, err
	}
	u, err := url.Parse(s.URL())
	if err != nil {
		return "", nil, fmt.Errorf("serve: %w", err)
	}
	return u.Host, s.Close, nil
}

func (servers) Examine(ctx context.Context, at command.Remote) ([]doctor.Finding, error) {
	return examine(ctx, engine(at))
}
