package dircache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// The counts of groups lie twice behind the words of the control file, at multiples of countsBytes
// from countsAt on. Whoever has the lock writes the one, then the other: of those that are sound
// the newer one counts. Each is, little endian:
//
//	offset  bytes
//	     0      4  CRC-32C of the rest
//	     4      4  length of the counts
//	     8      8  how often they were written
//	    16         the counts: see putGroups
const (
	countsHeader = 16
	countsBytes  = 1 << 20
)

// countsAt returns where the counts begin.
func countsAt(samples int) int64 { return int64(wordsOf(samples)*8+4095) / 4096 * 4096 }

// clearCounts makes the counts those of no groups.
func clearCounts(f *os.File, samples int) error {
	for i := range int64(2) {
		if _, err := f.WriteAt(make([]byte, countsHeader), countsAt(samples)+i*countsBytes); err != nil {
			return err
		}
	}
	return nil
}

// groups reads the counts. Without the lock they are those of a moment ago.
func (s *session) groups() (*engine.Groups, error) {
	for range 100 { // whoever has the lock may have written both meanwhile
		g, _, err := s.readGroups()
		if err == nil {
			return g, nil
		}
		if !errors.Is(err, engine.ErrCorrupt) {
			return nil, s.fail(controlName, err)
		}
	}
	return nil, s.fail(controlName, fmt.Errorf("%w: the counts of groups are damaged", engine.ErrCorrupt))
}

// readGroups reads the counts, and returns how often they were written.
func (s *session) readGroups() (*engine.Groups, uint64, error) {
	text, serial := []byte(nil), uint64(0)
	sound := false
	for i := range int64(2) {
		b, n, err := s.readCounts(countsAt(s.samples()) + i*countsBytes)
		if errors.Is(err, engine.ErrCorrupt) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		if !sound || n > serial {
			sound, text, serial = true, b, n
		}
	}
	if !sound {
		return nil, 0, engine.ErrCorrupt
	}
	g, err := getGroups(text)
	return g, serial, err
}

// readCounts reads one of the two.
func (s *session) readCounts(at int64) (text []byte, serial uint64, err error) {
	b := make([]byte, 1024)
	n, err := s.file.ReadAt(b, at)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	if n < countsHeader {
		return nil, 0, engine.ErrCorrupt
	}
	size := countsHeader + int(binary.LittleEndian.Uint32(b[4:]))
	if size > countsBytes {
		return nil, 0, engine.ErrCorrupt
	}
	if size > len(b) {
		b = make([]byte, size)
		if n, err = s.file.ReadAt(b, at); err != nil && err != io.EOF {
			return nil, 0, err
		}
	}
	serial = binary.LittleEndian.Uint64(b[8:])
	if serial == 0 && size == countsHeader && binary.LittleEndian.Uint32(b) == 0 {
		return nil, 0, nil // nobody has written yet
	}
	if n < size || binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:size], castagnoli) {
		return nil, 0, engine.ErrCorrupt
	}
	return b[countsHeader:size], serial, nil
}

// writeGroups writes the counts, twice. The lock is held.
func (s *session) writeGroups(g *engine.Groups) error {
	_, serial, err := s.readGroups()
	if err != nil {
		return s.fail(controlName, err)
	}
	b := putGroups(make([]byte, countsHeader, 512), g)
	if len(b) > countsBytes {
		return s.fail(controlName, fmt.Errorf("%w: the counts of groups have %d bytes, want at most %d: close epochs", engine.ErrGroup, len(b), countsBytes))
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-countsHeader))
	binary.LittleEndian.PutUint64(b[8:], serial+1)
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	for i := range int64(2) {
		if _, err := s.file.WriteAt(b, countsAt(s.samples())+i*countsBytes); err != nil {
			return s.fail(controlName, bare(err))
		}
		passing("counts written")
	}
	return nil
}

// putGroups appends the counts: varints, names after their lengths, lists after how many there are,
// fields in the order of their types.
func putGroups(b []byte, g *engine.Groups) []byte {
	b = putInts(b, g.Holders, uint64(len(g.List)))
	for _, one := range g.List {
		b = append(putInts(b, uint64(len(one.Name))), one.Name...)
		b = putInts(b, uint64(one.World), one.Since, uint64(one.Taken))
		b = putInts(putInts(b, uint64(len(one.Members))), one.Members...)
		b = putInts(b, uint64(len(one.Epochs)))
		for _, e := range one.Epochs {
			settled := uint64(0)
			if e.Settled {
				settled = 1
			}
			b = putInts(b, e.Number, e.Generation, e.Pass, uint64(e.Taken), uint64(e.Done), settled, uint64(len(e.Open)))
			b = putInts(b, e.Open...)
		}
	}
	return b
}

func putInts(b []byte, list ...uint64) []byte {
	for _, v := range list {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// getGroups is the reverse.
func getGroups(b []byte) (*engine.Groups, error) {
	r := &intReader{b: b}
	g := new(engine.Groups)
	if len(b) == 0 {
		return g, nil
	}
	g.Holders = r.int()
	for range r.count() {
		one := engine.Group{Name: r.text(), World: int(r.int()), Since: r.int(), Taken: int64(r.int()), Members: r.ints()}
		for range r.count() {
			one.Epochs = append(one.Epochs, engine.Epoch{
				Number: r.int(), Generation: r.int(), Pass: r.int(), Taken: int64(r.int()), Done: int(r.int()), Settled: r.int() == 1, Open: r.ints(),
			})
		}
		g.List = append(g.List, one)
	}
	if r.bad || len(r.b) > 0 {
		return nil, engine.ErrCorrupt
	}
	return g, nil
}

// An intReader reads what putGroups has written.
type intReader struct {
	b   []byte
	bad bool
}

func (r *intReader) int() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count returns the length of what follows, of which each has a byte at least.
func (r *intReader) count() int {
	n := r.int()
	if n > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *intReader) text() string {
	n := r.count()
	text := string(r.b[:n])
	r.b = r.b[n:]
	return text
}

func (r *intReader) ints() (list []uint64) {
	for range r.count() {
		list = append(list, r.int())
	}
	return list
}
