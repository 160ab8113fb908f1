package memcache

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// An Engine is a cache in memory, made by [New].
//
// Safe for concurrent use.
type Engine struct {
	about engine.About

	mu       sync.Mutex
	changed  chan struct{} // closed by the next change
	members  []*handle     // sessions
	claims   map[string]*handle
	windows  map[string]engine.Window // by name
	groups   engine.Groups
	holders  map[uint64]*handle
	progress engine.Progress
	swapped  time.Time
	filling  *generation
	kept     map[uint64]*generation // published generations
}

// A generation has the samples of one generation. The engine's mutex guards everything but the
// elements.
type generation struct {
	id        uint64
	leaves    [][]byte // the elements of each leaf
	infos     []engine.Info
	free      []int // free slots
	reserved  []*row
	committed int
	readers   []*handle
	timer     *time.Timer // started when it was retired
	lapsed    chan struct{}
}

// New makes a cache of samples like schema, of which only keys, dtypes and shapes are used. It
// returns [engine.ErrSchema] or [engine.ErrLimits] for invalid arguments, and [engine.ErrConfig]
// also if a generation has more than 64 GiB.
func New(schema *tdict.TensorDict, config engine.Config) (*Engine, error) {
	schema, err := engine.Schema(schema)
	config, failed := config.Filled()
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	left := min(math.MaxInt, 64<<30) / config.Samples
	for key, x := range schema.Tensors() {
		if left -= x.ByteSize(); left < 0 {
			return nil, fmt.Errorf("%w: %q: got %d bytes too many per sample, want at most 64 GiB for %d samples", engine.ErrConfig, key, -left, config.Samples)
		}
	}
	e := &Engine{
		about: engine.About{ID: rand.Text(), Config: config, Schema: schema}, changed: make(chan struct{}),
		claims: map[string]*handle{}, windows: map[string]engine.Window{}, holders: map[uint64]*handle{},
		kept: map[uint64]*generation{}, filling: &generation{id: 1},
	}
	e.progress = engine.Progress{Config: config, Committed: func() int { return e.filling.committed }}
	e.fill()
	return e, nil
}

// Join implements engine.Engine. It returns [engine.ErrEngine] unless [New] made e.
func (e *Engine) Join(context.Context, engine.Options) (engine.Session, error) {
	if e == nil || e.holders == nil {
		return nil, fmt.Errorf("%w: got an Engine that New did not make", engine.ErrEngine)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	h := &handle{e: e, since: time.Now()}
	h.session = h
	e.members = append(e.members, h)
	return &session{h}, nil
}

// step drops closed handles, publishes a full generation, releases retired ones, and closes the
// channel of Changed.
func (e *Engine) step() {
	e.members = slices.DeleteFunc(e.members, (*handle).dead)
	maps.DeleteFunc(e.holders, func(_ uint64, h *handle) bool { return h.dead() })
	maps.DeleteFunc(e.claims, func(name string, h *handle) bool { return name == "" || h.dead() })
	e.groups.Tidy(&e.progress, func(holder uint64) bool { return e.holders[holder] != nil })
	g := e.filling
	g.reserved = slices.DeleteFunc(g.reserved, func(r *row) bool {
		if r.dead() && r.outcome != nil {
			g.free = append(g.free, r.slot)
		}
		return r.dead()
	})
	if g.committed == e.about.Config.Samples && len(e.groups.Waits(&e.progress)) == 0 {
		e.progress.Latest, e.swapped = g.id, time.Now()
		e.kept[g.id], e.filling = g, &generation{id: g.id + 1}
	}
	maps.DeleteFunc(e.kept, e.release)
	e.fill()
	close(e.changed)
	e.changed = make(chan struct{})
}

// fill allocates the generation that is being filled, if there is room.
func (e *Engine) fill() {
	c, g := e.about.Config, e.filling
	if g.infos != nil || len(e.kept) > 1+max(c.Retain, 0)+max(c.MaxHeld, 0) {
		return
	}
	g.infos, g.lapsed = make([]engine.Info, c.Samples), make(chan struct{})
	for slot := range c.Samples {
		g.free = append(g.free, c.Samples-1-slot)
	}
	for _, x := range e.about.Schema.Tensors() {
		g.leaves = append(g.leaves, make([]byte, x.ByteSize()*c.Samples))
	}
}

// release reports whether generation id need not be kept any more. It starts the timer of a
// generation that is retired.
func (e *Engine) release(id uint64, g *generation) bool {
	g.readers = slices.DeleteFunc(g.readers, (*handle).dead)
	if id+uint64(max(e.about.Config.Retain, 0)) >= e.progress.Latest {
		return false
	}
	if g.timer == nil {
		g.timer = time.AfterFunc(cmp.Or(e.about.Config.MaxHold, math.MaxInt64), func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			delete(e.kept, id) // readers keep its memory
			close(g.lapsed)
			e.step()
		})
	}
	if len(g.readers) > 0 || e.groups.Needs(id) {
		return false
	}
	return g.timer.Stop()
}

func (e *Engine) stats() (engine.Stats, error) {
	g, pid, latest := e.filling, os.Getpid(), e.progress.Latest
	st := engine.Stats{Latest: latest, Filling: g.id, Samples: e.about.Config.Samples, Committed: g.committed,
		Reserved: len(g.reserved), Swaps: latest, LastSwap: e.swapped, Groups: e.groups.Stats(&e.progress)}
	for _, x := range e.about.Schema.Tensors() {
		st.Bytes += int64(x.ByteSize())
	}
	for _, id := range slices.Sorted(maps.Keys(e.kept)) {
		if e.kept[id].timer != nil {
			st.Held = append(st.Held, id)
			if slices.ContainsFunc(e.kept[id].readers, func(h *handle) bool { return !h.dead() }) {
				st.Holders = append(st.Holders, engine.HolderStats{Generation: id, PID: pid})
			}
		}
	}
	for _, r := range g.reserved {
		st.Slots = append(st.Slots, engine.SlotStats{Slot: r.slot, PID: pid, For: time.Since(r.since)})
	}
	slices.SortFunc(st.Slots, func(a, b engine.SlotStats) int { return a.Slot - b.Slot })
	for _, h := range e.members {
		st.Members = append(st.Members, engine.MemberStats{PID: pid, For: time.Since(h.since)})
	}
	for _, name := range slices.Sorted(maps.Keys(e.windows)) {
		st.Producers = append(st.Producers, engine.ProducerStats{Name: name, Window: e.windows[name]})
		if !e.claims[name].dead() {
			st.Producers[len(st.Producers)-1].PID = pid
		}
	}
	if g.infos == nil {
		st.PublishWaits = e.about.Config.Held(st.Held)
	} else if g.committed == st.Samples {
		st.PublishWaits = strings.Join(e.groups.Waits(&e.progress), " and ")
	}
	return st, nil
}
