package dircache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/go-tensordict/tensordict/internal/bell"
	"github.com/go-tensordict/tensordict/samplecache"
)

// A neighbour is another session as this one knows it.
type neighbour struct {
	join uint64
	line *bell.Line
}

// bellPath returns the path of the bell of a session.
func (s *session) bellPath(join uint64) string {
	return filepath.Join(s.at, peersName, fmt.Sprintf("%010d", join))
}

// enter makes the session one of the peers. The lock is held, so that nobody finds the bell before
// it is hung.
func (s *session) enter() error {
	if err := s.findEntry(); err != nil {
		return err
	}
	passing("joins counted")
	if err := ignoreAbsent(os.Remove(s.bellPath(s.join))); err != nil { // of before a rebuild
		return err
	}
	var err error
	if s.bell, err = bell.Hang(s.bellPath(s.join)); err != nil {
		return err
	}
	passing("bell hung")
	return s.use(func(w words) {
		at := s.layout.peer(s.me)
		w.store(at+peerPID, uint64(os.Getpid()))
		w.store(at+peerSince, now())
		w.store(at+peerWaiting, wantsBig)
		w.raise(peersWord, uint64(s.me)+1)
		w.store(at+peerJoin, s.join)
	})
}

// findEntry counts the session among those that have joined, and finds a free entry for it.
func (s *session) findEntry() error {
	s.me = -1
	err := s.use(func(w words) {
		s.join = w.load(joinsWord) + 1
		w.store(joinsWord, s.join)
		for i := 0; i < maxPeers && s.me < 0; i++ {
			if w.load(s.layout.peer(i)+peerJoin) == 0 {
				s.me = i
			}
		}
	})
	if err == nil && s.me < 0 {
		err = fmt.Errorf("%w: %d sessions take part already", samplecache.ErrConfig, maxPeers)
	}
	return err
}

// isBell reports whether an entry of the directory of peers is a bell, and not a file of others.
func isBell(e fs.DirEntry) bool {
	n, err := strconv.ParseUint(e.Name(), 10, 64)
	return err == nil && e.Name() == fmt.Sprintf("%010d", n) && e.Type() == fs.ModeNamedPipe
}

// joined returns which sessions take part, by their entries.
func (s *session) joined() (joins map[int]uint64, err error) {
	joins = map[int]uint64{}
	err = s.use(func(w words) {
		for i := range w.below(peersWord, maxPeers) {
			if join := w.load(s.layout.peer(i) + peerJoin); join != 0 && i != s.me {
				joins[i] = join
			}
		}
	})
	return joins, err
}

// meet gets to know the peers, and watches those that are new. It returns those that are dead.
func (s *session) meet() (dead []int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	joins, err := s.joined() // no older than what another goroutine has met
	if err != nil {
		return nil, err
	}
	for i, p := range s.peers {
		if joins[i] != p.join {
			err = errors.Join(err, p.line.Close())
			delete(s.peers, i)
		}
	}
	for i, join := range joins {
		alive, failed := s.know(i, join)
		if failed != nil {
			err = errors.Join(err, failed)
		} else if !alive {
			dead = append(dead, i)
		}
	}
	slices.Sort(dead)
	return dead, err
}

// know reports whether a peer is alive, which is watched from now on. s.mu is held.
func (s *session) know(i int, join uint64) (alive bool, err error) {
	if p := s.peers[i]; p != nil {
		return p.line.Alive(), nil
	}
	line, err := bell.Dial(s.bellPath(join))
	if errors.Is(err, bell.ErrDead) {
		return false, nil
	}
	if err != nil {
		return false, s.fail(peersName, err)
	}
	s.peers[i] = &neighbour{join, line}
	s.ended.Go(func() {
		if line.Dead() == nil {
			s.hear()
			s.kick()
		}
	})
	return true, nil
}

// ring wakes the session that has an entry among the peers, which may have become another since it
// was met.
func (s *session) ring(i int) {
	for range 3 {
		line := s.lineTo(i)
		if line == nil {
			_, _ = s.meet() // if that fails, whoever looks around next hears why
			line = s.lineTo(i)
		}
		if line != nil && line.Ring() == nil {
			return
		}
	}
	_ = s.use(func(w words) { // it is dead, or this process is out of descriptors: another rings
		w.cas(s.layout.peer(i)+peerWaiting, wantsNothing, wantsAll)
	})
	s.kick()
}

