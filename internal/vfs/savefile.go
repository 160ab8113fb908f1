package vfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// FileOptions say how [SaveFile] goes about it. The zero value is the default.
type FileOptions struct {
	// NoSync does not wait for the disk. Whatever happens to the process, the file is all of the
	// old or all of the new; if the machine stops within the next half minute or so, it may be
	// neither.
	NoSync bool
	// NoReplace returns fs.ErrExist if something is there, or comes meanwhile. The file system must
	// have links.
	NoReplace bool
	// Check, if not nil, is called when the file is written, just before it takes its place. Its
	// error is that of SaveFile.
	Check func() error
}

// ResolveFile is [Resolve] of a path that ends in the name of a file. It returns fs.ErrInvalid if
// the path does not.
func ResolveFile(path string) (string, error) {
	if _, name := filepath.Split(path); name == "" || name == "." || name == ".." {
		return "", fmt.Errorf("%w: %q is no name for a file", fs.ErrInvalid, name)
	}
	return Resolve(path)
}

// SaveFile makes or replaces the file at path, which is as [ResolveFile] returns it; write writes
// its content. If it
// returns nil, the file is there, durably; on an error, and after a crash at any moment, there is
// all of what was there before, or all of the new file. Permissions stay those of the file that is
// replaced. What a save that was killed left beside path is removed, as [MakeTemp] does.
//
// write need neither Sync nor Close. Its Writes return the error of ctx if that ends first. Some
// systems do not replace a file that is mapped.
//
// SaveFile returns the error of write, fs.ErrExist if something other than a regular file is there,
// and what the system says, such as fs.ErrNotExist if the directory around path is not there.
func SaveFile(ctx context.Context, disk FS, path string, opt FileOptions, write func(File) error) (err error) {
	perm, err := opt.permissions(disk, path)
	if err != nil {
		return err
	}
	tmp, err := MakeTemp(disk, path, 0o700)
	if err != nil {
		return err
	}
	defer func() { // also if write panics
		if left := tmp.Remove(); err != nil { // else it is empty, and a later save removes it
			err = errors.Join(err, left)
		}
	}()
	until := func(f File) error { return write(stoppable{f, ctx}) }
	if err = MakeFile(disk, tmp.New(), perm, !opt.NoSync, until); err != nil {
		return err
	}
	return opt.move(disk, tmp.New(), path)
}

// MakeFile makes a file with what write writes and the given permissions, those of a new file if
// they are 0. It syncs the file, but not its name, if sync is set. After an error the file may be
// there.
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

// permissions returns those of the file at path, 0 if there is none. It returns fs.ErrExist for
// what is not to be replaced.
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
