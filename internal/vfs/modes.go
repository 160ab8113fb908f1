package vfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Modes are the permissions that a saver gives to the files and directories that it makes: the
// permissions of the tree that it replaces or, if nothing is replaced, of the source that it
// copies. The zero Modes are for new files and directories.
//
// What has the path of an old file or directory gets its permissions. Other directories get the
// permissions of the top, and other files the permissions that all old files have.
type Modes struct {
	// Exact sets permissions exactly, as of what is replaced. Otherwise the umask applies, as in a
	// copy by cp, and the owner may always read and write. For files see [Modes.ExactFiles].
	Exact bool

	dirs, files map[string]fs.FileMode // by path, with slashes
	file        fs.FileMode            // which all files have
	reach       fs.FileMode            // with which all files can be read, given the directories above
	some        bool                   // there is a file
	source      *Modes                 // of files, if some is false; or nil
}

const (
	dirMode  fs.FileMode = 0o777
	fileMode fs.FileMode = 0o666
	owner    fs.FileMode = 0o700
)

// ModesOf returns the permissions of a file, or of a directory and everything in it, without what
// savers in progress have there. A path that does not exist has the zero Modes.
func ModesOf(top string) (*Modes, error) {
	m := new(Modes)
	info, err := os.Stat(top)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err != nil:
		return m, err
	case !info.IsDir():
		m.Note("", info)
		return m, nil
	}
	if found, err := filepath.EvalSymlinks(top); err == nil {
		top = found
	}
	err = filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && at != top && Reserved(d.Name()) {
			return fs.SkipDir
		}
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(top, at)
		if err == nil {
			m.Note(path.Clean("/" + filepath.ToSlash(rel))[1:], info)
		}
		return err
	})
	return m, err
}

// Note records the permissions of a file or directory at a path below the top, after the
// directories above it.
func (m *Modes) Note(at string, info fs.FileInfo) {
	if m.dirs == nil {
		m.dirs, m.files, m.file, m.reach = map[string]fs.FileMode{}, map[string]fs.FileMode{}, fs.ModePerm, fs.ModePerm
	}
	mode := info.Mode() & (fs.ModePerm | fs.ModeSetgid)
	if info.IsDir() {
		m.dirs[at] = mode
		return
	}
	m.files[at] = mode
	m.some = true
	m.file = common(m.file, mode)
	m.reach = common(m.reach, m.through(at))
}

// Empty reports whether m is of nothing.
func (m *Modes) Empty() bool { return m.dirs == nil }

// common returns the permissions that two files both have. The owner has the permissions of
// either.
func common(a, b fs.FileMode) fs.FileMode { return a&b&^owner | (a|b)&owner&fileMode }

// through returns the permissions of the file at a path for users who must pass the directories
// above it.
func (m *Modes) through(at string) fs.FileMode {
	mode := m.files[at].Perm()
	for at != "" && at != "." {
		if at = path.Dir(at); at == "." {
			at = ""
		}
		if dir, ok := m.dirs[at]; ok {
			enter := dir & 0o011 // execute permission becomes all permissions of group and others
			mode &= owner | enter*7
		}
	}
	return mode
}

// Dir returns the permissions for a directory at a path below the top, "" for the top.
func (m *Modes) Dir(at string) fs.FileMode {
	mode, ok := m.dirs[at]
	if !ok {
		mode, ok = m.dirs[""]
	}
	switch {
	case !ok && m.some: // the source is a file: who may read it may enter the directory
		mode = m.file | m.file&0o444>>2
	case !ok:
		return dirMode
	}
	if !m.Exact {
		mode = mode.Perm() | owner
	}
	return mode
}

// File returns the permissions for a file at a path below the top.
func (m *Modes) File(at string) fs.FileMode {
	if !m.some {
		return m.none()
	}
	mode, ok := m.files[at]
	if !ok {
		mode = m.file & fileMode
	}
	return m.readable(mode)
}

// none returns the permissions for files if there are no old ones: what both the source and the
// directory allow.
func (m *Modes) none() fs.FileMode {
	mode := fileMode
	if m.source != nil {
		mode = m.source.One()
	}
	if dir, ok := m.dirs[""]; ok {
		mode &= dir | owner
	}
	return mode
}

// readable adds the permissions that the owner always has.
func (m *Modes) readable(mode fs.FileMode) fs.FileMode {
	if !m.Exact {
		mode = mode.Perm() | owner&fileMode
	}
	return mode
}

// ExactFiles reports whether the permissions of files are set exactly, because there are old files.
func (m *Modes) ExactFiles() bool { return m.Exact && m.some }

// Else returns Modes that give files the permissions of a source, if there are no old files.
func (m *Modes) Else(source *Modes) *Modes {
	with := *m
	with.source = source
	return &with
}

// One returns the permissions for one file with the content of all files.
func (m *Modes) One() fs.FileMode {
	if !m.some {
		return m.none()
	}
	return m.readable(m.reach & fileMode)
}

// Through returns the permissions of the old file at a path for users who must pass the directories
// above it, and whether there is such a file.
func (m *Modes) Through(at string) (fs.FileMode, bool) {
	_, ok := m.files[at]
	return m.through(at), ok
}

// Flat returns Modes for trees whose files have other paths than in m: each file gets the
// permissions of One.
func (m *Modes) Flat() *Modes {
	if m.dirs == nil {
		return m
	}
	return &Modes{Exact: m.Exact, dirs: m.dirs, file: m.One(), reach: m.One(), some: true}
}

// With returns Modes as of Flat that allow only what both m and other allow, for several sources.
func (m *Modes) With(other *Modes) *Modes {
	both := func(a, b fs.FileMode) fs.FileMode { return a&b&^owner&fs.ModePerm | owner }
	file := common(m.One(), other.One())
	dir := both(m.Dir(""), other.Dir(""))
	return &Modes{dirs: map[string]fs.FileMode{"": dir}, file: file, reach: file, some: true}
}

// modesKey is the key of the Modes in a context.
type modesKey struct{}

// WithModes returns a context for a saver that copies a source with the given permissions.
func WithModes(ctx context.Context, m *Modes) context.Context {
	return context.WithValue(ctx, modesKey{}, m)
}

// ModesFor returns the Modes of a context, which may be nil, or the zero Modes.
func ModesFor(ctx context.Context) *Modes {
	if ctx != nil {
		if m, ok := ctx.Value(modesKey{}).(*Modes); ok {
			return m
		}
	}
	return new(Modes)
}
