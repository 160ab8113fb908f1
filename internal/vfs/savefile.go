package vfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// FileOptions say how [SaveFile] saves. The zero value is the default.
type FileOptions struct {
	// NoSync does not wait for the disk. If the process ends, the file is still either the whole
	// old one or the whole new one; but if the machine stops within about half a minute, it may be
	// neither.
	NoSync bool
	// NoReplace returns fs.ErrExist if the file exists, or appears during the save. The file system
	// must support links.
	NoReplace bool
	// Check, if not nil, is called after the file was written, just before it takes its place.
	// SaveFile returns its error.
	Check func() error
}

// ResolveFile is [Resolve] for the path of a file. It returns fs.ErrInvalid if the path does not
// end in a name.
func ResolveFile(path string) (string, error) {
	if _, name := filepath.Split(path); name == "" || name == "." || name == ".." {
		return "", fmt.Errorf("%w: %q is not a name for a file", fs.ErrInvalid, name)
	}
	return Resolve(path)
}

// SaveFile creates or replaces the file at path, a result of [ResolveFile]; write writes its
// content. If SaveFile returns nil, the file is there, durably. After an error, or a crash at any
// time, it is either the whole old file or the whole new one. A new file gets the permissions of
// the file that it replaces. Leftovers of killed saves beside path are removed, as by [MakeTemp].
//
// write need neither Sync nor Close. Its Writes return the error of ctx if ctx ends first. Some
// systems do not replace a mapped file.
//
// SaveFile returns the error of write, fs.ErrExist if something other than a regular file is there,
// and errors of the system, such as fs.ErrNotExist if the directory of path does not exist.
func SaveFile(ctx context.Context, disk FS, path string, opt FileOptions, write func(File) error) (err error) {
	perm, err := opt.permissions(disk, path)
	if err != nil {
		return err
	}
	tmp, err := MakeTemp(disk, path, 0o700)
	if err != nil {
		return err
	}
	defer func() { // runs even if write panics
		if left := tmp.Remove(); err != nil { // after a success only an empty directory can be left
			err = errors.Join(err, left)
		}
	}()
	until := func(f File) error { return write(stoppable{f, ctx}) }
	if err = MakeFile(disk, tmp.New(), perm, !opt.NoSync, until); err != nil {
		return err
	}
	return opt.move(disk, tmp.New(), path)
}

// MakeFile creates a file with the content that write writes and the given permissions; 0 means the
// permissions of a new file. If sync is set, it syncs the file, but not its name. After an error
// the file may exist.
func MakeFile(disk Files, path string, perm fs.FileMode, sync bool, write func(File) error) error {
	f, err := disk.Create(path)
	if err != nil {
		return err
	}
	if perm != 0 {
		err = disk.Chmod(path, perm)
	}
	if err == nil {
		err = write(f)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// permissions returns the permissions of the file at path, or 0 if there is none. It returns
// fs.ErrExist if the file must not be replaced.
func (o FileOptions) permissions(disk FS, path string) (fs.FileMode, error) {
	info, err := disk.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: got mode %v, want a regular file to replace", fs.ErrExist, info.Mode())
	case o.NoReplace:
		return 0, fs.ErrExist
	}
	return info.Mode().Perm(), nil
}

// move moves a file to its place, durably.
func (o FileOptions) move(disk FS, file, path string) error {
	if o.Check != nil {
		if err := o.Check(); err != nil {
			return err
		}
	}
	give := disk.Rename
	if o.NoReplace {
		give = disk.Link
	}
	if err := give(file, path); err != nil {
		return err
	}
	if o.NoSync {
		return nil
	}
	if err := disk.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("the new file is in place, but a crash may bring the old one back: %w", err)
	}
	return nil
}
