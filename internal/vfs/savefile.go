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
// time, it is either the whole old file or the whole new one: the new one if the error is
// [ErrDone], otherwise the old one. A new file gets the permissions of the file that it replaces,
// or else of the source, see [WithModes]. Leftovers of killed saves beside path are removed, as by
// [MakeTemp].
//
// write need neither Sync nor Close. Its Writes return the error of ctx if ctx ends first. Some
// systems do not replace a mapped file.
//
// SaveFile returns the error of write, fs.ErrExist if something other than a regular file is there,
// and errors of the system, such as fs.ErrNotExist if the directory of path does not exist.
func SaveFile(ctx context.Context, disk FS, path string, opt FileOptions, write func(File) error) (err error) {
	perm, there, err := opt.permissions(disk, path)
	if err != nil {
		return err
	}
	tmp, err := MakeTemp(disk, path)
	if err != nil {
		return err
	}
	defer func() { // runs even if write panics
		if left := tmp.Remove(); err != nil { // after a success only an empty directory can be left
			err = errors.Join(err, left)
		}
	}()
	until := func(f File) error { return write(stoppable{f, ctx}) }
	modes := ModesFor(ctx)
	if !there {
		perm = modes.One()
	}
	if err = MakeFile(disk, tmp.New(), perm, there || modes.ExactFiles(), !opt.NoSync, until); err != nil {
		return err
	}
	return opt.move(disk, tmp.New(), path, perm)
}

// MakeFile creates a file with the content that write writes and the given permissions. The umask
// applies to them unless exact is set; then nobody else can read the file before it has them. If
// sync is set, it syncs the file, but not its name. After an error the file may exist.
func MakeFile(disk Files, path string, perm fs.FileMode, exact, sync bool, write func(File) error) error {
	made := perm
	if exact {
		made = 0o600
	}
	f, err := disk.Create(path, made)
	if err != nil {
		return err
	}
	if err = write(f); err == nil && perm != made {
		err = disk.Chmod(path, perm)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// permissions returns the permissions of the file at path, and whether there is one. It returns
// fs.ErrExist if the file must not be replaced.
func (o FileOptions) permissions(disk FS, path string) (perm fs.FileMode, there bool, err error) {
	info, err := disk.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case !info.Mode().IsRegular():
		return 0, false, fmt.Errorf("%w: got mode %v, want a regular file to replace", fs.ErrExist, info.Mode())
	case o.NoReplace:
		return 0, false, fs.ErrExist
	}
	return info.Mode().Perm(), true, nil
}

// move moves a file whose permissions are perm to its place, durably.
func (o FileOptions) move(disk FS, file, path string, perm fs.FileMode) error {
	if o.Check != nil {
		if err := o.Check(); err != nil {
			return err
		}
	}
	if is, there, err := o.permissions(disk, path); err != nil {
		return err
	} else if there && is != perm { // another file is there by now
		if err := disk.Chmod(file, is); err != nil {
			return err
		}
	}
	if old, err := disk.Lstat(path); err == nil {
		if err := keepGroup(file, old); err != nil {
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
	return Done("the new file is in place, but a crash may bring the old one back", disk.SyncDir(filepath.Dir(path)))
}
