package memmap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// A Container is the form of a saved dictionary: directory, archive or consolidated file.
type Container uint8

// The values of [Container].
const (
	// AsIs is the form of the dictionary that is replaced; an existing directory stays a directory,
	// even an empty one. If nothing is there, it is [Archive] for a name that ends in .tdz,
	// [Consolidated] for .tdc, and otherwise [Directory].
	AsIs Container = iota
	// Directory is a directory with a file for each leaf. It can be opened Writable and added to.
	Directory
	// Archive is one zip file with the files of such a directory, as Python's tensordict writes it.
	// It is mapped as a whole. It cannot be changed in place: it can be read, or replaced as a
	// whole.
	Archive
	// Consolidated is one file with the elements of all leaves, then JSON that describes them, as
	// Python's consolidate writes it and package wire sends it. It is mapped as a whole. It cannot
	// be changed in place: it can be read, or replaced as a whole.
	Consolidated
)

// String returns the name of the form: "as is", "directory", "archive" or "consolidated".
func (f Container) String() string {
	switch f {
	case AsIs:
		return "as is"
	case Directory:
		return "directory"
	case Archive:
		return "archive"
	case Consolidated:
		return "consolidated"
	}
	return fmt.Sprintf("Container(%d)", uint8(f))
}

// formAt returns the form of the dictionary at a path, AsIs if there is none.
func formAt(at string) (form Container, err error) {
	info, err := os.Stat(at)
	switch {
	case err != nil: // saving returns the reason
		return AsIs, nil
	case info.IsDir():
		return Directory, nil
	}
	err = withFile(at, func(f *os.File, size int64) (err error) {
		form, err = formOf(f, size)
		return err
	})
	return form, err
}

// withFile calls fn with a file and its size, if it is a regular file.
func withFile(at string, fn func(f *os.File, size int64) error) error {
	f, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return fn(f, info.Size())
}

// formOf returns the form of a file. An archive is a zip file with a meta.json, or a damaged file
// that begins like an archive of Python's or of this module.
func formOf(f *os.File, size int64) (Container, error) {
	if tdc.Ends(f, size) {
		return Consolidated, nil
	}
	zip, err := zipOf(f, size)
	is := false
	if zip != nil {
		_, is = zip.Find(metaName)
	} else if err == nil {
		is, err = zipfile.StartsWith(f, metaName)
	}
	if is {
		return Archive, err
	}
	return AsIs, err
}

// zipOf returns the zip directory of a file, nil if it is not a readable zip file.
func zipOf(f *os.File, size int64) (*zipfile.Archive, error) {
	zip, err := zipfile.Open(f, size, zipfile.MaxEntries)
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnsupported) {
		return nil, nil
	}
	return zip, err
}

// namedForm returns the form for a name by its extension, Directory by default.
func namedForm(at string) Container {
	switch filepath.Ext(at) {
	case archiveExt:
		return Archive
	case consolidatedExt:
		return Consolidated
	}
	return Directory
}

// form returns the form to save.
func (s *saver) form() (Container, error) {
	want := s.opt.Container
	if want > Consolidated {
		return 0, unsupported("got %v, want AsIs, Directory, Archive or Consolidated", want)
	}
	is, err := formAt(s.dir)
	if err != nil {
		return 0, err
	}
	if want == AsIs {
		want = is
	}
	if want == AsIs {
		want = namedForm(s.dir)
	}
	switch {
	case is != AsIs && is != want:
		return 0, fmt.Errorf("%w: the dictionary there has the form %v, want %v: save elsewhere", fs.ErrExist, is, want)
	case want != Archive && s.opt.Compress:
		return 0, unsupported("only an archive can be compressed: set Container to Archive")
	}
	return want, s.checkFile()
}

// checkFile returns ErrForeign if saving would replace a file that no writer of these forms makes.
func (s *saver) checkFile() error {
	info, err := os.Stat(s.dir)
	if err != nil || info.IsDir() || s.opt.NoReplace || info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	switch is, err := formAt(s.dir); {
	case err != nil || is == Consolidated:
		return err
	case is != Archive:
		return fmt.Errorf("%w: saving would replace a file of another kind: save elsewhere", ErrForeign)
	}
	return withFile(s.dir, checkEntries)
}

// checkEntries returns ErrForeign if an archive has entries that no writer of this format makes.
func checkEntries(f *os.File, size int64) error {
	zip, err := zipOf(f, size)
	if zip == nil { // a damaged archive
		return err
	}
	for _, e := range zip.Entries {
		dir, name := path.Split(e.Name)
		if _, saved := zip.Find(dir + metaName); !litter(name) && !(saved && ours(name)) {
			return fmt.Errorf("%w: %s in it would be lost; save elsewhere", ErrForeign, quote(e.Name))
		}
	}
	return nil
}
