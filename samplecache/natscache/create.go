package natscache

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Config describes a cache. Only Samples must be set; the zero values of the other fields are the
// defaults.
type Config struct {
	engine.Config
	// Memory keeps the cache in the memory of the servers. It ends with them.
	Memory bool
	// Replicas is the number of servers that have a copy of everything, 1, 3 or 5. 0 means 1.
	Replicas int
	// Lease is how long a process may be silent before others take it for dead: at least a second.
	// 0 means 5 seconds.
	Lease time.Duration
}

// Create makes a cache on the servers at url, under a name of 1 to 64 letters, digits, - and _.
// schema describes one sample: its batch shape is [], and only its keys, dtypes and shapes are
// used. Options are options of the connection.
//
// The cache is four streams, whose names begin with tdcache_ and its name. They take room for
// 2 + Retain + MaxHeld generations at once. Its error is an [Error], which wraps
//
//   - [engine.ErrSchema], [engine.ErrConfig] or [engine.ErrLimits] if an argument is invalid,
//   - fs.ErrExist if there is such a cache, or a stream of its name that is something else,
//   - [ErrNoRoom] if the servers or the account have too little room,
//   - [errors.ErrUnsupported] for Durable on servers that may not sync each write,
//   - [engine.ErrUnavailable], fs.ErrPermission and [ErrServerVersion] as [Engine.Join].
func Create(ctx context.Context, url, name string, schema *tdict.TensorDict, config Config, options ...nats.Option) error {
	if err := create(ctx, url, site(name), schema, config, options); err != nil {
		return &Error{"create", plainURL(url), name, err}
	}
	return nil
}

func create(ctx context.Context, url string, name site, schema *tdict.TensorDict, config Config, options []nats.Option) error {
	c, l, err := newCharter(name, schema, config)
	if err != nil {
		return err
	}
	streams, err := streamsOf(name, c, l, config)
	if err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p := newProcess(name)
	p.charter, p.layout = *c, l
	defer p.shut()
	if err := p.connect(ctx, url, options); err != nil {
		return err
	}
	if c.Config.Durable && !syncs(p.nc.ConnectedServerId()) {
		return fmt.Errorf("%w: got Durable, and the server may store samples without syncing the disk: JetStream syncs every two minutes by default. Serve with Durable makes a server that syncs each write", errors.ErrUnsupported)
	}
	return (&creation{process: p}).make(ctx, streams)
}

const (
	defaultLease = 5 * time.Second
	leastLease   = time.Second
)

// newCharter checks the arguments of Create.
func newCharter(name site, schema *tdict.TensorDict, config Config) (*ledger.Charter, *layout, error) {
	if err := name.check(); err != nil {
		return nil, nil, err
	}
	schema, err := engine.Schema(schema)
	if err != nil {
		return nil, nil, err
	}
	filled, err := config.Filled()
	if err != nil {
		return nil, nil, err
	}
	lease := cmp.Or(config.Lease, defaultLease)
	switch {
	case lease < leastLease:
		return nil, nil, fmt.Errorf("%w: got Lease %v, want at least %v", engine.ErrConfig, lease, leastLease)
	case config.Memory && filled.Durable:
		return nil, nil, fmt.Errorf("%w: got Memory and Durable, want one of them", engine.ErrConfig)
	case config.Replicas < 0 || config.Replicas > 5 || config.Replicas > 0 && config.Replicas%2 == 0:
		return nil, nil, fmt.Errorf("%w: got %d Replicas, want 1, 3 or 5", engine.ErrConfig, config.Replicas)
	}
	c := &ledger.Charter{Version: ledger.Version, ID: rand.Text(), Config: filled, Lease: lease, Schema: leavesOf(schema)}
	l, ok := newLayout(schema)
	if c.Chunks = l.chunks(); !ok || recordBytes(c) > maxRecord {
		return nil, nil, fmt.Errorf("%w: got %d leaves and %d chunks of %d bytes in a sample: their record has %d bytes, want at most %d",
			engine.ErrSchema, len(c.Schema), c.Chunks, chunkSize, recordBytes(c), maxRecord)
	}
	return c, l, nil
}

// maxRecord is the maximum size of an event, which must fit into a message of 1 MiB.
const maxRecord = 900_000

// recordBytes returns an upper bound of the size of a commit.
func recordBytes(c *ledger.Charter) int { return 512 + 11*len(c.Schema) + 21*c.Chunks }

// mark is the key of the metadata of streams that says their version.
const mark = "tensordict-samplecache"

// streamsOf returns the configurations of the streams of a cache.
func streamsOf(name site, c *ledger.Charter, l *layout, config Config) ([]jetstream.StreamConfig, error) {
	filled := c.Config
	generations := float64(2 + max(filled.Retain, 0) + max(filled.MaxHeld, 0))
	const perMessage, slack = 256, 64 << 20 // bytes
	sample := float64(l.total + c.Chunks*perMessage)
	bytes := generations*float64(filled.Samples)*sample + slack/2 + 4*sample
	events := slack + 10*float64(recordBytes(c))*(1000+generations*float64(filled.Samples))
	// The newest snapshot, and two that are stored at once.
	snapshots := slack/2 + 4*float64(recordBytes(c))*generations*float64(filled.Samples)
	if max(bytes, events, snapshots) > math.MaxInt64/4 {
		return nil, fmt.Errorf("%w: got %d samples of %d bytes, want less than 2^61 bytes in all", engine.ErrConfig, filled.Samples, l.total)
	}
	storage := jetstream.FileStorage
	if config.Memory {
		storage = jetstream.MemoryStorage
	}
	base := jetstream.StreamConfig{Discard: jetstream.DiscardNew, Storage: storage, Replicas: max(config.Replicas, 1),
		Metadata: map[string]string{mark: strconv.Itoa(ledger.Version), maker: c.ID}}
	log, data, snap, here := base, base, base, base
	log.Name, log.Subjects, log.MaxBytes = name.stream("log"), []string{name.log()}, int64(events)
	data.Name, data.Subjects, data.MaxBytes = name.stream("data"), []string{name.subject("rows.>")}, int64(bytes)
	data.AllowDirect = true
	snap.Name, snap.Subjects, snap.MaxBytes = name.stream("snap"), []string{name.head(), name.subject("snap.*")}, int64(snapshots)
	here.Name, here.Subjects, here.MaxAge, here.MaxMsgsPerSubject = name.stream("here"), []string{name.here("*")}, c.Lease, 1
	// It has the storage of the others, so that no server forgets it alone.
	here.Discard = jetstream.DiscardOld
	return []jetstream.StreamConfig{log, data, snap, here}, nil
}

