package mongowire

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
)

// Options configure a server. Database must be set, and Samples and Create if there is no cache
// yet. The zero values of the other fields are the defaults.
type Options struct {
	// Database is the name of the only database, wirehead's DBNAME.
	Database string
	// Write, Read, Temp and Counter are the names of collections, the first three without the
	// ".bin" that clients append. By default they are "write", "read", "temp" and "counter".
	Write, Read, Temp, Counter string
	// Samples is the number of samples of a generation, wirehead's SWAP_CAP. With a cache it is 0,
	// or the number that the cache has.
	Samples int
	// ChunkBytes is the number of bytes of a file in a document of read.bin: 10 MiB by default, and
	// at most 15 MiB.
	ChunkBytes int
	// Inflight is the maximum number of bytes of messages, replies and unfinished samples in
	// memory, 512 MiB by default.
	Inflight int64
	// Lease is how long a ticket is kept without a document, 60 seconds by default.
	Lease time.Duration
	// User and Password are for logins, by SCRAM-SHA-256. Both are printable ASCII. Without them,
	// clients need not log in, and cannot.
	User, Password string
	// AllowDrop lets dropDatabase succeed. It changes nothing.
	AllowDrop bool
	// Create makes the cache for samples of a schema, or opens one that another program has made in
	// the meantime. It is called when the first sample is complete, if New got no cache. The server
	// closes the cache.
	Create func(ctx context.Context, schema *tdict.TensorDict) (*samplecache.Cache, error)
	// OnError, if not nil, is called with errors that no client gets, such as invalid messages. It
	// may be called by several goroutines at once.
	OnError func(err error)
}

const (
	mib           = 1 << 20
	maxChunkBytes = 15 * mib
	minInflight   = 1 * mib
)

// filled returns o with the defaults. It returns samplecache.ErrConfig for invalid options.
func (o Options) filled(c *samplecache.Cache) (Options, error) {
	o.Write, o.Read, o.Temp = cmp.Or(o.Write, "write"), cmp.Or(o.Read, "read"), cmp.Or(o.Temp, "temp")
	o.Counter = cmp.Or(o.Counter, "counter")
	o.ChunkBytes, o.Inflight = cmp.Or(o.ChunkBytes, 10*mib), cmp.Or(o.Inflight, 512*mib)
	o.Lease = cmp.Or(o.Lease, time.Minute)
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	if c != nil {
		o.Samples = cmp.Or(o.Samples, c.Config().Samples)
	}
	return o, o.check(c)
}

func (o Options) check(c *samplecache.Cache) error {
	names := []string{o.Write, o.Read, o.Temp}
	slices.Sort(names)
	switch {
	case o.Database == "" || o.Database == "admin":
		return wrong("got Database %q, want a name other than admin", o.Database)
	case len(slices.Compact(names)) < 3 || o.Counter == "status":
		return wrong("got collections %q, %q, %q and %q, want different names", o.Write, o.Read, o.Temp, o.Counter)
	case o.ChunkBytes < 1 || o.ChunkBytes > maxChunkBytes:
		return wrong("got ChunkBytes %d, want 1 to %d", o.ChunkBytes, maxChunkBytes)
	case o.Inflight < minInflight || o.Lease < 0:
		return wrong("got Inflight %d, Lease %v, want at least %d bytes and 0", o.Inflight, o.Lease, minInflight)
	case (o.User == "") != (o.Password == "") || !isPlain(o.User+o.Password):
		return wrong("got a User or Password that is empty or not printable ASCII, want both or neither")
	case c == nil && (o.Create == nil || o.Samples < 1):
		return wrong("got no cache: set Create and Samples")
	case c != nil && o.Samples != c.Config().Samples:
		return wrong("got Samples %d, but the cache has %d", o.Samples, c.Config().Samples)
	}
	return nil
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("mongowire: %w: "+format, append([]any{samplecache.ErrConfig}, args...)...)
}

// isPlain reports whether a text is printable ASCII.
func isPlain(text string) bool {
	return !slices.ContainsFunc([]byte(text), func(c byte) bool { return c < ' ' || c > '~' })
}
