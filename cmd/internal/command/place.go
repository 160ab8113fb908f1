package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/cmd/internal/doctor"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
)

// Servers are the caches on NATS servers. Only the binary of cmd/tdict-nats has them.
type Servers interface {
	// Engine returns the engine of a cache.
	Engine(at Remote) (samplecache.Engine, error)
	// Create makes a cache.
	Create(ctx context.Context, at Remote, schema *tdict.TensorDict, config RemoteConfig) error
	// Remove removes a cache that nobody uses.
	Remove(ctx context.Context, at Remote) error
	// Mirror copies generations to a directory until ctx ends.
	Mirror(ctx context.Context, at Remote, dir string) error
	// Serve starts a server. close stops it.
	Serve(opt RemoteServe) (url string, close func() error, err error)
	// Examine looks at the servers, and at the cache if there is one.
	Examine(ctx context.Context, at Remote) ([]doctor.Finding, error)
}

// A Remote is a cache on NATS servers, and how to log in.
type Remote struct {
	URL      string // of one server or several, separated by commas: nats://HOST:4222
	Name     string
	User     string
	Password string
	Creds    string // path of a file of credentials
	CA       string // path of a file of certificates
	// Tell, if not nil, is called when the connection is lost, and when it is there again.
	Tell func(text string)
}

// A RemoteConfig is the config of a cache on servers.
type RemoteConfig struct {
	samplecache.Config
	Memory   bool          // keep it in the memory of the servers
	Replicas int           // 0 means 1
	Lease    time.Duration // 0 means 5 s
}

// A RemoteServe says how to start a server.
type RemoteServe struct {
	Dir, Addr, User, Password string
	Durable                   bool
}

// A place is where a cache is: a directory, or nats://HOST/NAME.
type place string

const scheme = "nats://"

// remote reports whether the place is on servers.
func (p place) remote() bool { return strings.HasPrefix(string(p), scheme) }

// placeFlags say where a cache is, and how to reach it.
type placeFlags struct {
	Place place `arg:"" help:"A directory, or nats://HOST/NAME for a cache on NATS servers."`
	loginFlags
}

// loginFlags say how to log in to NATS servers.
type loginFlags struct {
	PasswordFile string `placeholder:"FILE" help:"File with the line USER:PASSWORD, for nats://."`
	Creds        string `placeholder:"FILE" help:"File with NATS credentials, for nats://."`
	CA           string `name:"ca" placeholder:"FILE" help:"File with the certificates that servers are checked by, for nats://."`
}

// waitFlags say how long to wait for a cache.
type waitFlags struct {
	Wait time.Duration `placeholder:"TIME" help:"How long to wait for a cache that is not made yet, or servers that do not answer yet, such as 10m."`
}

// limit returns the context of s, which ends when --wait has passed.
func (w waitFlags) limit(s *session) (context.Context, context.CancelFunc) {
	if w.Wait == 0 {
		return s.ctx, func() {}
	}
	return context.WithTimeoutCause(s.ctx, w.Wait, fmt.Errorf("--wait %v has passed", w.Wait))
}

// errNoServers is the error of a binary without NATS.
var errNoServers = errors.New("this tdict has no NATS: in a clone, go install -C cmd/tdict-nats . makes one that has")

// at returns the cache on servers.
func (p *placeFlags) at(s *session) (r Remote, err error) {
	if s.servers == nil {
		return r, errNoServers
	}
	list, name, ok := strings.Cut(strings.TrimPrefix(string(p.Place), scheme), "/")
	if !ok || list == "" || name == "" || strings.Contains(name, "/") {
		return r, s.usage("<place> %s: want nats://HOST/NAME", p.Place)
	}
	if strings.Contains(list, "@") {
		return r, s.usage("<place>: a password there is visible to all users of the machine: want --password-file")
	}
	for _, file := range []string{p.Creds, p.CA} { // the error of the servers would be taken for a missing cache
		if _, err := os.Stat(file); file != "" && err != nil {
			return r, err
		}
	}
	r = Remote{Name: name, Creds: p.Creds, CA: p.CA}
	for one := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(scheme + strings.TrimPrefix(one, scheme))
		if err != nil || u.Hostname() == "" {
			return r, s.usage("<place> %s: want nats://HOST/NAME", p.Place)
		}
		if u.Port() == "" {
			u.Host += ":4222"
		}
		r.URL += "," + u.String()
	}
	r.URL = r.URL[1:]
	r.User, r.Password, err = readPassword(p.PasswordFile)
	return r, err
}

// engine returns the engine of the cache. tell is Remote.Tell.
func (p *placeFlags) engine(s *session, tell func(text string)) (samplecache.Engine, error) {
	if !p.Place.remote() {
		return dircache.Engine{Dir: string(p.Place)}, p.local(s)
	}
	at, err := p.at(s)
	if err != nil {
		return nil, err
	}
	at.Tell = tell
	return s.servers.Engine(at)
}

// local returns an error if a flag for servers is given.
func (p *placeFlags) local(s *session) error {
	if p.PasswordFile != "" || p.Creds != "" || p.CA != "" {
		return s.usage("--password-file, --creds and --ca are for nats://, got %s", p.Place)
	}
	return nil
}

// open joins the cache. It waits for as long as the flags say until the cache is made.
func (p *placeFlags) open(s *session, wait waitFlags) (*samplecache.Cache, error) {
	e, err := p.engine(s, s.tell)
	if err != nil {
		return nil, err
	}
	if wait.Wait < 0 {
		return nil, s.usage("--wait %v: want at least 0", wait.Wait)
	}
	ctx, cancel := wait.limit(s)
	defer cancel()
	c, err := samplecache.Open(ctx, e, samplecache.Options{Await: wait.Wait > 0, OnError: s.print})
	return c, p.advise(err)
}

// advise adds a hint to an error of opening a cache.
func (p *placeFlags) advise(err error) error {
	if p.Place.remote() && errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: give --password-file or --creds of a user who may use the cache", err)
	}
	return err
}

// orWait adds --wait to an error of opening a cache that does not exist.
func (w waitFlags) orWait(at place, err error) error {
	if w.Wait > 0 || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, missing := os.Lstat(string(at)); missing == nil && !at.remote() {
		return err
	}
	return fmt.Errorf("%w: --wait 10m waits until it is made", err)
}

// mirrored returns the name of the cache on servers that a directory mirrors, or "".
func (p *placeFlags) mirrored() string {
	var of struct{ Name string }
	f, err := vfs.OpenRegular(filepath.Join(string(p.Place), "mirror.json"), os.O_RDONLY) // a pipe would hang
	if err != nil {
		return ""
	}
	defer f.Close()
	if json.NewDecoder(io.LimitReader(f, 1<<16)).Decode(&of) != nil {
		return ""
	}
	return of.Name
}

// readPassword reads the user and the password from a file. "" is no file.
func readPassword(path string) (user, password string, err error) {
	if path == "" {
		return "", "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	user, password, ok := strings.Cut(strings.TrimRight(string(text), "\r\n"), ":")
	if !ok || user == "" || password == "" {
		return "", "", fmt.Errorf("%s: want one line USER:PASSWORD", path)
	}
	return user, password, nil
}
