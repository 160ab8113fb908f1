package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// Version is the version of the format of logs.
const Version = 1

// A Charter is what never changes of a cache.
type Charter struct {
	Version int           `json:"version"`
	ID      string        `json:"id"`
	Config  engine.Config `json:"config"` // with the defaults filled in
	Lease   time.Duration `json:"lease"`
	Schema  []Leaf        `json:"schema"`
	Chunks  int           `json:"chunks"` // of a sample
}

// A Leaf describes a leaf of a sample.
type Leaf struct {
	Key   nestedkey.Key `json:"key"`
	DType string        `json:"dtype"`
	Shape []int         `json:"shape"`
}

// A Ledger is the state of a cache after the message with number Seq.
//
// Not safe for concurrent use.
type Ledger struct {
	Charter   Charter                  `json:"charter"`
	Seq       uint64                   `json:"seq"`
	Now       int64                    `json:"now"`     // time of the latest message, ns
	Last      uint64                   `json:"last"`    // the last number of a thing
	Written   uint64                   `json:"written"` // Seq when a snapshot was due
	Latest    uint64                   `json:"latest"`  // the generation published last
	Swapped   int64                    `json:"swapped"` // when, ns
	Filling   *Generation              `json:"filling"`
	Kept      map[uint64]*Generation   `json:"kept"` // published
	Processes map[string]*Member       `json:"processes"`
	Things    map[uint64]*Thing        `json:"things"`
	Names     map[string]engine.Window `json:"names"` // committed numbers of producers
	Groups    engine.Groups            `json:"groups"`

	index // computed from the rest
}

// A Generation has the committed samples of a generation, in the order of their commits.
type Generation struct {
	ID       uint64   `json:"id"`
	Rows     []Record `json:"rows"`
	Room     bool     `json:"room"`              // it may be filled
	Reserved int      `json:"reserved"`          // number of rows ever reserved
	Retired  int64    `json:"retired,omitempty"` // when it was retired, ns; 0 for never
}

// A Record describes a committed sample.
type Record struct {
	Row      uint64   `json:"row"` // the thing that it was
	Producer string   `json:"producer,omitempty"`
	Number   uint64   `json:"number"`
	Time     int64    `json:"time"` // ns
	Sums     []uint32 `json:"sums"`
	At       []uint64 `json:"at"`
}

// A Member is a process.
type Member struct {
	Host   string `json:"host"`
	PID    int    `json:"pid"`
	Number uint64 `json:"number"` // of its last message
	Heard  uint64 `json:"heard"`  // Seq of its last message
}

// A Thing is what a process has.
type Thing struct {
	Kind       Kind   `json:"kind"` // of the event that made it
	Process    string `json:"process"`
	Session    uint64 `json:"session"`
	Since      int64  `json:"since"`                // ns
	Name       string `json:"name,omitempty"`       // of a claim, row, seat or pass
	Number     uint64 `json:"number,omitempty"`     // of a row
	Slot       int    `json:"slot,omitempty"`       // of a row
	Generation uint64 `json:"generation,omitempty"` // of a row, hold or pass
	Epoch      uint64 `json:"epoch,omitempty"`      // of a pass
	Holder     uint64 `json:"holder,omitempty"`     // of a seat or pass, in Groups
}

// An index finds things.
type index struct {
	progress engine.Progress
	claims   map[string]uint64          // by name
	holds    map[uint64]int             // number of holds on a generation
	holders  map[uint64]bool            // holders that live
	sessions map[string]map[uint64]bool // of a process
	parts    map[uint64]map[uint64]bool // things of a session, itself among them
	reserved int                        // rows
	records  int                        // of kept generations
}

// New returns the ledger of a cache without samples.
func New(c Charter) *Ledger {
	l := &Ledger{Charter: c, Filling: &Generation{ID: 1, Room: true}, Kept: map[uint64]*Generation{},
		Processes: map[string]*Member{}, Things: map[uint64]*Thing{}, Names: map[string]engine.Window{}}
	l.reindex()
	return l
}

// Encode returns a snapshot. Two ledgers that have applied the same messages give the same bytes.
func (l *Ledger) Encode() ([]byte, error) { return json.Marshal(l) }

