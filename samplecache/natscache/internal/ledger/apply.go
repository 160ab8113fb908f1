package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// ErrLost says that an event is about a thing that has ended.
var ErrLost = errors.New("it has ended")

// maxNames is the maximum number of names of producers.
const maxNames = 4096

// An Outcome is what an event has led to.
type Outcome struct {
	Err        error
	ID         uint64        // of the thing that it made, or 0
	Window     engine.Window // of a claim
	Generation uint64        // of a row or a pass
	Count      int           // rows taken
}

// A Step is what a message has led to.
type Step struct {
	Process  string
	Outcomes []Outcome // of its events; nil if the message did not count
	Wakes    bool      // something that was blocked may be possible now
	Dropped  []uint64  // generations that are not kept any more
	Below    uint64    // chunks with lower numbers are of no use, if there are dropped generations
	Freed    []Freed   // rows that were not committed
	Due      bool      // it is time for another snapshot
}

// A Freed is a row that was aborted or lost.
type Freed struct{ Generation, Row uint64 }

// Apply applies the message with sequence number seq, which must be l.Seq+1. at is the time at
// which the server stored it. After an error, [engine.ErrCorrupt] or [ErrVersion], l is unchanged.
func (l *Ledger) Apply(seq uint64, at time.Time, data []byte) (s Step, err error) {
	m, err := decode(data)
	if err == nil && seq != l.Seq+1 {
		err = fmt.Errorf("%w: it follows event %d", engine.ErrCorrupt, l.Seq)
	}
	for _, e := range m.Events {
		if kinds[e.Kind].do == nil && err == nil {
			err = fmt.Errorf("%w: got an event %q", ErrVersion, e.Kind)
		}
	}
	if err != nil {
		return s, fmt.Errorf("event %d: %w", seq, err)
	}
	l.Seq, l.Now = seq, max(l.Now, at.UnixNano())
	s.Process = m.Process
	p := l.Processes[m.Process]
	if p == nil && m.Number == 1 && len(m.Events) > 0 && m.Events[0].Kind == Process {
		p = &Member{Host: m.Events[0].Host, PID: m.Events[0].PID}
		l.Processes[m.Process] = p
	}
	l.advance(&s) // time has passed
	if p != nil && m.Number > p.Number {
		p.Number, p.Heard = m.Number, seq
		for i := range m.Events {
			s.Outcomes = append(s.Outcomes, l.apply(&s, m.Process, &m.Events[i]))
			l.advance(&s)
		}
	}
	l.snapshot(&s)
	return s, nil
}

// snapshotEvents is the least number of messages between two snapshots.
const snapshotEvents = 1000

// snapshot sets s.Due once there are more messages since the last snapshot than parts in the next,
// so that snapshots cost each message a constant.
func (l *Ledger) snapshot(s *Step) {
	parts := l.records + len(l.Filling.Rows) + len(l.Things) + len(l.Names) + len(l.Processes)
	if l.Seq-l.Written >= uint64(snapshotEvents+parts) {
		l.Written, s.Due = l.Seq, true
	}
}

// A change applies an event of a process about a thing of it.
type change func(l *Ledger, s *Step, e *Event, of *Thing) Outcome

// kinds has the changes, with the kind of the thing that each is about, "" for none.
var kinds = map[Kind]struct {
	of Kind
	do change
}{
	Process: {"", nothing}, Tick: {"", nothing}, Gone: {"", gone},
	Join: {"", join}, End: {"", end},
	Claim: {Join, claim}, Forget: {Join, forget}, Hold: {Join, hold}, Enter: {Join, enter},
	Reserve: {Claim, reserve}, Commit: {Reserve, commit}, Begin: {Enter, begin}, Take: {Begin, take},
}

