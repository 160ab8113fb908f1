package dircache

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// The file of a generation's records begins with a header. After it, each row has one record; all
// records have the same size. FORMAT.md describes them.
const (
	recordsHeader = 64
	keptAt        = 32  // in the header: 1 if the files of the store belong to a kept dataset, too
	recordFixed   = 104 // bytes of a record before the checksums of leaves
)

var recordsMagic = [8]byte{'T', 'D', 'S', 'A', 'M', 'P', 'L', 3}

// recordSize returns the size of a record in bytes. leaves is the number of leaves of a sample.
func recordSize(leaves int) int { return (recordFixed + 4*leaves + 7) / 8 * 8 }

// A record is the bytes of one record, which says where a sample comes from.
type record []byte

// put writes the record. The checksums of leaves are set before. put stores the checksum of the
// record last, which makes the record sound.
func (r record) put(generation, number, life uint64, name string, at time.Time) {
	binary.LittleEndian.PutUint32(r[4:], uint32(len(name)))
	binary.LittleEndian.PutUint64(r[8:], generation)
	binary.LittleEndian.PutUint64(r[16:], number)
	binary.LittleEndian.PutUint64(r[24:], uint64(at.UnixNano()))
	binary.LittleEndian.PutUint64(r[32:], life)
	clear(r[40+copy(r[40:recordFixed], name) : recordFixed])
	atomic.StoreUint32(r.seal(), r.checksum())
}

// checksum returns the checksum of the rest of the record, which is not 0.
func (r record) checksum() uint32 { return max(crc32.ChecksumIEEE(r[4:]), 1) }

// seal returns the checksum of the record, which processes load and store atomically.
func (r record) seal() *uint32 {
	words, _ := cast.Slice[uint32](r[:4]) // records are aligned
	return &words[0]
}

// erase makes the record unsound. Its checksum is 0 until put.
func (r record) erase() {
	atomic.StoreUint32(r.seal(), 0)
	clear(r[4:recordFixed])
}

// damaged reports whether r was sound, for any generation, and is not any more. It returns false if
// a process is writing r.
func (r record) damaged() bool {
	sum := atomic.LoadUint32(r.seal())
	return sum != 0 && sum != r.checksum() && sum == atomic.LoadUint32(r.seal())
}

// hold makes the record unsound, and stores which session fills its slot in a generation, and since
// when, in us. The last store is a memory barrier.
func (r record) hold(generation uint64, session int, us uint64) {
	atomic.StoreUint32(r.seal(), 0)
	binary.LittleEndian.PutUint64(r[16:], uint64(session))
	binary.LittleEndian.PutUint64(r[24:], us)
	binary.LittleEndian.PutUint64(r[8:], generation)
	atomic.StoreUint32(r.seal(), 0)
}

// holder returns what hold has stored.
func (r record) holder() (session int, us uint64) {
	return int(r.number()), binary.LittleEndian.Uint64(r[24:])
}

// of reports whether r is a record of the generation. It does not compare the checksum.
func (r record) of(generation uint64) bool {
	return atomic.LoadUint32(r.seal()) != 0 && r.generation() == generation
}

// sound reports whether r is a complete record of the generation.
func (r record) sound(generation uint64) bool {
	sum := atomic.LoadUint32(r.seal())
	return r.generation() == generation && binary.LittleEndian.Uint32(r[4:]) <= maxName &&
		sum == r.checksum()
}

func (r record) generation() uint64        { return binary.LittleEndian.Uint64(r[8:]) }
func (r record) number() uint64            { return binary.LittleEndian.Uint64(r[16:]) }
func (r record) life() uint64              { return binary.LittleEndian.Uint64(r[32:]) }
func (r record) name() []byte              { return r[40 : 40+binary.LittleEndian.Uint32(r[4:])] }
func (r record) sum(leaf int) uint32       { return binary.LittleEndian.Uint32(r[recordFixed+4*leaf:]) }
func (r record) setSum(leaf int, v uint32) { binary.LittleEndian.PutUint32(r[recordFixed+4*leaf:], v) }

// time returns when the sample was committed.
func (r record) time() time.Time {
	return time.Unix(0, int64(binary.LittleEndian.Uint64(r[24:])))
}

// info returns the record as an Info.
func (r record) info(leaves int) engine.Info {
	info := engine.Info{
		Producer: string(r.name()), Number: r.number(),
		Time: r.time(), Sums: make([]uint32, leaves),
	}
	for i := range info.Sums {
		info.Sums[i] = r.sum(i)
	}
	return info
}

// recordsPath returns the path of the records of a generation.
func recordsPath(generation uint64) string { return filepath.Join(storeName(generation), recordsName) }

// recordsSize returns the size of the file of records.
func (m *manifest) recordsSize() int {
	return recordsHeader + m.Config.Samples*recordSize(len(m.Schema))
}

// recordsHead returns the header of the file of records.
func (m *manifest) recordsHead() []byte {
	b := make([]byte, recordsHeader)
	copy(b, recordsMagic[:])
	binary.LittleEndian.PutUint64(b[8:], uint64(m.Config.Samples))
	binary.LittleEndian.PutUint64(b[16:], uint64(len(m.Schema)))
	binary.LittleEndian.PutUint32(b[24:], crc32.ChecksumIEEE(b[:24]))
	return b
}

// checkRecords returns [engine.ErrCorrupt] unless f begins with recordsHead and has recordsSize
// bytes.
func (m *manifest) checkRecords(f *os.File) error {
	var b [keptAt]byte
	if _, err := f.ReadAt(b[:], 0); err != nil && err != io.EOF {
		return err
	}
	if b != [keptAt]byte(m.recordsHead()) {
		return fmt.Errorf("%w: its header is damaged", engine.ErrCorrupt)
	}
	info, err := f.Stat()
	if want := int64(m.recordsSize()); err == nil && info.Size() < want {
		err = fmt.Errorf("%w: got %d bytes, want %d", engine.ErrCorrupt, info.Size(), want)
	}
	return err
}

// rowRecord returns the record of a row.
func rowRecord(records []byte, row, leaves int) record {
	size := recordSize(leaves)
	return records[recordsHeader+row*size:][:size]
}
