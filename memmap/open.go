package memmap

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vfs"
)

// OpenOptions say how [OpenWith] opens. The zero value is the default.
//
// Two limits of the process bound what can be open at a time:
//
//   - Mappings. Each leaf that is in use takes one until it is closed; an archive takes one for all
//     its leaves. All datasets of the process
//     together take at most half of vm.max_map_count on Linux, 32,765 by default, which leaves room
//     for Go's runtime; no limit is known on other systems. Beyond it, a leaf of up to 64 KiB that
//     is opened for reading is read into memory when its elements are first wanted: it does not
//     show what another process writes to it later. Any other leaf is [ErrLimit].
//   - Descriptors. A dataset has one of its directory. A leaf is open only while it is mapped, but
//     on Unix systems mappings keep descriptors of their files, to notice that a file was cut
//     within its last page: at most 1,000 in the process, and at most a tenth of RLIMIT_NOFILE.
//     When the process has none left, those are closed, and what needed one is tried once more.
type OpenOptions struct {
	// Writable maps the files so that elements can be written, which changes the files. By default
	// that is tensor.ErrReadOnly. For an archive it is [ErrUnsupported].
	Writable bool
	// Wait bounds how long OpenWith with Writable waits for another that has the directory to
	// itself, as to set checksums, and how long a store, AddLeaf, Flush and Close wait for another
	// that changes a meta.json. Then OpenWith, a store and AddLeaf return [ErrBusy]; Flush and
	// Close leave the checksums of the leaves that were written to the next one. 0 means a second,
	// and less than 0 not at all.
	Wait time.Duration
	// MaxEntries is how many entries the dictionary may have, at all levels together; 0 means
	// 200,000. It bounds what a hostile directory can make Open do.
	MaxEntries int
	// MaxCopy is how many bytes of views of Python's that pick rows by a list may be copied, how
	// many bytes of offsets of ragged rows may be read into memory, and how many bytes of
	// compressed files in an archive may be inflated; 0 means 1 GiB.
	MaxCopy int64
	// SkipPickled leaves out entries that Python has pickled. By default they are ErrUnsupported.
	SkipPickled bool
}

// Open opens the dictionary saved at dir, a directory or an archive, for reading. It is [OpenWith]
// without options.
func Open(dir string) (*Dataset, error) { return OpenWith(dir, OpenOptions{}) }

// OpenWith opens the dictionary saved in the directory dir, or in one below it: each directory is a
// dictionary of its own. A directory that Save replaces meanwhile is opened as it was before or as
// it is then. If dir is an archive, whatever its name, that is opened and mapped as a whole;
// another file that takes its name changes nothing.
//
// OpenWith returns a [FileError] that says which file is at fault: [ErrCorrupt], [ErrUnsupported],
// [ErrBusy] if a [Writer] is at work in a directory to be opened Writable, or another has it to
// itself for longer than Wait, or what the system says, such as fs.ErrNotExist if there is no dir,
// fs.ErrInvalid if dir is empty, and fs.ErrPermission or EROFS, an error of the system, if a leaf
// cannot be written that should be. If dir is a file that is no zip file, or a directory or zip
// file without a meta.json, the error is [ErrForeign], and says what is there; without a meta.json
// it is ErrCorrupt and fs.ErrNotExist too.
func OpenWith(dir string, opt OpenOptions) (*Dataset, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("open: %w on a big-endian machine", errors.ErrUnsupported)
	}
	at, err := vfs.Absolute(dir)
	if err != nil {
		return nil, fileError("open", dir, "", err)
	}
	return openAt(dir, at, opt)
}

// openAt opens the directory whose absolute path is at, and which errors call dir.
func openAt(dir, at string, opt OpenOptions) (*Dataset, error) {
	p := &place{op: "open", dir: dir, at: at, opt: opt}
	for try := 0; ; try++ {
		d, replaced, err := p.dataset()
		if !replaced || try == 10 {
			return d, err
		}
	}
}

// lockWriters locks what those who write the directory at, or one around or in it, have in common:
// the outermost dictionary. They share the lock for as long as they write; whoever has it alone is
// setting sums or publishing. The lock is nil where directories cannot be locked.
func (opt *OpenOptions) lockWriters(at string) (*vfs.Lock, error) {
	top := outermost(at)
	l, err := opt.await(func() (*vfs.Lock, error) { return vfs.TryLock(top, vfs.Shared) })
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return l, err
}

// await calls try until it returns another error than vfs.ErrHeld, or nil, or Wait is over.
func (opt *OpenOptions) await(try func() (*vfs.Lock, error)) (*vfs.Lock, error) {
	end := time.Now().Add(cmp.Or(opt.Wait, time.Second))
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		l, err := try()
		if !errors.Is(err, vfs.ErrHeld) {
			return l, err
		}
		left := time.Until(end)
		if left <= 0 {
			return nil, fmt.Errorf("%w: %w", ErrBusy, err)
		}
		time.Sleep(min(pause, left))
	}
}

// outermost returns the directory of the dictionary that the one at is an entry of, or an entry of
// an entry, and so on, if there is one.
func outermost(at string) string {
	if found, err := filepath.EvalSymlinks(at); err == nil {
		at = found
	}
	for above := filepath.Dir(at); above != at; above = filepath.Dir(at) {
		m, err := readNode(above)
		if err != nil || !m.holds(filepath.Base(at)) {
			break
		}
		at = above
	}
	return at
}