// apply applies an event.
func (l *Ledger) apply(s *Step, process string, e *Event) Outcome {
	k, of := kinds[e.Kind], l.Things[e.Of]
	switch {
	case l.Processes[process] == nil:
		return Outcome{Err: ErrLost} // it has ended itself
	case e.Kind == Join:
		of = &Thing{Process: process}
	case k.of == "" && e.Kind != End:
	case of == nil || of.Process != process || k.of != "" && of.Kind != k.of:
		return Outcome{Err: ErrLost}
	}
	return k.do(l, s, e, of)
}

func nothing(*Ledger, *Step, *Event, *Thing) Outcome { return Outcome{} }

// give adds a thing of the session of another.
func (l *Ledger) give(of *Thing, t Thing) Outcome {
	l.Last++
	t.Process, t.Session, t.Since = of.Process, cmp.Or(of.Session, l.Last), l.Now
	l.Things[l.Last] = &t
	l.add(l.Last, &t)
	return Outcome{ID: l.Last, Generation: t.Generation}
}

func join(l *Ledger, _ *Step, _ *Event, of *Thing) Outcome { return l.give(of, Thing{Kind: Join}) }

func gone(l *Ledger, s *Step, e *Event, _ *Thing) Outcome {
	p := l.Processes[e.Name]
	if p == nil || e.Number > 0 && p.Heard > e.Number {
		return Outcome{Err: ErrLost}
	}
	parts := map[uint64]bool{}
	for session := range l.sessions[e.Name] {
		maps.Copy(parts, l.parts[session])
	}
	l.remove(s, parts)
	delete(l.Processes, e.Name)
	return Outcome{}
}

func end(l *Ledger, s *Step, e *Event, of *Thing) Outcome {
	parts := map[uint64]bool{e.Of: true}
	if of.Kind == Join {
		parts = l.parts[e.Of]
	}
	l.remove(s, parts)
	return Outcome{}
}

// remove ends things.
func (l *Ledger) remove(s *Step, parts map[uint64]bool) {
	tidy := false
	for id := range parts {
		t := l.Things[id]
		l.drop(id, t)
		switch t.Kind {
		case Reserve:
			s.Freed, s.Wakes = append(s.Freed, Freed{t.Generation, id}), true
		case Enter, Begin:
			tidy, s.Wakes = true, true
		}
	}
	slices.SortFunc(s.Freed, func(a, b Freed) int { return cmp.Compare(a.Row, b.Row) })
	if tidy {
		l.tidy()
	}
}

// tidy ends the epochs that are over, after a holder has ended or an epoch has begun.
func (l *Ledger) tidy() {
	l.Groups.Tidy(&l.progress, func(holder uint64) bool { return l.holders[holder] })
}

func claim(l *Ledger, _ *Step, e *Event, of *Thing) Outcome {
	window, named := l.Names[e.Name]
	switch {
	case e.Name == "":
	case l.claims[e.Name] != 0:
		t := l.Things[l.claims[e.Name]]
		p := l.Processes[t.Process]
		return Outcome{Err: fmt.Errorf("%w: by pid %d on %s; if that has died, the name is free after a lease of %v",
			engine.ErrProducerBusy, p.PID, p.Host, l.Charter.Lease)}
	case !named && l.full():
		return Outcome{Err: fmt.Errorf("%w: there are %d names already", engine.ErrProducer, maxNames)}
	}
	o := l.give(of, Thing{Kind: Claim, Name: e.Name})
	o.Window = window
	return o
}

// full reports whether there are maxNames names that are committed or claimed.
func (l *Ledger) full() bool {
	n := len(l.Names) + len(l.claims)
	if n < maxNames {
		return false // do not count
	}
	for name := range l.claims {
		if _, both := l.Names[name]; both {
			n--
		}
	}
	return n >= maxNames
}

func forget(l *Ledger, _ *Step, e *Event, _ *Thing) Outcome {
	if l.claims[e.Name] != 0 {
		return Outcome{Err: engine.ErrProducerBusy}
	}
	if _, named := l.Names[e.Name]; !named {
		return Outcome{Err: fmt.Errorf("%w: no sample was put under it", engine.ErrProducer)}
	}
	delete(l.Names, e.Name)
	return Outcome{}
}

