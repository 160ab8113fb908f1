package zipfile

import (
	"archive/zip"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
)

// Errors about an archive.
var (
	// ErrCorrupt says that a file violates the format.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file has something that this package does not read, or should
	// have something that it does not write.
	ErrUnsupported = fileformat.ErrUnsupported
)

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// The methods that an [Entry] can have.
const (
	Stored  = zip.Store
	Deflate = zip.Deflate
)

// An Archive lists the entries of a zip archive and their positions. Safe for concurrent use, as
// long as nobody writes to Entries.
type Archive struct {
	Entries []Entry // in the order of the directory, without entries for directories

	index map[string]int // index in Entries, or isDir
}

// An Entry is a file in an archive.
type Entry struct {
	Name         string // a valid path by [io/fs.ValidPath], without backslashes; may be "c:x"
	Method       uint16 // Stored or Deflate
	Offset       int64  // offset of the payload from the start of the archive
	Size, Packed int64  // sizes of the content and of the payload; equal if stored
	CRC          uint32 // CRC-32 of the content
}

// MaxEntries is a limit for [Open] that suits most callers.
const MaxEntries = 1 << 20

// Sizes of records without names, extra fields and comments.
const (
	localBytes   = 30
	centralBytes = 46
	endBytes     = 22
	end64Bytes   = 56
	otherBytes   = 24 + end64Bytes + 20 // a data descriptor, and the records of zip64 before the end
)

// Open reads the directory of an archive of size bytes and all local headers. It takes memory of a
// small multiple of the directory, and time nearly linear in it.
//
// Open returns [ErrCorrupt] for violations of the format and for headers that contradict one
// another, [ErrUnsupported] for encryption, other methods, an archive that does not begin at byte
// 0, one of more than limit entries or of a directory with 256 bytes for each of them, and errors
// of r.
func Open(r io.ReaderAt, size int64, limit int) (*Archive, error) {
	g := &guard{r: r, entries: limit, left: endSearch + 256*min(int64(limit), 1<<40)}
	z, err := zip.NewReader(g, size)
	switch {
	case g.err != nil:
		return nil, g.err
	case err != nil:
		return nil, corrupt("the directory at the end: %w", err)
	case len(z.File) > limit:
		return nil, tooMany(uint64(len(z.File)), limit)
	}
	g.left = math.MaxInt64 // the directory bounds the number of local headers
	a := &Archive{Entries: make([]Entry, 0, len(z.File)), index: make(map[string]int, len(z.File))}
	extents, room := make([]extent, 0, len(z.File)), size-int64(endBytes+len(z.Comment))
	for _, f := range z.File {
		e, at, err := g.entry(f)
		if err == nil {
			err = a.add(e)
		}
		if err != nil {
			return nil, fileformat.In(f.Name, err)
		}
		extents = append(extents, extent{at, &f.FileHeader, e.Offset})
		room -= int64(centralBytes + len(f.Name) + len(f.Extra) + len(f.Comment))
	}
	if err := checkExtents(extents, room); err != nil {
		return nil, err
	}
	return a, nil
}

func tooMany(entries uint64, limit int) error {
	return unsupported("got %d entries, want at most %d", entries, limit)
}

// A guard is what archive/zip reads. It ends reading before numbers in the archive can ask
// archive/zip for more memory than Open allows.
type guard struct {
	r       io.ReaderAt
	entries int   // as a limit
	left    int64 // how many bytes can be read
	at      int64 // offset of the last read
	err     error // of r, or ErrUnsupported

	buffer []byte // for local headers
}

// endSearch is more than archive/zip reads to find the directory.
const endSearch = 80 << 10

// ReadAt implements io.ReaderAt.
func (g *guard) ReadAt(b []byte, at int64) (int, error) {
	if at < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := g.r.ReadAt(b, at)
	if n < len(b) && !errors.Is(err, io.EOF) {
		g.err = err
	}
	g.at, g.left = at, g.left-int64(n)
	if g.left < 0 {
		g.err = unsupported("got a directory of more than %d bytes", 256*int64(g.entries))
	} else if len(b) == end64Bytes && string(b[:4]) == "PK\x06\x06" {
		if entries := le.Uint64(b[32:]); entries > uint64(g.entries) {
			g.err = tooMany(entries, g.entries)
		}
	}
	if g.err != nil {
		return 0, g.err
	}
	return n, err
}

