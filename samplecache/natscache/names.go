package natscache

import (
	"fmt"
	"strconv"

	"github.com/go-tensordict/tensordict/samplecache/engine"
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
