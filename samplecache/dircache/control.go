package dircache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/go-tensordict/tensordict/internal/host"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// The header of the control file, little endian:
//
//	offset  bytes
//	     0      8  magic
//	     8      8  version
//	    16      8  samples of a generation
//	    24      8  words of the file, those of the header included
//	    32     64  the cache's id, as in the MANIFEST, then zeros
//	    96     64  the running kernel's id, then zeros
//	   160     64  the machine's id, then zeros
//	   224      4  CRC-32C of all before it
const headerSum = 224

var controlMagic = [8]byte{'T', 'D', 'C', 'A', 'C', 'H', 'E', 0}

// header returns the header of the control file.
func (m *manifest) header() []byte {
	b := make([]byte, headerSum+4)
	copy(b, controlMagic[:])
	binary.LittleEndian.PutUint64(b[8:], formatVersion)
	binary.LittleEndian.PutUint64(b[16:], uint64(m.Config.Samples))
	binary.LittleEndian.PutUint64(b[24:], uint64(wordsOf(m.Config.Samples)))
	copy(b[32:96], m.ID)
	copy(b[96:160], host.Boot())
	copy(b[160:224], host.Machine())
	binary.LittleEndian.PutUint32(b[headerSum:], crc32.Checksum(b[:headerSum], castagnoli))
	return b
}

// openControl opens the control file, which is the same for as long as the cache exists: two files
// would be two tables of locks.
func (s *session) openControl() (err error) {
	s.file, err = openFile(s.path(controlName), os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: there is none", engine.ErrCorrupt)
	}
	if err == nil {
		s.locks = vfs.LockNumbers(s.file)
	}
	return bare(err)
}

// alone reports whether no other session takes part.
func (s *session) alone() (bool, error) {
	_, _, held, err := s.locks.Held(sessionNumbers, maxSessions)
	return !held, err
}

// mapControl maps the control file, which is made again first if it is damaged or from before the
// machine was started anew, and nobody else takes part. The lock is held.
func (s *session) mapControl(adopt bool) error {
	err := s.mapIntact(adopt)
	if err == nil || !errors.Is(err, errRestarted) && !errors.Is(err, engine.ErrCorrupt) {
		return err
	}
	alone, failed := s.alone()
	if failed != nil || !alone {
		return errors.Join(err, failed)
	}
	return s.rebuild()
}

// errRestarted says that the control file is of an earlier start of the machine.
var errRestarted = errors.New("the machine was started anew")

// mapIntact maps the control file, if its header and its sealed words are sound.
func (s *session) mapIntact(adopt bool) (err error) {
	s.control, err = mapping.Map(s.file, wordsOf(s.samples())*8, mapping.ReadWrite)
	if errors.Is(err, mapping.ErrSize) {
		return fmt.Errorf("%w: %w", engine.ErrCorrupt, bare(err))
	}
	if err != nil {
		return err
	}
	err = s.checkHeader(adopt)
	if err == nil {
		err = s.use(func(w words) error { _, _, err := w.generations(); return err })
	}
	if err != nil {
		err = errors.Join(err, s.control.Close())
		s.control = nil
	}
	return err
}

// checkHeader returns an error if the control file cannot be used as it is.
func (s *session) checkHeader(adopt bool) error {
	got, want := make([]byte, headerSum+4), s.fixed.header()
	if _, err := s.file.ReadAt(got, 0); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(got[headerSum:]) != crc32.Checksum(got[:headerSum], castagnoli) || [96]byte(got) != [96]byte(want) {
		return fmt.Errorf("%w: its header is damaged", engine.ErrCorrupt)
	}
	alone, err := s.alone()
	switch {
	case err != nil:
		return err
	case host.Boot() != "" && [64]byte(got[96:]) == [64]byte(want[96:]) || !alone:
		return nil // the same running kernel, whatever a container calls it: it knows who lives
	case ([64]byte(got[160:]) != [64]byte(want[160:]) || host.Machine() == "") && !adopt:
		return fmt.Errorf("%w: if nobody there uses it any more, open it with Adopt", engine.ErrOtherHost)
	}
	return errRestarted
}

// clearControl makes the control file one in which nothing has happened and whose header is not
// sound yet. It needs no room on the disk if the file has its size.
func clearControl(f *os.File, samples int) error {
	if _, err := f.WriteAt(make([]byte, headerBytes), 0); err != nil {
		return err
	}
	words := make([]byte, wordsOf(samples)*8-headerBytes)
	for _, at := range []int{latestWord, fillingWord} {
		binary.LittleEndian.PutUint32(words[at*8-headerBytes+4:], ^uint32(0))
	}
	if _, err := f.WriteAt(words, headerBytes); err != nil {
		return err
	}
	return clearCounts(f, samples)
}

// makeControl makes the control file of a new cache.
func makeControl(path string, m *manifest) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err = clearControl(f, m.Config.Samples); err == nil {
		_, err = f.WriteAt(m.header(), 0)
	}
	if err == nil && m.Config.Durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// use calls fn with the words of the control file. A file that was cut is an error; what fn has done
// before stays done.
func (s *session) use(fn func(w words) error) (err error) {
	w, err := s.control.Words()
	if err != nil {
		return err
	}
	defer s.control.Release()
	if failed := mapping.Guard(func() { err = fn(w) }); failed != nil {
		err = fmt.Errorf("%w: the file was cut", engine.ErrCorrupt)
	}
	return s.fail(controlName, err)
}