// A creation is a Create that goes on.
type creation struct {
	*process
	other string    // who else makes the cache
	since time.Time // when this was noticed
}

// make makes the streams and the first head. If a process was killed in the middle of it, make
// completes that. The head says which of several processes has made the cache.
func (c *creation) make(ctx context.Context, streams []jetstream.StreamConfig) (err error) {
	for _, config := range streams {
		if err := c.unused(ctx, config.Name); err != nil {
			return err
		}
	}
	for i, config := range streams {
		if err := c.ask(ctx, func(ctx context.Context) error { return c.stream(ctx, config) }); err != nil {
			if refused(err) {
				c.unmake(context.WithoutCancel(ctx), streams[:i])
			}
			return err
		}
	}
	first, err := ledger.New(c.charter).Encode()
	if err == nil {
		err = c.save(ctx, 0, first)
	}
	for i := 0; i < len(streams) && err == nil; i++ { // another process may have changed them
		err = c.ask(ctx, func(ctx context.Context) error { return c.stream(ctx, streams[i]) })
	}
	return err
}

// maker is the key of the metadata of streams that says which Create has made or changed them.
const maker = "tensordict-samplecache-create"

// stream makes a stream, or changes one that another Create has made.
func (c *creation) stream(ctx context.Context, config jetstream.StreamConfig) error {
	s, err := c.js.Stream(ctx, config.Name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		if s, err = c.js.CreateStream(ctx, config); err == nil && s.CachedInfo().State.LastSeq > 0 {
			// Servers may not have removed all of a stream of the name that was deleted just
			// before.
			err = cmp.Or(c.js.DeleteStream(ctx, config.Name), errors.New("a new stream has messages of one that was deleted"))
		}
	case err == nil && s.CachedInfo().Config.Metadata[maker] != config.Metadata[maker]:
		if got := s.CachedInfo().Config.Storage; got != config.Storage {
			return fmt.Errorf("%w: another Create, which did not complete, has made stream %s with %v storage: delete it", fs.ErrExist, config.Name, got)
		}
		if err := c.abandoned(ctx, s); err != nil {
			return err
		}
		s, err = c.js.UpdateStream(ctx, config)
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return fmt.Errorf("%w: another Create is making it", engine.ErrUnavailable)
	}
	if err == nil && config.Name == c.site.stream("snap") {
		c.snap = s
	}
	return err
}

// abandoned returns nil if the Create that has made stream s does not go on: there was no head for
// a while, and nothing has changed s.
func (c *creation) abandoned(ctx context.Context, s jetstream.Stream) error {
	by := s.CachedInfo().Config.Metadata[maker]
	if _, _, err := c.head(ctx); err == nil {
		h, err := c.snapshot(ctx)
		if err != nil || h.Charter.ID != c.charter.ID {
			return cmp.Or(err, fs.ErrExist)
		}
		return nil
	}
	if c.other != by {
		c.other, c.since = by, time.Now()
	}
	if time.Since(c.since) < attempt {
		return fmt.Errorf("%w: another Create is making it", engine.ErrUnavailable)
	}
	return nil
}

// unmake removes streams that this Create has made, unless there is a cache.
func (c *creation) unmake(ctx context.Context, streams []jetstream.StreamConfig) {
	for _, config := range streams {
		_ = c.once(ctx, func(ctx context.Context) error { // the error of Create is returned instead
			s, err := c.js.Stream(ctx, config.Name)
			if err != nil || s.CachedInfo().Config.Metadata[maker] != config.Metadata[maker] {
				return err
			}
			if _, _, err := c.head(ctx); err == nil {
				return nil
			}
			return c.js.DeleteStream(ctx, config.Name)
		})
	}
}

// unused returns fs.ErrExist if there is a cache, or if a stream of its name is something else.
func (c *creation) unused(ctx context.Context, stream string) error {
	err := c.ask(ctx, func(ctx context.Context) error {
		s, err := c.js.Stream(ctx, stream)
		if err == nil {
			err = ours(s)
		}
		return err
	})
	if err == nil && stream == c.site.stream("snap") {
		if err = c.ask(ctx, func(ctx context.Context) error { _, _, err := c.head(ctx); return err }); err == nil {
			return fs.ErrExist
		}
	}
	switch {
	case errors.Is(err, errStranger), errors.Is(err, ErrVersion):
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// errStranger says that a stream does not belong to a cache.
var errStranger = fmt.Errorf("%w: a stream of its name is something else", fs.ErrNotExist)

// ours returns an error unless a stream belongs to a cache of this version.
func ours(s jetstream.Stream) error {
	config := s.CachedInfo().Config
	version, err := strconv.Atoi(config.Metadata[mark])
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s", errStranger, config.Name)
	case version > ledger.Version:
		return fmt.Errorf("%w: got version %d of stream %s, want %d", ErrVersion, version, config.Name, ledger.Version)
	}
	return nil
}
