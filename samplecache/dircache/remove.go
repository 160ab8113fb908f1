package dircache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// Remove removes the cache in the directory dir, which nobody may use. Its directory goes in one
// step. Datasets that [engine.Keeper] made of its generations stay.
//
// Its error is an [Error]. The cache is unchanged then, unless the disk failed while files were
// being removed. The Error wraps
//
//   - [engine.ErrInUse], with a pid if it is known, if a process has the cache open or reads a
//     generation,
//   - fs.ErrNotExist if dir is not a cache,
//   - fs.ErrInvalid if dir is a link, has a file that does not belong to a cache, or something is
//     mounted there or within it; files in the directory of a generation belong to the cache,
//   - [engine.ErrOtherHost] on a network file system, and errors of the disk.
func Remove(dir string) error { return failed("remove", dir, "", remove(dir)) }

func remove(dir string) error {
	if info, err := os.Lstat(filepath.Clean(dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%w: it is a link: name the directory", fs.ErrInvalid)
	}
	at, err := Engine{Dir: dir}.place()
	if err != nil {
		return err
	}
	m, err := readManifest(at)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it is not a cache", fs.ErrNotExist)
	} else if err != nil {
		return failed("remove", dir, manifestName, err)
	}
	s, err := newSession(dir, at, m, mapping.ReadWrite, engine.Options{})
	if err != nil {
		return err
	}
	// Without a control file nobody can open the cache.
	if err = s.openControl(); errors.Is(err, engine.ErrCorrupt) {
		return errors.Join(s.removeAll(), s.closeFiles())
	}
	if err == nil {
		err = s.removeUnused()
	}
	return errors.Join(err, s.closeFiles())
}

// removeUnused removes a cache if there is no session. It has the lock, so that nobody joins
// meanwhile.
func (s *session) removeUnused() error {
	if ok, err := s.tryLock(); err != nil {
		return err
	} else if !ok {
		return fmt.Errorf("%w: waiting for %s", engine.ErrInUse, s.whoLocks())
	}
	defer func() { _ = s.unlock() }() // closing the file does it, too
	// Another Remove may have had the lock before, and there may be a new cache.
	if err := s.present(); err != nil {
		return err
	}
	from, _, held, err := s.locks.Held(sessionNumbers, maxSessions)
	if err != nil {
		return err
	}
	if held {
		return inUse(s.pidOnDisk(int(from - sessionNumbers)))
	}
	return s.removeAll()
}

// inUse returns [engine.ErrInUse] with a pid, if it is known.
func inUse(pid int) error {
	if pid == 0 {
		return engine.ErrInUse
	}
	return fmt.Errorf("%w by pid %d", engine.ErrInUse, pid)
}

// removeAll removes the directory. It first checks that nothing is mounted in it, whose files would
// go, too, and that nobody reads a generation, as programs in other languages do.
func (s *session) removeAll() (err error) {
	if mount, err := host.MountBelow(s.at); err != nil {
		return err
	} else if mount != "" {
		return fmt.Errorf("%w: something is mounted at %s: unmount it first", fs.ErrInvalid, mount)
	}
	entries, err := os.ReadDir(s.at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ok := parseStore(e.Name()); !ok {
			if !belongs(e.Name()) {
				return fmt.Errorf("%w: %q does not belong to a cache: remove it first", fs.ErrInvalid, e.Name())
			}
			continue
		}
		lock, err := vfs.TryLock(s.path(e.Name()), vfs.Exclusive)
		if errors.Is(err, vfs.ErrHeld) {
			return fmt.Errorf("%w: %s is being read%s", engine.ErrInUse, e.Name(), readers(s.path(e.Name())))
		} else if err != nil {
			return err
		}
		defer func() { _ = lock.Unlock() }() // it goes with the directory
	}
	tmp, err := vfs.MakeTemp(vfs.OS, s.at)
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(s.at, tmp.New()), tmp.Remove())
}

// readers returns " by pid 5, 6" for a directory that processes have locked, or "" if none is
// known.
func readers(dir string) (text string) {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	for i, pid := range host.Lockers([]fs.FileInfo{info})[0] {
		if i == 0 {
			text = " by pid "
		} else {
			text += ", "
		}
		text += strconv.Itoa(pid)
	}
	return text
}

// belongs reports whether a file in the directory of a cache belongs to it, or to a mirror.
func belongs(name string) bool {
	switch name {
	case manifestName, controlName, newStore, oldStore, "mirror.json":
		return true
	}
	return vfs.Reserved(name)
}
