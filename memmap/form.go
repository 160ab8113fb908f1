package memmap

import (
	"fmt"
	"io/fs"
	"os"
)

// A Form is how a dictionary lies on disk.
type Form uint8

// The forms.
const (
	// AsIs is the form of what is replaced; where nothing is, [Archive] for a name that ends in
	// .tdz, and else [Directory].
	AsIs Form = iota
	// Directory is a directory with a file for each leaf. It can be opened Writable and added to.
	Directory
	// Archive is one zip file with the files of such a directory, as Python's tensordict writes it.
	// It is mapped as a whole, and only read, or replaced as a whole.
	Archive
)

// String returns the name of the form: "as is", "directory" or "archive".
func (f Form) String() string {
	switch f {
	case AsIs:
		return "as is"
	case Directory:
		return "directory"
	case Archive:
		return "archive"
	}
	return fmt.Sprintf("Form(%d)", uint8(f))
}

// formAt returns the form of what is at a path, AsIs if nothing is there or something else.
func formAt(at string) Form {
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return AsIs
	case info.IsDir():
		return Directory
	case isArchive(at):
		return Archive
	}
	return AsIs
}

// form returns the form in which to save.
func (s *saver) form() (Form, error) {
	want, is := s.opt.Form, formAt(s.dir)
	if want > Archive {
		return 0, unsupported("got %v, want AsIs, Directory or Archive", want)
	}
	if want == AsIs {
		want = is
	}
	if want == AsIs && namesArchive(s.dir) {
		want = Archive
	}
	switch {
	case is != AsIs && is != want && want != AsIs:
		return 0, fmt.Errorf("%w: it has the form %v, want %v: save elsewhere", fs.ErrExist, is, want)
	case want != Archive && s.opt.Compress:
		return 0, unsupported("Compress is for archives")
	case want != Archive:
		want = Directory
	}
	return want, s.checkFile(is)
}

// checkFile returns ErrForeign if a file other than an archive would be replaced.
func (s *saver) checkFile(is Form) error {
	if _, err := os.Stat(s.dir); is != AsIs || s.opt.NoReplace || err != nil {
		return nil
	}
	return fmt.Errorf("%w: a file there that is no archive would be lost; save elsewhere", ErrForeign)
}
