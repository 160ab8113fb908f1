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

// OpenOptions are the options of [OpenWith]. The zero value is the default.
//
// Two limits of the process bound how much can be open at a time:
//
//   - Mappings. Each leaf that is in use takes one mapping until it is closed. An archive takes
//     one for all its leaves. All datasets of the process together take at most half of
//     vm.max_map_count on Linux, 32,765 by default, which leaves room for Go's runtime; no limit
//     is known on other systems. Once the limit is reached, a leaf of up to 64 KiB in a Dataset
//     that was opened for reading is copied into memory on first use; later writes of other
//     processes are not visible in it. Using any other leaf returns [ErrLimit].
//   - Descriptors. A dataset has one descriptor, of its directory. A mapping needs a descriptor
//     of its file only when it is made. On Unix systems, the descriptor is nevertheless kept as
//     long as the file is mapped, to detect that the file was truncated within its last page. At
//     most 1,000 descriptors are kept in the process, or a tenth of RLIMIT_NOFILE if that is
//     less.
type OpenOptions struct {
	// Writable maps the files so that elements can be written, which changes the files. Without it,
	// writing to elements returns tensor.ErrReadOnly. For an archive or a consolidated file,
	// OpenWith with Writable returns [ErrUnsupported].
	Writable bool
	// Wait bounds two waits:
	//
	//   - OpenWith with Writable waits while another process computes checksums, see [Seal]. After
	//     that time it returns [ErrBusy].
	//   - Writes to elements and AddLeaf wait while another process is changing a meta.json. After
	//     that time they return ErrBusy.
	//
	// 0 means a second, and a negative Wait means not to wait.
	Wait time.Duration
	// MaxEntries bounds the number of entries of the dictionary, at all levels together; 0 means
	// 200,000. It bounds the work that a hostile directory can cause.
	MaxEntries int
	// MaxCopy bounds the bytes that are read into memory, separately for lengths of ragged tensors
	// and for compressed files in an archive. 0 means 1 GiB.
	MaxCopy int64
	// CheckSums compares each block of a leaf with its checksum, see [Verify], before an operation
	// first reads elements in it, and then returns [ErrCorrupt] if it differs. Leaves without
	// checksums are not compared, nor are leaves opened with Writable. A block has [BlockSize]
	// bytes; the leaves of an archive are one block each.
	CheckSums bool
	// SkipPickled leaves out entries that Python has pickled. By default, OpenWith returns
	// ErrUnsupported for them.
	SkipPickled bool
	// Skipped, if not nil, is called with each entry that SkipPickled leaves out, by the path of
	// its file in the dataset, possibly more than once.
	Skipped func(path string)

	alone bool // nobody else may have it open to write it
}

// Open opens the dictionary saved at dir, a directory or a file, for reading. It is [OpenWith]
// without options.
func Open(dir string) (*Dataset, error) { return OpenWith(dir, OpenOptions{}) }

// OpenWith opens the dictionary saved at dir. The directory of a nested dictionary can be opened by
// itself, the directory of a ragged tensor cannot ([ErrUnsupported]). If Save replaces the
// directory meanwhile, OpenWith opens the old version or the new one. If dir is an archive or a
// consolidated file, of any name, the file is mapped as a whole when it is opened. If another file
// replaces it later, the Dataset stays as it is.
//
// OpenWith returns a [DatasetError] that names the file:
//
//   - [ErrCorrupt] or [ErrUnsupported]
//   - [ErrForeign] if dir is a file in none of the forms
//   - [ErrForeign], with a list of the content, if dir is a directory or a zip file without a
//     meta.json; errors.Is then finds ErrCorrupt and fs.ErrNotExist too
//   - with Writable, [ErrBusy] if dir is an unfinished dataset of a [Writer], or if another
//     process uses the directory exclusively for longer than Wait
//   - with Writable, fs.ErrPermission or syscall.EROFS if the file of a leaf cannot be written
//   - fs.ErrNotExist if nothing is at dir, and fs.ErrInvalid if dir is empty
//   - other errors of the system
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

// openAt opens the directory whose absolute path is at. Errors name it dir.
func openAt(dir, at string, opt OpenOptions) (*Dataset, error) {
	p := &opening{op: "open", dir: dir, at: at, opt: opt}
	for try := 0; ; try++ {
		d, replaced, err := p.dataset()
		if !replaced || try == 10 {
			return d, err
		}
	}
}

// lockWriters locks the outermost dictionary around the directory at. All who write that
// dictionary, or one in it, hold this lock shared for as long as they write; who sets sums holds it
// alone. The lock is nil where directories cannot be locked.
func (opt *OpenOptions) lockWriters(at string) (*vfs.Lock, error) {
	top := outermost(at)
	sharing := vfs.Shared
	if opt.alone {
		sharing = vfs.Exclusive
	}
	l, err := opt.await(func() (*vfs.Lock, error) { return vfs.TryLock(top, sharing) })
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return l, err
}

// await calls try until it returns nil or an error other than vfs.ErrHeld, or until Wait has
// passed.
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

// outermost returns the directory of the outermost dictionary that has the directory at as an
// entry, or as an entry of an entry, and so on. It is at itself if there is none.
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