func reserve(l *Ledger, _ *Step, e *Event, of *Thing) Outcome {
	window := l.Names[of.Name]
	switch {
	case of.Name != "" && window.Has(e.Number):
		return Outcome{Err: engine.ErrCommitted}
	case of.Name != "" && !window.Reaches(e.Number):
		return Outcome{Err: fmt.Errorf("%w: got number %d, want at most %d", engine.ErrProducer, e.Number, window.Floor+engine.WindowSize-1)}
	case l.Free() == 0:
		return Outcome{Err: engine.ErrBlocked}
	}
	l.Filling.Reserved++
	return l.give(of, Thing{Kind: Reserve, Name: of.Name, Number: e.Number, Slot: l.Filling.Reserved - 1, Generation: l.Filling.ID})
}

func commit(l *Ledger, s *Step, e *Event, of *Thing) Outcome {
	if err := l.Charter.fits(e.Sums, e.At); err != nil {
		return Outcome{Err: err}
	}
	window := l.Names[of.Name]
	switch {
	case of.Name == "":
	case window.Has(of.Number):
		return Outcome{Err: engine.ErrCommitted}
	case !window.Reaches(of.Number):
		return Outcome{Err: fmt.Errorf("%w: got number %d, want at most %d: the name was forgotten", engine.ErrProducer, of.Number, window.Floor+engine.WindowSize-1)}
	default:
		l.Names[of.Name] = window.With(of.Number)
	}
	l.drop(e.Of, of)
	l.Filling.Rows = append(l.Filling.Rows, Record{Row: e.Of, Producer: of.Name, Number: of.Number, Time: l.Now, Sums: e.Sums, At: e.At})
	s.Wakes = s.Wakes || l.Charter.Config.Limits.PerInsert > 0
	return Outcome{Generation: of.Generation}
}

func hold(l *Ledger, _ *Step, e *Event, of *Thing) Outcome {
	if l.Kept[e.Generation] == nil {
		return Outcome{Err: engine.ErrGenerationGone}
	}
	return l.give(of, Thing{Kind: Hold, Generation: e.Generation})
}

func enter(l *Ledger, s *Step, e *Event, of *Thing) Outcome {
	if e.World < 1 {
		return Outcome{Err: fmt.Errorf("%w: got %d ranks, want at least 1", engine.ErrGroup, e.World)}
	}
	inserts := int64(l.Latest)*int64(l.Charter.Config.Samples) + int64(len(l.Filling.Rows)+l.reserved)
	holder, err := l.Groups.Enter(&l.progress, e.Name, e.World, inserts)
	if err != nil {
		return Outcome{Err: err}
	}
	s.Wakes = true
	return l.give(of, Thing{Kind: Enter, Name: e.Name, Holder: holder})
}

func begin(l *Ledger, s *Step, e *Event, of *Thing) Outcome {
	want := e.Generation
	if want > 0 && l.Kept[want] == nil {
		if !e.OrLatest {
			return Outcome{Err: engine.ErrGenerationGone}
		}
		want = 0
	}
	holder, id, err := l.Groups.Begin(&l.progress, of.Name, e.Epoch, want)
	if err != nil {
		return Outcome{Err: err}
	}
	s.Wakes = true
	o := l.give(of, Thing{Kind: Begin, Name: of.Name, Epoch: e.Epoch, Generation: id, Holder: holder})
	l.tidy() // an epoch of an older generation than one that all ranks have left is over at once
	return o
}

func take(l *Ledger, s *Step, e *Event, of *Thing) Outcome {
	n := e.Count
	if g := l.Groups.Group(of.Name); g != nil {
		n = g.Take(&l.progress, of.Epoch, n)
	}
	if n <= 0 {
		return Outcome{Err: engine.ErrBlocked}
	}
	s.Wakes = true
	return Outcome{Count: n}
}
