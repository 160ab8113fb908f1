package ledger

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// check returns an [engine.ErrCorrupt] if l is no state that a log leads to. It checks what the
// methods of a ledger, and readers of its generations, rely on.
func (l *Ledger) check() error {
	err := l.Charter.Config.Check()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	case l.Filling == nil || l.Filling.ID != l.Latest+1:
		return fmt.Errorf("%w: the generation that is being filled does not follow the latest, %d", engine.ErrCorrupt, l.Latest)
	case hasNil(l.Kept) || hasNil(l.Processes) || hasNil(l.Things) || l.Names == nil:
		return fmt.Errorf("%w: a part is missing", engine.ErrCorrupt)
	}
	claimed := map[string]bool{}
	reserved := 0
	for _, id := range slices.Sorted(maps.Keys(l.Things)) {
		t := l.Things[id]
		if err := l.checkThing(id, t); err != nil {
			return err
		}
		switch {
		case t.Kind == Reserve:
			reserved++
		case t.Kind == Claim && claimed[t.Name]:
			return fmt.Errorf("%w: %q is claimed twice", engine.ErrCorrupt, t.Name)
		case t.Kind == Claim && t.Name != "":
			claimed[t.Name] = true
		}
	}
	return l.checkGenerations(reserved)
}

// checkThing checks one thing.
func (l *Ledger) checkThing(id uint64, t *Thing) error {
	session := l.Things[t.Session]
	isSession := t.Session == id
	switch {
	case id < 1 || id > l.Last:
		return fmt.Errorf("%w: got thing %d, want 1 to %d", engine.ErrCorrupt, id, l.Last)
	case l.Processes[t.Process] == nil:
		return fmt.Errorf("%w: thing %d is of process %q, which is missing", engine.ErrCorrupt, id, t.Process)
	case session == nil || session.Kind != Join || session.Process != t.Process || isSession != (t.Kind == Join):
		return fmt.Errorf("%w: thing %d is of session %d, which is missing", engine.ErrCorrupt, id, t.Session)
	case !makes(t.Kind):
		return fmt.Errorf("%w: thing %d is a %q, want what an event makes", engine.ErrCorrupt, id, t.Kind)
	case t.Kind == Reserve && t.Generation != l.Filling.ID:
		return fmt.Errorf("%w: row %d is of generation %d, want %d", engine.ErrCorrupt, id, t.Generation, l.Filling.ID)
	}
	return nil
}

// makes reports whether events of a kind make things.
func makes(kind Kind) bool {
	return slices.Contains([]Kind{Join, Claim, Reserve, Hold, Enter, Begin}, kind)
}

// checkGenerations checks the generations. reserved is the number of rows.
func (l *Ledger) checkGenerations(reserved int) error {
	samples := l.Charter.Config.Samples
	for _, id := range slices.Sorted(maps.Keys(l.Kept)) {
		switch g := l.Kept[id]; {
		case g.ID != id || id < 1 || id > l.Latest:
			return fmt.Errorf("%w: got generation %d in place of %d, want at most %d", engine.ErrCorrupt, g.ID, id, l.Latest)
		case len(g.Rows) != samples:
			return fmt.Errorf("%w: generation %d has %d samples, want %d", engine.ErrCorrupt, id, len(g.Rows), samples)
		}
		if err := l.checkRows(l.Kept[id]); err != nil {
			return err
		}
	}
	g, most := l.Filling, fmt.Sprint("at most ", samples)
	if !g.Room {
		samples, most = 0, "none without room"
	}
	if n := len(g.Rows); n+reserved > samples {
		return fmt.Errorf("%w: generation %d has %d samples and %d rows, want %s", engine.ErrCorrupt, g.ID, n, reserved, most)
	}
	return l.checkRows(g)
}

// checkRows checks the samples of a generation.
func (l *Ledger) checkRows(g *Generation) error {
	for i := range g.Rows {
		if err := l.Charter.fits(g.Rows[i].Sums, g.Rows[i].At); err != nil {
			return fmt.Errorf("generation %d: row %d: %w", g.ID, i, err)
		}
	}
	return nil
}

// fits returns an [engine.ErrCorrupt] if a sample does not have a sum for each leaf and all chunks.
func (c *Charter) fits(sums []uint32, at []uint64) error {
	if len(sums) != len(c.Schema) || len(at) != c.Chunks {
		return fmt.Errorf("%w: got %d sums and %d chunks, want %d and %d", engine.ErrCorrupt, len(sums), len(at), len(c.Schema), c.Chunks)
	}
	return nil
}
