package natscache

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// A site has the names that a cache uses on the servers: four streams, and the subjects of their
// messages.
//
//	tdcache_NAME_log   tdcache.NAME.log               events
//	tdcache_NAME_data  tdcache.NAME.rows.GEN.ROW      chunks of a sample
//	tdcache_NAME_snap  tdcache.NAME.head              where the newest snapshot is
//	                   tdcache.NAME.snap.SEQ          its parts
//	tdcache_NAME_here  tdcache.NAME.here.PROCESS      presence of a process
type site string

func (s site) stream(which string) string { return "tdcache_" + string(s) + "_" + which }
func (s site) subject(of string) string   { return "tdcache." + string(s) + "." + of }

func (s site) log() string            { return s.subject("log") }
func (s site) head() string           { return s.subject("head") }
func (s site) here(id string) string  { return s.subject("here." + id) }
func (s site) snap(seq uint64) string { return s.subject("snap." + strconv.FormatUint(seq, 10)) }
func (s site) generation(id uint64) string {
	return s.subject("rows." + strconv.FormatUint(id, 10))
}
func (s site) row(generation, row uint64) string {
	return s.generation(generation) + "." + strconv.FormatUint(row, 10)
}

// maxName is the maximum length of the name of a cache.
const maxName = 64

// check returns [engine.ErrConfig] unless the name has 1 to 64 ASCII letters, digits, hyphens and
// underscores.
func (s site) check() error {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return fmt.Errorf("%w: got the name %q, want letters, digits, - and _", engine.ErrConfig, string(s))
		}
	}
	if len(s) < 1 || len(s) > maxName {
		return fmt.Errorf("%w: got a name of %d bytes, want 1 to %d", engine.ErrConfig, len(s), maxName)
	}
	return nil
}

const (
	chunkSize    = 1<<20 - 4<<10 // bytes of a chunk, so that it fits into a message of 1 MiB
	defaultLease = 5 * time.Second
	leastLease   = time.Second
)

// A layout says where the leaves are among the bytes of a sample. Each begins at a multiple of 8.
type layout struct {
	offset, size []int
	total        int
}

// chunks returns the number of chunks of a sample.
func (l *layout) chunks() int { return (l.total + chunkSize - 1) / chunkSize }

// newLayout returns the layout of samples, whose leaves have the given sizes. ok is false if the
// sum overflows.
func newLayout(sizes []int) (l *layout, ok bool) {
	l = &layout{}
	for _, size := range sizes {
		l.offset, l.size = append(l.offset, l.total), append(l.size, size)
		if l.total += (size + 7) &^ 7; size < 0 || l.total < 0 {
			return l, false
		}
	}
	return l, true
}

// about returns the description of a cache, and the layout of its samples.
func about(c ledger.Charter) (engine.About, *layout, error) {
	schema, err := schemaOf(c.Schema)
	if err != nil {
		return engine.About{}, nil, err
	}
	var sizes []int
	for _, x := range schema.Tensors() {
		sizes = append(sizes, x.ByteSize())
	}
	l, ok := newLayout(sizes)
	if !ok || l.chunks() != c.Chunks {
		return engine.About{}, nil, fmt.Errorf("%w: got %d chunks of a sample, want %d", engine.ErrCorrupt, c.Chunks, l.chunks())
	}
	return engine.About{ID: c.ID, Config: c.Config, Schema: schema, Lease: patienceWith(c.Lease)}, l, nil
}
