package dircache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
	var last uint64
	s.me = -1
	err := s.use(func(w words) {
		last = w.load(joinsWord)
		w.store(joinsWord, last+1)
		for i := 0; i < maxPeers && s.me < 0; i++ {
			if w.load(s.layout.peer(i)+peerJoin) == 0 {
				s.me = i
			}
		}
	})
	if err == nil && s.me < 0 {
		err = fmt.Errorf("%w: %d sessions take part already", samplecache.ErrConfig, maxPeers)
	}
	if err != nil {
		return err
	}
	passing("joins counted")
	s.join = last + 1
	if err := ignoreAbsent(os.Remove(s.bellPath(s.join))); err != nil { // of a cache that was rebuilt
		return err
	}
	if s.bell, err = bell.Hang(s.bellPath(s.join)); err != nil {
		return err
	}
	passing("bell hung")
	return s.use(func(w words) {
		at := s.layout.peer(s.me)
		w.store(at+peerPID, uint64(os.Getpid()))
		w.store(at+peerSince, now())
		w.store(at+peerWaiting, 1)
		w.raise(peersWord, uint64(s.me)+1)
		w.store(at+peerJoin, s.join)
	})
}

// joined returns which sessions take part, by their entries.
func (s *session) joined() (joins map[int]uint64, err error) {
	joins = map[int]uint64{}
	err = s.use(func(w words) {
		for i := range int(w.load(peersWord)) {
			if join := w.load(s.layout.peer(i) + peerJoin); join != 0 && i != s.me {
				joins[i] = join
			}
		}
	})
	return joins, err
}

// meet gets to know the peers, and watches those that are new. It returns those that are dead.
func (s *session) meet() (dead []int, err error) {
	joins, err := s.joined()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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

// ring wakes a peer.
func (s *session) ring(i int) {
	s.mu.Lock()
	p := s.peers[i]
	s.mu.Unlock()
	if p == nil {
		if _, err := s.meet(); err != nil {
			return // it is new, and asks for itself once it is woken by another
		}
		s.mu.Lock()
		p = s.peers[i]
		s.mu.Unlock()
	}
	if p != nil && p.line.Ring() != nil {
		s.kick()
	}
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
	return err
}

// bury frees all that a peer has, and takes it out of the peers. The lock is held. Everything is
// found done that was done before.
func (s *session) bury(peer int) error {
	var join uint64
	err := s.use(func(w words) {
		join = w.load(s.layout.peer(peer) + peerJoin)
		generation := w.load(latestWord) + 1
		for i := range s.layout.samples {
			if w.load(s.layout.slots+i) == slotWord(generation, peer, slotReserved) {
				s.layout.free(w, generation, peer, i)
			}
		}
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
	if err != nil {
		return err
	}
	passing("buried")
	return s.settle()
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
				if err := s.call(s.lookAround); err != nil && !s.calls.isShut() && s.opt.OnError != nil {
					s.opt.OnError(err)
				}
			case <-s.life.Done():
				return
			}
		}
	})
}

// lookAround does what may have become necessary: to bury the dead, to publish what is full, to let
// go of stores that are gone.
func (s *session) lookAround() error {
	dead, err := s.meet()
	if err != nil {
		return err
	}
	if len(dead) > 0 || s.due() {
		err = s.locked(s.life, func() error { return errors.Join(s.reap(), s.publish()) })
	}
	return errors.Join(err, s.dropStores(), s.limitHolds())
}
