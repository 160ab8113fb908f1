package mongowire

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// maxSwaps is the number of publications that are kept.
const maxSwaps = 1000

// status lists the publications that the server saw. All publications before its start count as
// one. Safe for concurrent use.
type status struct {
	mu        sync.Mutex
	swaps     []swap
	forgotten int // earlier ones, which are kept no more
}

// A swap is a publication.
type swap struct {
	generation uint64
	at         time.Time
}

// note adds the generation published last, if it is new.
func (st *status) note(stats samplecache.Stats) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.swaps = noted(st.swaps, stats); len(st.swaps) > maxSwaps {
		st.swaps = slices.Delete(st.swaps, 0, 1)
		st.forgotten++
	}
}

// noted appends the generation published last to swaps, if it is new.
func noted(swaps []swap, stats samplecache.Stats) []swap {
	s := swap{stats.Latest, stats.LastSwap}
	if n := len(swaps); n > 0 {
		last := swaps[n-1]
		if s.generation <= last.generation {
			return swaps
		}
		if s.at.Before(last.at) {
			s.at = last.at // the clock was set back
		}
	}
	if s.generation == 0 {
		return swaps
	}
	if s.at.IsZero() { // a cache that does not say it
		s.at = time.Unix(0, 0)
	}
	return append(swaps, s)
}

// all returns the documents of the collection status: for a cursor that has read some, of the
// publications that there were then, so that its position stays right.
func (st *status) all(c *cursor) (docs []bson.D) {
	st.mu.Lock()
	defer st.mu.Unlock()
	swaps := st.swaps
	if !c.q.descending {
		c.next = max(0, c.next-(st.forgotten-c.forgotten))
	}
	c.forgotten = st.forgotten
	if c.generation == 0 && len(swaps) > 0 {
		c.generation = swaps[len(swaps)-1].generation
	}
	for _, s := range swaps {
		if s.generation <= c.generation {
			docs = append(docs, bson.D{{"_id", s.id()}, {"swapped", true}, {"swap_timestamp", seconds(s.at)}})
		}
	}
	return docs
}

// list returns the publications, oldest first.
func (st *status) list() []swap {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.swaps)
}

// id returns the _id of a publication. They rise with time.
func (s swap) id() (id bson.ID) {
	binary.BigEndian.PutUint32(id[:], uint32(s.at.Unix()))
	binary.BigEndian.PutUint64(id[4:], s.generation)
	return id
}

// seconds returns a time as Python does: seconds since 1970.
func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// refresh adds a publication that the watch has not seen yet.
func (s *Server) refresh() error {
	_, _, err := s.counters()
	return err
}

// watch adds publications until the server or the cache is closed. It holds the generation
// published last, which keeps its files open: opening them for each find takes as long as sending a
// small sample.
func (s *Server) watch(c *samplecache.Cache) {
	told := ""
	held := new(samplecache.Generation)
	defer func() { _ = held.Close() }() // it was only read
	for seen := uint64(0); ; {
		g, err := c.Wait(s.life, seen)
		if err == nil {
			_ = held.Close()
			held, seen = g, g.ID()
			s.release(c.Config(), seen)
			err = s.refresh()
		}
		switch {
		case err == nil:
			told = ""
			continue
		case s.life.Err() != nil:
			return
		}
		if text := err.Error(); text != told { // not again and again
			s.report(err)
			told = text
		}
		if errors.Is(err, samplecache.ErrClosed) {
			return
		}
		select { // it may be the want of descriptors
		case <-time.After(time.Second):
		case <-s.life.Done():
		}
	}
}
