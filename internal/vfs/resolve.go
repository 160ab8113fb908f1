package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Absolute returns the absolute path of a directory or file. It keeps links, "." and ".." in the
// path: the element before ".." may be a link, so only the system can resolve it.
func Absolute(dir string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("%w: the path is empty", fs.ErrInvalid)
	}
	if strings.ContainsRune(dir, 0) {
		return "", fmt.Errorf("%w: the path has a zero byte", fs.ErrInvalid)
	}
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	here, err := WorkingDir()
	if err != nil {
		return "", err
	}
	return here + string(filepath.Separator) + dir, nil
}

// WorkingDir returns the path of the working directory, without links.
func WorkingDir() (string, error) {
	here, err := os.Getwd() // may be $PWD, which may contain links
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(here)
}

// Resolve returns the absolute path, without links and "..", of the file or directory that the
// system finds at dir or would create there.
func Resolve(dir string) (string, error) {
	dir, err := Absolute(dir)
	if err != nil {
		return "", err
	}
	if _, name := split(dir); Reserved(name) {
		return "", fmt.Errorf("%w: this name is reserved for saves in progress, which may be removed", fs.ErrInvalid)
	}
	found, err := filepath.EvalSymlinks(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", fmt.Errorf("%w: the path is a broken link", fs.ErrExist)
	} else if err == nil { // created meanwhile
		return Resolve(dir)
	}
	above, name := split(dir)
	if name == "" || name == "." || name == ".." {
		return "", err
	}
	above, err = Resolve(above)
	return filepath.Join(above, name), err
}

// split splits the last name off a path. Unlike filepath.Split it ignores separators at the end.
func split(path string) (above, name string) {
	end := len(path)
	for end > 0 && os.IsPathSeparator(path[end-1]) {
		end--
	}
	return filepath.Split(path[:end])
}
