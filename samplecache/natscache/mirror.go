package natscache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// Mirror copies the generations of a cache into a directory of this machine, until ctx ends; then
// it returns the error of ctx. Sessions of this machine whose [Engine.Mirror] is the directory read
// the samples there, mapped, so that each sample crosses the network once for all of them. Rows are
// copied as they are committed, so the mirror has a generation a moment after it was published. If
// dir is renamed or replaced, Mirror makes it anew. Before you remove dir, rename it: a Mirror that
// finds only some of its files returns an error.
//
// dir must not exist, or be a mirror of a cache of the same name. It is a cache of package
// dircache, whose generations have other numbers: dircache.Engine reads it too, and so does Python.
//
// Mirror returns an [Error], which wraps [engine.ErrConfig] if dir is "", fs.ErrExist if dir is
// something else,
// [engine.ErrProducerBusy] if another Mirror fills it, and the errors of [Engine.Join] and of
// dircache.Create.
func Mirror(ctx context.Context, e Engine, dir string) error {
	if err := mirror(ctx, e, dir); err != nil {
		return &Error{"mirror", plainURL(e.URL), e.Name, err}
	}
	return nil
}

func mirror(ctx context.Context, e Engine, dir string) error {
	if dir == "" {
		return fmt.Errorf("%w: got no directory", engine.ErrConfig)
	}
	e.Mirror = ""
	s, err := e.join(ctx, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it only reads
	for err == nil || errors.Is(err, errMoved) || errors.Is(err, errTorn) {
		err = s.mirrorTo(ctx, dir, errors.Is(err, errTorn))
	}
	return err
}

// errMoved says that the directory of a mirror was removed or replaced.
var errMoved = errors.New("the directory was removed or replaced")

// errTorn says that the generation that a mirror was filling is gone, so that it cannot be
// completed.
var errTorn = errors.New("a generation was lost before it was copied")

// markName is the name of the file that makes a directory a mirror.
const markName = "mirror.json"

// A target is the content of the file: which cache it mirrors.
type target struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// targetOf returns the target of a mirror. It is zero if dir does not exist.
func targetOf(dir string) (t target, err error) {
	other := fmt.Errorf("%w: %s is not a mirror: name a directory that does not exist yet", fs.ErrExist, dir)
	at, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if link, err := os.Lstat(dir); err == nil && link.Mode()&fs.ModeSymlink != 0 {
			return t, other
		}
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer at.Close()
	data, err := at.ReadFile(markName)
	if errors.Is(err, fs.ErrNotExist) {
		was, err := at.Stat(".")
		if now, failed := os.Stat(dir); err == nil && failed == nil && os.SameFile(was, now) {
			return t, other
		}
		return t, nil // it was removed meanwhile
	}
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf("%w: %s: %w", engine.ErrCorrupt, filepath.Join(dir, markName), err)
	}
	return t, nil
}

// mirrorTo copies generations, until one cannot be completed. torn says that this has happened.
func (s *session) mirrorTo(ctx context.Context, dir string, torn bool) error {
	t, err := targetOf(dir)
	if err != nil {
		return err
	}
	want := target{string(s.p.site), s.p.about.ID}
	if t.Name != "" && t.Name != want.Name {
		return fmt.Errorf("%w: %s is a mirror of %q", fs.ErrExist, dir, t.Name)
	}
	if t != want || torn {
		if err := s.makeMirror(dir, want, t.Name != ""); err != nil {
			return err
		}
	}
	at, err := os.Stat(dir)
	if err == nil {
		t, err = targetOf(dir)
	}
	if err == nil && t != want {
		err = errMoved // if it is of another name now, the next call says so
	}
	if err == nil {
		err = s.copyTo(ctx, dir)
	}
	if now, failed := os.Stat(dir); ctx.Err() == nil && !errors.Is(err, errTorn) && (errors.Is(failed, fs.ErrNotExist) || failed == nil && !os.SameFile(at, now)) {
		return errMoved
	}
	return err
}

// copyTo copies generations to a mirror that is there.
func (s *session) copyTo(ctx context.Context, dir string) error {
	to, err := dircache.Engine{Dir: dir}.Join(ctx, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }() // what is committed is there
	c := &copying{s: s, to: to}
	for err = c.begin(ctx); err == nil; {
		err = c.next(ctx)
	}
	return err
}

// makeMirror makes an empty mirror. There says that there is one, which it replaces; it replaces
// nothing else. If another Mirror is faster, it leaves that one.
func (s *session) makeMirror(dir string, of target, there bool) error {
	config := engine.Config{Samples: s.p.charter.Config.Samples, Retain: s.p.charter.Config.Retain, MaxHeld: s.p.charter.Config.MaxHeld}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	tmp, err := vfs.MakeTemp(vfs.OS, dir)
	if err != nil {
		return err
	}
	data, err := json.Marshal(of)
	if err == nil {
		err = dircache.Create(tmp.New(), s.p.about.Schema, config)
	}
	if err == nil {
		err = vfs.MakeFile(vfs.OS, filepath.Join(tmp.New(), markName), 0o666, false, true, func(f vfs.File) error {
			_, err := f.Write(data)
			return err
		})
	}
	switch {
	case err != nil:
	case there:
		old, failed := os.Lstat(dir)
		if err = failed; err == nil {
			err = vfs.Publish(vfs.OS, tmp.New(), dir, old)
		}
		if now, failed := os.Lstat(dir); err != nil && (errors.Is(failed, fs.ErrNotExist) || failed == nil && !os.SameFile(old, now)) {
			err = errMoved // another Mirror was faster
		}
	default:
		if err = vfs.PublishNew(vfs.OS, tmp.New(), dir, false); errors.Is(err, fs.ErrExist) {
			err = nil // mirrorTo looks at it again
		}
	}
	return errors.Join(err, tmp.Remove())
}