// lineTo returns the line to the session that has an entry, nil if it was not met yet or has gone.
func (s *session) lineTo(i int) *bell.Line {
	join := uint64(0)
	_ = s.use(func(w words) { join = w.load(s.layout.peer(i) + peerJoin) }) // 0 is nobody
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.peers[i]; p != nil && p.join == join {
		return p.line
	}
	return nil
}

// reap buries the dead. The lock is held.
func (s *session) reap() error {
	dead, err := s.meet()
	for _, i := range dead {
		passing("found dead")
		if err := s.bury(i); err != nil {
			return err
		}
	}
	return errors.Join(err, s.dropStrayBells())
}

// dropStrayBells removes the bells of those who were killed between hanging one and becoming a
// peer.
func (s *session) dropStrayBells() error {
	joins, err := s.joined()
	if err != nil {
		return err
	}
	named := map[string]bool{filepath.Base(s.bellPath(s.join)): true}
	for _, join := range joins {
		named[filepath.Base(s.bellPath(join))] = true
	}
	entries, err := os.ReadDir(s.path(peersName))
	for _, e := range entries {
		if isBell(e) && !named[e.Name()] {
			err = errors.Join(err, ignoreAbsent(os.Remove(filepath.Join(s.path(peersName), e.Name()))))
		}
	}
	return err
}

// bury frees all that a peer has, and takes it out of the peers. The lock is held. Everything is
// found done that was done before.
func (s *session) bury(peer int) error {
	var join uint64
	err := s.use(func(w words) {
		join = w.load(s.layout.peer(peer) + peerJoin)
		s.layout.freeAll(w, w.load(latestWord)+1, peer)
	})
	passing("slots freed")
	if err == nil {
		_, err = s.fold()
	}
	if err == nil {
		err = s.use(func(w words) { s.dropNames(w, peer); s.dropSeats(w, peer) })
	}
	passing("names dropped")
	if err == nil {
		err = ignoreAbsent(os.Remove(s.bellPath(join)))
	}
	if err == nil {
		err = s.use(func(w words) { w.store(s.layout.peer(peer)+peerJoin, 0) })
	}
	passing("buried")
	if err == nil {
		err = s.settle()
	}
	return err
}

// ignoreAbsent returns nil for a file that is not there, as it should be.
func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// watch hears the bell, and looks around when there is a reason to.
func (s *session) watch() {
	s.reported.Go(s.report)
	s.ended.Go(func() {
		for s.bell.Wait() == nil {
			s.hear()
			s.kick()
		}
	})
	s.ended.Go(func() {
		for {
			select {
			case <-s.kicked:
				if err := s.call(s.lookAround); err != nil {
					s.complain(err)
				}
			case <-s.life.Done():
				return
			}
		}
	})
}

// complain has the user told of what went wrong where nobody waits for it, and has it tried again.
// Of many in short order some are left out.
func (s *session) complain(err error) {
	over := errors.Is(err, samplecache.ErrClosed) || errors.Is(err, context.Canceled)
	if over && !errors.Is(err, samplecache.ErrCorrupt) {
		return
	}
	time.AfterFunc(searchPause, s.kick)
	select {
	case s.complaints <- err:
	default:
	}
}

// report calls OnError, one by one and with nothing held, until complaints is closed.
func (s *session) report() {
	for err := range s.complaints {
		if s.opt.OnError != nil {
			s.opt.OnError(err)
		}
	}
}

// lookAround does what may have become necessary: to bury the dead, to publish what is full, to let
// go of stores that are gone.
func (s *session) lookAround() error {
	err := s.use(func(w words) { w.cas(s.layout.peer(s.me)+peerWaiting, wantsNothing, wantsBig) })
	if err != nil {
		return err
	}
	dead, err := s.meet()
	if err != nil {
		return err
	}
	switch {
	case len(dead) > 0 || s.untidy.Load():
		err = s.locked(s.life, func() error { return errors.Join(s.reap(), s.tidyAll(), s.goOn()) })
	case s.stuck() && (s.letOne.Swap(false) || s.due()):
		err = s.search(s.life)
	}
	return errors.Join(err, s.dropStores(), s.limitHolds())
}