// entry returns the entry of a record, and the offset of its local header.
func (g *guard) entry(f *zip.File) (e Entry, at int64, err error) {
	if err := checkName(f.Name); err != nil {
		return e, 0, corrupt("%w", err)
	}
	const encrypted = 1<<0 | 1<<5 | 1<<6 | 1<<13 // includes patches
	switch size, packed := f.UncompressedSize64, f.CompressedSize64; {
	case f.Flags&encrypted != 0:
		return e, 0, unsupported("got flags %#04x, want none for encryption and patches", f.Flags)
	case f.Method != Stored && f.Method != Deflate:
		return e, 0, unsupported("got method %d, want 0 (stored) or 8 (deflate)", f.Method)
	case f.Method == Stored && packed != size:
		return e, 0, corrupt("got %d stored bytes, want %d, the size", packed, size)
	case max(packed, size) > math.MaxInt64 || size/maxRatio > packed:
		return e, 0, corrupt("got size %d, want at most %d times the %d bytes packed", size, maxRatio, packed)
	case size == 0 && f.CRC32 != 0:
		return e, 0, corrupt("got CRC-32 %08x, want 0 for an empty content", f.CRC32)
	}
	offset, err := f.DataOffset()
	e = Entry{f.Name, f.Method, offset, int64(f.UncompressedSize64), int64(f.CompressedSize64), f.CRC32}
	at = g.at
	if err == nil {
		err = g.checkLocal(at, f.Name)
	}
	if err != nil && g.err == nil {
		err = corrupt("local header: %w", err)
	}
	return e, at, err
}

// maxRatio is the largest number of bytes that one deflated byte can give: two bits can give 258
// bytes.
const maxRatio = 4 * 258

// checkLocal checks that the local header at an offset has a name.
func (g *guard) checkLocal(at int64, name string) error {
	g.buffer = slices.Grow(g.buffer[:0], localBytes+len(name))[:localBytes+len(name)]
	if _, err := g.ReadAt(g.buffer, at); err != nil {
		return err
	}
	if got := g.buffer[localBytes:]; string(got) != name || int(le.Uint16(g.buffer[26:])) != len(name) {
		return errors.New("got name " + errtext.Quote(string(got)) + ", want the name in the directory")
	}
	return nil
}

// An extent is where an entry lies.
type extent struct {
	at int64 // offset of the local header
	*zip.FileHeader
	payload int64 // offset of the payload
}

// checkExtents checks that nothing overlaps, and that nothing is before and after the entries, in
// an archive whose directory cannot begin after byte limit.
func checkExtents(all []extent, limit int64) error {
	slices.SortFunc(all, func(a, b extent) int { return cmp.Compare(a.at, b.at) })
	end := int64(0)
	for i, e := range all {
		packed := int64(e.CompressedSize64)
		switch {
		case i == 0 && e.at > 0:
			return unsupported("got %d bytes before the archive, want none", e.at)
		case e.at < end:
			return fileformat.In(e.Name, corrupt("got offset %d, want at least %d, the end of entry %s", e.at, end, errtext.Quote(all[i-1].Name)))
		case e.payload > limit || packed > limit-e.payload:
			return fileformat.In(e.Name, corrupt("got a payload of %d bytes at %d, want it to end at %d at most", packed, e.payload, limit))
		}
		end = e.payload + packed
	}
	if end < limit-otherBytes {
		return corrupt("got %d bytes that belong to no entry, after the last one or at the end", limit-end)
	}
	return nil
}

// isDir is the index of directories.
const isDir = -1

// add adds an entry, and the directories that contain it.
func (a *Archive) add(e Entry) error {
	if i, ok := a.index[e.Name]; ok && i != isDir {
		return corrupt("duplicate name")
	}
	if !strings.HasSuffix(e.Name, "/") {
		a.index[e.Name] = len(a.Entries)
		a.Entries = append(a.Entries, e)
	}
	for i := strings.LastIndexByte(e.Name, '/'); i >= 0; i = strings.LastIndexByte(e.Name[:i], '/') {
		dir := e.Name[:i+1]
		if _, known := a.index[dir]; known {
			break
		}
		a.index[dir] = isDir
	}
	return nil
}

// HasDir reports whether the archive has a directory of that name, or an entry in it.
func (a *Archive) HasDir(name string) bool {
	_, ok := a.index[name+"/"]
	return ok
}

// Find returns the entry of a name, and reports whether there is one.
func (a *Archive) Find(name string) (Entry, bool) {
	if i, ok := a.index[name]; ok && i != isDir {
		return a.Entries[i], true
	}
	return Entry{}, false
}

// checkName returns an error unless name is valid for an archive: a relative path in UTF-8, which
// may have a drive letter.
func checkName(name string) error {
	switch path := strings.TrimSuffix(name, "/"); {
	case len(name) > math.MaxUint16:
		return errors.New("the name is too long")
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	case strings.ContainsAny(name, "\x00\\"):
		return errors.New("the name has a zero byte or a backslash")
	case path == "." || !fs.ValidPath(path):
		return errors.New(`the name has a part that is empty, "." or ".."`)
	}
	return nil
}
