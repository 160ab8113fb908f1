package dircache

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// The control file has two copies of the counts of groups after its words: at countsAt, and
// countsBytes after that. The holder of the lock writes both, one after the other. Readers use the
// newer sound copy. FORMAT.md describes them.
const (
	countsHeader = 16
	countsBytes  = 1 << 20
	countsAt     = (wordsCount*8 + 4095) / 4096 * 4096 // offset of the first copy
)

// errCounts says that counts are damaged, or half written.
var errCounts = fmt.Errorf("%w: the counts of groups are damaged", engine.ErrCorrupt)

// groups reads the counts. Without the lock they may be out of date.
func (s *session) groups() (*engine.Groups, error) {
	g, _, _, err := s.readGroups()
	for n := 0; n < 100 && errors.Is(err, engine.ErrCorrupt); n++ { // both may be half written
		g, _, _, err = s.readGroups()
	}
	return g, s.fail(controlName, err)
}

// readGroups reads the counts. It returns which of the two copies they are from, 0 or 1, and the
// serial number of that copy.
func (s *session) readGroups() (_ *engine.Groups, which int64, serial uint64, err error) {
	text, serial, err := s.readCounts(countsAt)
	other, newer, failed := s.readCounts(countsAt + countsBytes)
	if failed == nil && (err != nil || newer > serial) {
		text, which, serial, err = other, 1, newer, nil
	}
	g := new(engine.Groups)
	if err == nil && len(text) > 0 && json.Unmarshal(text, g) != nil {
		err = errCounts
	}
	return g, which, serial, err
}

// readCounts reads the copy at offset at.
func (s *session) readCounts(at int64) (text []byte, serial uint64, err error) {
	b := make([]byte, 1024)
	n, err := s.file.ReadAt(b, at)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	size := countsHeader + int(binary.LittleEndian.Uint32(b[4:]))
	if n < countsHeader || size > countsBytes {
		return nil, 0, errCounts
	}
	if size > len(b) {
		b = make([]byte, size)
		if n, err = s.file.ReadAt(b, at); err != nil && err != io.EOF {
			return nil, 0, err
		}
	}
	serial = binary.LittleEndian.Uint64(b[8:])
	if serial == 0 && size == countsHeader && binary.LittleEndian.Uint32(b) == 0 {
		return nil, 0, nil // never written
	}
	if n < size || binary.LittleEndian.Uint32(b) != crc32.ChecksumIEEE(b[4:size]) {
		return nil, 0, errCounts
	}
	return b[countsHeader:size], serial, nil
}

// writeGroups writes both copies of the counts. It writes the newer sound copy last, since the
// other copy may be damaged. The lock is held.
func (s *session) writeGroups(g *engine.Groups) error {
	_, last, serial, err := s.readGroups()
	if err != nil {
		return s.fail(controlName, err)
	}
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	b := append(make([]byte, countsHeader), text...)
	if len(b) > countsBytes {
		return s.fail(controlName, fmt.Errorf("%w: the counts of groups have %d bytes, want at most %d: close epochs", engine.ErrGroup, len(b), countsBytes))
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-countsHeader))
	binary.LittleEndian.PutUint64(b[8:], serial+1)
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
	for _, i := range []int64{1 - last, last} {
		if _, err := s.file.WriteAt(b, countsAt+i*countsBytes); err != nil {
			return s.fail(controlName, err)
		}
		crashPoint("counts written")
	}
	return nil
}
