package dircache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/host"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
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
func (s *session) header() []byte {
	b := make([]byte, headerSum+4)
	copy(b, controlMagic[:])
	binary.LittleEndian.PutUint64(b[8:], formatVersion)
	binary.LittleEndian.PutUint64(b[16:], uint64(s.layout.samples))
	binary.LittleEndian.PutUint64(b[24:], uint64(s.layout.end))
	copy(b[32:96], s.fixed.ID)
	copy(b[96:160], host.Boot())
	copy(b[160:224], host.Machine())
	binary.LittleEndian.PutUint32(b[headerSum:], crc32.Checksum(b[:headerSum], castagnoli))
	return b
}

// errRebuild says that the control file is of an earlier start of this machine.
var errRebuild = errors.New("the control file has to be made again")

// openControl maps the control file. It returns errRebuild if the machine was started anew.
func (s *session) openControl(name string, adopt bool) error {
	f, err := openFile(s.path(name), os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return s.fail(controlName, fmt.Errorf("%w: there is none", samplecache.ErrCorrupt))
	}
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := mapping.Map(f, s.layout.end*8, mapping.ReadWrite)
	if errors.Is(err, mapping.ErrSize) || errors.Is(err, mapping.ErrNotRegular) {
		return s.fail(controlName, fmt.Errorf("%w: %w", samplecache.ErrCorrupt, bare(err)))
	}
	if err != nil {
		return err
	}
	b, err := m.Acquire()
	if err == nil {
		err = s.checkHeader(b[:headerSum+4], adopt)
		m.Release()
	}
	if err != nil {
		return errors.Join(err, m.Close())
	}
	s.control = m
	return nil
}

// checkHeader returns an error if the control file cannot be used as it is.
func (s *session) checkHeader(got []byte, adopt bool) error {
	want := s.header()
	if binary.LittleEndian.Uint32(got[headerSum:]) != crc32.Checksum(got[:headerSum], castagnoli) || [96]byte(got) != [96]byte(want) {
		return s.fail(controlName, fmt.Errorf("%w: its header is damaged", samplecache.ErrCorrupt))
	}
	if host.Boot() != "" && [64]byte(got[96:]) == [64]byte(want[96:]) || !s.alone() {
		return nil // the same running kernel, whatever a container calls it: it knows who lives
	}
	if [64]byte(got[160:]) != [64]byte(want[160:]) || host.Machine() == "" {
		if !adopt {
			return s.fail(controlName, fmt.Errorf("%w: if nobody there uses it any more, open it with Adopt", samplecache.ErrOtherHost))
		}
	}
	return errRebuild
}

// makeControl writes a new control file in dir, under its temporary name, in which nothing has
// happened.
func (s *session) makeControl(dir string) error {
	text := make([]byte, s.layout.end*8)
	zero := seal(0)
	for at := headerBytes; at < len(text); at += 8 {
		binary.LittleEndian.PutUint64(text[at:], zero)
	}
	copy(text, s.header())
	return writeFile(filepath.Join(dir, newPrefix+controlName), text, s.fixed.Config.Durable)
}
