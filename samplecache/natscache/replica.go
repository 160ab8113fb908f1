package natscache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tensor"
)

// A local is the mirror of a session.
type local struct {
	dir     string
	id      string // of the cache
	ctx     context.Context
	stop    context.CancelFunc // ends ctx, when the session ends
	joining turn               // held by join

	mu    sync.Mutex
	now   *replica         // which is at dir; nil if none is there yet
	users map[*replica]int // calls, generations and now; a replica without users is closed
}

// A replica is a mirror that was joined. One that was replaced stays as long as a generation is
// held there.
type replica struct {
	engine.Session
	at    fs.FileInfo  // of its directory
	stuck atomic.Int64 // its samples when Open has waited in vain
}

func newLocal(dir, id string) *local {
	m := &local{dir: dir, id: id, joining: newTurn(), users: map[*replica]int{}}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m
}

// join returns the replica at the directory, which leave must get back. It returns nil if none is
// there, or if it is of another cache.
func (m *local) join(ctx context.Context) (*replica, error) {
	if err := m.joining.take(ctx); err != nil {
		return nil, err
	}
	defer m.joining.done()
	at, err := os.Stat(m.dir)
	m.mu.Lock()
	now := m.now
	if now != nil && err == nil && os.SameFile(at, now.at) {
		m.users[now]++
		m.mu.Unlock()
		return now, nil
	}
	m.now = nil
	m.mu.Unlock()
	if now != nil {
		m.leave(now) // it was replaced
	}
	t, err := targetOf(m.dir)
	if err != nil || t.ID != m.id {
		return nil, err
	}
	to, err := dircache.Engine{Dir: m.dir}.Join(ctx, engine.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it is being made anew
	}
	if err != nil {
		return nil, err
	}
	now = &replica{Session: to, at: at}
	now.stuck.Store(-1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return nil, errors.Join(engine.ErrClosed, to.Close())
	}
	m.now, m.users[now] = now, 2
	return now, nil
}

// leave says that a user does not use a replica any more.
func (m *local) leave(to *replica) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users[to]--; m.users[to] <= 0 {
		delete(m.users, to)
		_ = to.Close() // it only reads
	}
}

// close ends the waits for a mirror, and leaves all replicas.
func (m *local) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stop()
	for to := range m.users {
		_ = to.Close() // it only reads
	}
}

// patienceForMirror is how long Open waits for a mirror that is being filled.
const patienceForMirror = 2 * time.Second

// mirrored returns the rows of a generation in the mirror, or r if they are not there. If the
// mirror cannot be read, OnError learns why.
func (s *session) mirrored(ctx context.Context, r *rows) (engine.Rows, error) {
	if s.mirror == nil {
		return r, nil
	}
	waiting, cancel := context.WithTimeout(ctx, patienceForMirror)
	defer cancel()
	defer context.AfterFunc(s.mirror.ctx, cancel)()
	to, err := s.mirror.join(waiting)
	if err != nil && waiting.Err() == nil {
		s.p.mu.Lock()
		s.notify(fmt.Errorf("the mirror: %w", err))
		s.p.mu.Unlock()
	}
	if to == nil {
		return r, nil
	}
	defer s.mirror.leave(to)
	for s.mirror.ctx.Err() == nil {
		changed := to.Changed()
		found, soon, samples := s.mirror.find(waiting, to, r)
		if found != nil {
			return found, nil
		}
		if !soon {
			return r, nil
		}
		select {
		case <-changed:
		case <-waiting.Done():
			if ctx.Err() == nil && s.mirror.ctx.Err() == nil {
				to.stuck.Store(samples) // until there are more, nobody waits
			}
			if s.mirror.ctx.Err() == nil {
				return r, nil
			}
		}
	}
	return nil, engine.ErrClosed
}

// find returns the rows of a generation, or nil if the mirror does not have them. Then soon reports
// whether a Mirror is about to copy them. samples is how many samples the mirror has got.
func (m *local) find(ctx context.Context, to *replica, r *rows) (found engine.Rows, soon bool, samples int64) {
	st, err := to.Stats(ctx)
	newest := uint64(0)
	samples = int64(st.Latest)*int64(to.About().Config.Samples) + int64(st.Committed)
	for id := st.Latest; err == nil && id > 0 && id+uint64(max(to.About().Config.Retain, 0)) >= st.Latest; id-- {
		at, err := to.Open(ctx, id)
		if err != nil {
			break
		}
		info, err := at.Info(0)
		if err == nil && info.Number == r.id && slices.Equal(info.Sums, r.records[0].Sums) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.users[to]++
			return &mirroredRows{r, at, func() { m.leave(to) }}, false, samples
		}
		newest = max(newest, info.Number)
		_ = at.Close() // nothing was lent
	}
	return nil, newest < r.id && samples != to.stuck.Load() && (st.Reserved > 0 || to.filled(ctx)), samples
}

// filled reports whether there is a Mirror: then it has the name.
func (to *replica) filled(ctx context.Context) bool {
	c, err := to.Claim(ctx, fillerName)
	if err == nil {
		_ = c.Close() // begin tries again
	}
	return errors.Is(err, engine.ErrProducerBusy)
}

// A mirroredRows is a generation whose samples are in a mirror.
type mirroredRows struct {
	*rows
	local   engine.Rows
	release func() // leaves the mirror
}

func (r *mirroredRows) Place(leaf int) (tensor.Lender, int)            { return r.local.Place(leaf) }
func (r *mirroredRows) Read(context.Context, []int, int, []byte) error { return errors.ErrUnsupported }

func (r *mirroredRows) Close() error {
	err := r.local.Close()
	r.release()
	return errors.Join(err, r.rows.Close())
}
