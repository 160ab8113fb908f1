package zipfile

import (
	"io"
	"time"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

// The methods that an [Entry] can have.
const (
	Stored  = 0
	Deflate = 8
)

// An Archive lists the entries of a zip archive and their positions. Safe for concurrent use, as
// long as nobody writes to Entries.
type Archive struct {
	Entries []Entry // in the order of the directory, without entries for directories

	index map[string]int // index in Entries, or recorded or named for a directory
}

// An Entry is a file in an archive.
type Entry struct {
	Name         string // a valid path by [io/fs.ValidPath], without backslashes; may be "c:x"
	Method       uint16 // Stored or Deflate
	Offset       int64  // offset of the payload from the start of the archive
	Size, Packed int64  // sizes of the content and of the payload; equal if stored
	CRC          uint32 // CRC-32 of the content
	// Modified is a time without a zone, given as UTC, with a resolution of two seconds. It is zero
	// if the archive has no valid time.
	Modified time.Time
}

// Limits bound what [Open] reads. 0 means the default.
type Limits struct {
	Entries   int   // number of entries; the default is 1<<20
	Directory int64 // size of the directory in bytes; the default is 256 MiB
}

const (
	defaultEntries   = 1 << 20
	defaultDirectory = 256 << 20
)

// Open reads the directory of an archive of size bytes and all local headers. It takes memory of a
// small multiple of the directory, and time nearly linear in it.
//
// Open returns [ErrCorrupt] for violations of the format and for headers that contradict one
// another, [ErrUnsupported] for encryption, other methods, several disks, an archive that does not
// begin at byte 0, and archives beyond limits, and errors of r.
func Open(r io.ReaderAt, size int64, limits Limits) (*Archive, error) {
	end, err := findEnd(r, size)
	if err == nil {
		err = limits.check(end)
	}
	if err != nil {
		return nil, within("end of the archive", err)
	}
	records, err := readRecords(r, end)
	if err != nil {
		return nil, err
	}
	if err := place(r, records, int64(end.offset)); err != nil {
		return nil, err
	}
	return newArchive(records)
}

func (l Limits) check(e end) error {
	if l.Entries <= 0 {
		l.Entries = defaultEntries
	}
	if l.Directory <= 0 {
		l.Directory = defaultDirectory
	}
	if e.entries > uint64(l.Entries) {
		return unsupported("got %d entries, want at most %d", e.entries, l.Entries)
	}
	if e.size > uint64(l.Directory) {
		return unsupported("got a directory of %d bytes, want at most %d", e.size, l.Directory)
	}
	return nil
}

// The kinds of directories in an index: recorded ones have a record, named ones appear only in the
// names of entries.
const (
	recorded = -1
	named    = -2
)

// newArchive returns the archive of records. It returns ErrCorrupt for duplicate names.
func newArchive(records []record) (*Archive, error) {
	a := &Archive{Entries: make([]Entry, 0, len(records)), index: make(map[string]int, len(records))}
	for i := range records {
		e := &records[i].Entry
		if at, ok := a.index[e.Name]; ok && at != named {
			return nil, fileformat.In(e.Name, corrupt("duplicate name"))
		}
		a.nameDirs(e.Name)
		if isDir(e.Name) {
			a.index[e.Name] = recorded
			continue
		}
		a.index[e.Name] = len(a.Entries)
		a.Entries = append(a.Entries, *e)
	}
	return a, nil
}

// nameDirs adds the directories that contain an entry to the index.
func (a *Archive) nameDirs(name string) {
	for i := len(name) - 1; i > 0; i-- {
		if name[i-1] != '/' {
			continue
		}
		if _, ok := a.index[name[:i]]; ok {
			return
		}
		a.index[name[:i]] = named
	}
}

// HasDir reports whether the archive has a directory of that name, or an entry in it.
func (a *Archive) HasDir(name string) bool {
	_, ok := a.index[name+"/"]
	return ok
}

// Find returns the entry of a name, and reports whether there is one.
func (a *Archive) Find(name string) (Entry, bool) {
	i, ok := a.index[name]
	if !ok || i < 0 {
		return Entry{}, false
	}
	return a.Entries[i], true
}