// A copying copies generations to a mirror.
type copying struct {
	s     *session
	to    engine.Session
	claim engine.Claim // of no name: the numbers of samples are the numbers of their generations
	last  uint64       // the last generation that was copied
}

// fillerName is the name that a Mirror claims, so that there is one.
const fillerName = "mirror"

// unblocked calls fn, which calls the mirror, until fn does not return [engine.ErrBlocked].
func (c *copying) unblocked(ctx context.Context, fn func() error) error {
	for {
		changed := c.to.Changed()
		err := fn()
		if !errors.Is(err, engine.ErrBlocked) {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin claims the mirror, and finds out which generation it has.
func (c *copying) begin(ctx context.Context) (err error) {
	claim := func(name string) func() error {
		return func() (err error) { c.claim, err = c.to.Claim(ctx, name); return err }
	}
	for range 50 { // a second: readers try the name, and on a busy machine may have it for long
		err = c.unblocked(ctx, claim(fillerName))
		if !errors.Is(err, engine.ErrProducerBusy) || !sleep(ctx, pause) {
			break
		}
	}
	if errors.Is(err, engine.ErrProducerBusy) {
		return fmt.Errorf("another Mirror fills it: %w", err)
	}
	if err == nil {
		err = c.unblocked(ctx, claim(""))
	}
	var st engine.Stats
	if err == nil {
		err = c.unblocked(ctx, func() (err error) { st, err = c.to.Stats(ctx); return err })
	}
	switch {
	case err != nil:
		return err
	case st.Committed > 0:
		return errTorn // a killed Mirror has left it
	case st.Latest > 0:
		return c.unblocked(ctx, func() (err error) { c.last, err = copied(ctx, c.to, st.Latest); return err })
	}
	return nil
}

// copied returns which generation of the servers a generation of a mirror is.
func copied(ctx context.Context, to engine.Session, id uint64) (uint64, error) {
	r, err := to.Open(ctx, id)
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }() // nothing was lent
	info, err := r.Info(0)
	return info.Number, err
}

// next copies the generation after the last one, or the latest.
func (c *copying) next(ctx context.Context) error {
	latest, err := c.s.Latest(ctx)
	if err != nil {
		return err
	}
	id := max(c.last+1, latest)
	slots, err := c.reserve(ctx, id)
	if err != nil {
		return err
	}
	r := &rows{s: c.s, id: id}
	held := false
	defer func() {
		if held {
			_ = r.part.close() // it was read
		}
	}()
	for done := 0; done < len(slots); {
		records, published, err := c.records(ctx, id, done)
		if err != nil {
			return err
		}
		if published && !held {
			hold, err := c.s.open(ctx, id)
			if errors.Is(err, engine.ErrGenerationGone) {
				return errTorn
			}
			if err != nil {
				return err
			}
			r.part, held = hold.part, true
		}
		r.records = records
		from := done
		done = min(len(records), from+batchRows)
		err = workers.Do(ctx, done-from, c.s.p.layout.readers()/2, func(i int) error { return c.row(ctx, r, from+i, slots[from+i]) })
		if errors.Is(err, engine.ErrGenerationGone) {
			return errTorn
		}
		if err != nil {
			return err
		}
	}
	c.last = id
	return nil
}

// batchRows is how many rows are copied before the copying looks at the log again.
const batchRows = 64

// records waits until a generation has more than n samples, and returns them.
func (c *copying) records(ctx context.Context, id uint64, n int) (records []ledger.Record, published bool, err error) {
	p := c.s.p
	for {
		l, err := p.alive(ctx)
		if err != nil {
			return nil, false, err
		}
		p.mu.Lock()
		g, seq, published := l.ledger.Generation(id), l.ledger.Seq, l.ledger.Latest >= id
		if g != nil {
			records = slices.Clip(g.Rows)
		}
		p.mu.Unlock()
		switch {
		case g == nil && published:
			return nil, false, errTorn
		case len(records) > n:
			return records, published, nil
		}
		if err := p.reach(ctx, l, seq+1); err != nil && err != errAnew {
			return nil, false, err
		}
	}
}

// reserve reserves all slots of a generation of the mirror, once its readers have left room.
func (c *copying) reserve(ctx context.Context, id uint64) ([]engine.Row, error) {
	slots := make([]engine.Row, c.s.p.charter.Config.Samples)
	for n := 0; n < len(slots); {
		var slot engine.Row
		err := c.unblocked(ctx, func() (err error) { slot, err = c.claim.Reserve(ctx, id); return err })
		if err != nil {
			return nil, err
		}
		slots[c.place(slot, n)] = slot
		n++
	}
	return slots, nil
}

// place returns the number of the row that a slot is. Without bytes, slots do not differ.
func (c *copying) place(slot engine.Row, otherwise int) int {
	for leaf, size := range c.s.p.layout.size {
		if size > 0 {
			_, offset := slot.Place(leaf)
			return offset / size
		}
	}
	return otherwise
}

// row copies a row to a slot.
func (c *copying) row(ctx context.Context, r *rows, row int, slot engine.Row) error {
	l := c.s.p.layout
	var pieces []piece
	for leaf, size := range l.size {
		lender, offset := slot.Place(leaf)
		if size == 0 {
			continue
		}
		memory, err := lender.Borrow()
		if err != nil {
			return err
		}
		defer lender.Return()
		pieces = l.cut(pieces, row, leaf, memory[offset:][:size])
	}
	if err := r.download(ctx, pieces); err != nil {
		return err
	}
	return c.unblocked(ctx, func() error { return slot.Commit(ctx, r.records[row].Sums) })
}
