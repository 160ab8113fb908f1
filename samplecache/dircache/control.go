package dircache

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// headerSum is the offset of the checksum in the header of the control file; see FORMAT.md.
const headerSum = 224

var controlMagic = [8]byte{'T', 'D', 'C', 'A', 'C', 'H', 'E', 0}

// header returns the header of the control file.
func (m *manifest) header() ([]byte, error) {
	boot, err := host.Boot()
	machine, failed := host.Machine()
	b := make([]byte, headerSum+4)
	copy(b, controlMagic[:])
	binary.LittleEndian.PutUint64(b[8:], formatVersion)
	binary.LittleEndian.PutUint64(b[16:], uint64(m.Config.Samples))
	binary.LittleEndian.PutUint64(b[24:], wordsCount)
	copy(b[32:96], m.ID)
	copy(b[96:160], boot)
	copy(b[160:224], machine)
	binary.LittleEndian.PutUint32(b[headerSum:], crc32.ChecksumIEEE(b[:headerSum]))
	return b, errors.Join(err, failed)
}

// openControl opens the control file. It is never replaced while the cache exists, since locks
// belong to one file.
func (s *session) openControl() (err error) {
	s.file, err = openFile(s.path(controlName), flagOf(s.mode))
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := os.Lstat(s.path(manifestName)); gone != nil { // the cache was removed just now
			return errRemoved
		}
		return fmt.Errorf("%w: the file is missing: if no process uses the cache, make an empty file", engine.ErrCorrupt)
	}
	if err == nil {
		s.locks = vfs.LockNumbers(s.file)
		s.here, err = s.file.Stat()
	}
	return err
}

// mapControl maps the control file. If the file is damaged, or from before the last restart of the
// machine, and there is no other session, mapControl first rebuilds it. The lock is held.
func (s *session) mapControl(adopt bool) error {
	rebuild, err := s.mapSound(adopt)
	if rebuild {
		return s.rebuild()
	}
	return err
}

// mapSound maps the control file. rebuild is true with an error after which it can be rebuilt:
// there is no other session.
func (s *session) mapSound(adopt bool) (rebuild bool, err error) {
	_, _, others, err := s.locks.Held(sessionNumbers, maxSessions)
	if err != nil {
		return false, err
	}
	err = s.checkHeader(!others, adopt)
	if err == nil {
		err = s.mapWords()
	}
	if err == nil {
		_, _, err = s.words.generations()
	}
	return !others && (errors.Is(err, ErrRestarted) || errors.Is(err, engine.ErrCorrupt)), err
}

// mapWords maps the words of the control file, unless they are mapped.
func (s *session) mapWords() (err error) {
	if s.control != nil {
		return nil
	}
	s.control, err = mapping.Map(s.file, wordsCount*8, s.mode)
	if errors.Is(err, mapping.ErrSize) {
		err = fmt.Errorf("%w: %w", engine.ErrCorrupt, bare(err))
	}
	if err == nil {
		s.words, err = s.control.Words() // until closeFiles
	}
	return err
}

// ErrRestarted says that the machine was restarted since the cache was used last. The next program
// that opens the cache rebuilds the control file.
var ErrRestarted = errors.New("the machine was restarted: the next program that opens the cache rebuilds the file")

// checkHeader returns an error if the header of the control file is damaged, or is of another
// machine or an earlier start of this one. alone says that there is no other session.
func (s *session) checkHeader(alone, adopt bool) error {
	want, err := s.fixed.header()
	if err != nil {
		return err
	}
	got := make([]byte, len(want))
	if n, err := s.file.ReadAt(got, 0); err != nil && err != io.EOF {
		return err
	} else if sum := crc32.ChecksumIEEE(got[:headerSum]); n < len(got) || binary.LittleEndian.Uint32(got[headerSum:]) != sum || [96]byte(got) != [96]byte(want) {
		return fmt.Errorf("%w: its header is damaged", engine.ErrCorrupt)
	}
	boot, machine := [64]byte(want[96:]), [64]byte(want[160:])
	unknown := [64]byte{}
	switch {
	case boot != unknown && [64]byte(got[96:]) == boot || !alone:
		return nil // the same kernel is running; containers may differ in the machine's id
	case ([64]byte(got[160:]) != machine || machine == unknown) && !adopt:
		return fmt.Errorf("%w: if no process there uses it any more, open it with Adopt", engine.ErrOtherHost)
	}
	return ErrRestarted
}

// clearControl writes a control file of an empty cache, with an invalid header. It needs no room on
// the disk if the file has its full size.
func clearControl(f *os.File) error {
	b := make([]byte, wordsCount*8)
	for _, at := range []int{latestWord, fillingWord} {
		binary.LittleEndian.PutUint32(b[at*8+4:], ^uint32(0)) // 0, sealed
	}
	_, err := f.WriteAt(b, 0)
	for i := range int64(2) {
		if err == nil {
			_, err = f.WriteAt(make([]byte, countsHeader), countsAt+i*countsBytes) // no groups
		}
	}
	return err
}

// makeControl makes the control file of a new cache.
func makeControl(path string, m *manifest) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	header, err := m.header()
	if err == nil {
		err = clearControl(f)
	}
	if err == nil {
		_, err = f.WriteAt(header, 0)
	}
	if err == nil && m.Config.Durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// rebuild rewrites the control file in place, from the MANIFEST and the records of the generation
// that is being filled. There is no other session, and the lock is held.
func (s *session) rebuild() error {
	m, err := s.manifest()
	var header []byte
	if err == nil {
		header, err = m.header()
	}
	if err == nil {
		err = clearControl(s.file)
	}
	crashPoint("control cleared")
	if err == nil {
		err = s.file.Truncate(countsAt + 2*countsBytes)
	}
	if err == nil {
		err = s.mapWords()
	}
	if err == nil {
		s.words.seal(latestWord, m.Latest)
		err = s.recover(m.Latest + 1)
	}
	crashPoint("samples recovered")
	if err == nil {
		_, err = s.file.WriteAt(header, 0)
	}
	return failed("rebuild", s.dir, controlName, err)
}

// recover erases records of the generation that is being filled, if it has a store. A sample is
// kept if its record is sound and its checksums agree. If two samples have the same number, the
// newer one is kept: the record of the older one was erased, but not yet on the disk.
func (s *session) recover(generation uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.fill(generation)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var rows []int
	for i := range s.samples() {
		if r := st.record(i); r.sound(generation) && st.sumsAgree(r, i) {
			rows = append(rows, i)
		} else {
			r.erase()
		}
	}
	slices.SortFunc(rows, func(i, j int) int {
		a, b := st.record(i), st.record(j)
		return cmp.Or(cmp.Compare(a.life(), b.life()), cmp.Compare(a.number(), b.number()), -a.time().Compare(b.time()))
	})
	newer := put{}
	for _, i := range rows {
		r := st.record(i)
		if of := (put{r.life(), r.number()}); of.life != 0 && of == newer {
			r.erase()
		} else {
			newer = of
		}
	}
	s.words.seal(fillingWord, generation)
	return nil
}