// Decode returns the ledger of a snapshot. It returns [ErrVersion] or [engine.ErrCorrupt].
func Decode(data []byte) (*Ledger, error) {
	l := &Ledger{}
	err := json.Unmarshal(data, l)
	switch got := l.Charter.Version; {
	case got > Version: // whatever else it has
		return nil, fmt.Errorf("%w: got version %d of a cache, want %d", ErrVersion, got, Version)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	case got < Version:
		return nil, fmt.Errorf("%w: got version %d of a cache, want %d", engine.ErrCorrupt, got, Version)
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	l.reindex()
	return l, nil
}

// hasNil reports whether m or one of its values is nil.
func hasNil[K comparable, V any](m map[K]*V) bool {
	for _, v := range m {
		if v == nil {
			return true
		}
	}
	return m == nil
}

// reindex computes the index.
func (l *Ledger) reindex() {
	l.index = index{claims: map[string]uint64{}, holds: map[uint64]int{}, holders: map[uint64]bool{},
		sessions: map[string]map[uint64]bool{}, parts: map[uint64]map[uint64]bool{}}
	for id, t := range l.Things {
		l.add(id, t)
	}
	for _, g := range l.Kept {
		l.records += len(g.Rows)
	}
	l.refer()
}

// refer makes the progress with which groups are compared.
func (l *Ledger) refer() {
	l.progress = engine.Progress{Config: l.Charter.Config, Latest: l.Latest, Committed: func() int { return len(l.Filling.Rows) }}
}

// add puts a thing in the index.
func (l *Ledger) add(id uint64, t *Thing) {
	if l.sessions[t.Process] == nil {
		l.sessions[t.Process] = map[uint64]bool{}
	}
	if l.parts[t.Session] == nil {
		l.parts[t.Session] = map[uint64]bool{}
	}
	l.sessions[t.Process][t.Session], l.parts[t.Session][id] = true, true
	switch t.Kind {
	case Claim:
		if t.Name != "" {
			l.claims[t.Name] = id
		}
	case Reserve:
		l.reserved++
	case Hold:
		l.holds[t.Generation]++
	case Enter, Begin:
		l.holders[t.Holder] = true
	}
}

// drop takes a thing out of the index, and out of the ledger.
func (l *Ledger) drop(id uint64, t *Thing) {
	delete(l.Things, id)
	if delete(l.parts[t.Session], id); len(l.parts[t.Session]) == 0 {
		delete(l.parts, t.Session)
		if delete(l.sessions[t.Process], t.Session); len(l.sessions[t.Process]) == 0 {
			delete(l.sessions, t.Process)
		}
	}
	switch t.Kind {
	case Claim:
		delete(l.claims, t.Name)
	case Reserve:
		l.reserved--
	case Hold:
		if l.holds[t.Generation]--; l.holds[t.Generation] == 0 {
			delete(l.holds, t.Generation)
		}
	case Enter, Begin:
		delete(l.holders, t.Holder)
	}
}

// Generation returns a generation that is kept or being filled, or nil.
func (l *Ledger) Generation(id uint64) *Generation {
	if id == l.Filling.ID {
		return l.Filling
	}
	return l.Kept[id]
}

// Committed reports whether the sample of a row is in a generation that is kept or being filled.
// known is false if its generation is gone, so that nobody knows.
func (l *Ledger) Committed(generation, row uint64) (committed, known bool) {
	g := l.Generation(generation)
	if g == nil {
		return false, false
	}
	return slices.ContainsFunc(g.Rows, func(r Record) bool { return r.Row == row }), true
}

// Free returns how many rows may be reserved.
func (l *Ledger) Free() int {
	if !l.Filling.Room {
		return 0
	}
	return max(min(l.Charter.Config.Samples, l.Groups.Room(&l.progress))-len(l.Filling.Rows)-l.reserved, 0)
}

// Begins returns nil if the seat may begin a pass in an epoch, or if there is no such seat, and an
// [engine.ErrBlocked] otherwise.
func (l *Ledger) Begins(seat, epoch uint64) error {
	if t := l.Things[seat]; t != nil {
		if g := l.Groups.Group(t.Name); g != nil {
			return g.Begins(&l.progress, epoch)
		}
	}
	return nil
}

// Allows reports whether limits allow a pass to take a row. It returns the name of the group.
func (l *Ledger) Allows(pass uint64) (allowed bool, group string) {
	t := l.Things[pass]
	if t == nil {
		return true, "" // the event finds out
	}
	g := l.Groups.Group(t.Name)
	if g == nil {
		return true, t.Name
	}
	copied := *g
	copied.Epochs = slices.Clone(g.Epochs)
	return copied.Take(&l.progress, t.Epoch, 1) > 0, t.Name
}

// Due returns when the next generation is held for too long, ns, or 0 if none will be.
func (l *Ledger) Due() (at int64) {
	most := int64(l.Charter.Config.MaxHold)
	for _, g := range l.Kept {
		ends := most > 0 && g.Retired > 0 && g.Retired <= math.MaxInt64-most
		if ends && (at == 0 || g.Retired+most < at) {
			at = g.Retired + most
		}
	}
	return at
}
