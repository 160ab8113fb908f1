package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Absolute returns the path of a directory or file from the root of the file system. Links in it
// stay as they are, and so do "." and "..": what comes before ".." may be a link, so only the
// system can tell where it leads.
func Absolute(dir string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("%w: the path is empty", fs.ErrInvalid)
	}
	if strings.ContainsRune(dir, 0) {
		return "", fmt.Errorf("%w: a zero byte in the path", fs.ErrInvalid)
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

// WorkingDir returns the path of the working directory, free of links.
func WorkingDir() (string, error) {
	here, err := os.Getwd() // perhaps $PWD, which may lead through links
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(here)
}

// Resolve returns the absolute path, free of links and of "..", of the file or directory that the
// system finds at dir or would make there.
func Resolve(dir string) (string, error) {
	dir, err := Absolute(dir)
	if err != nil {
		return "", err
	}
	if _, name := split(dir); Reserved(name) {
		return "", fmt.Errorf("%w: such names are given to what is being saved, which is removed", fs.ErrInvalid)
	}
	found, err := filepath.EvalSymlinks(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", fmt.Errorf("%w: a link that leads nowhere", fs.ErrExist)
	} else if err == nil { // made just now
		return Resolve(dir)
	}
	above, name := split(dir)
	if name == "" || name == "." || name == ".." {
		return "", err
	}
	above, err = Resolve(above)
	return filepath.Join(above, name), err
}

// split cuts the last name off a path. Unlike filepath.Split it passes over separators at the end.
func split(path string) (above, name string) {
	end := len(path)
	for end > 0 && os.IsPathSeparator(path[end-1]) {
		end--
	}
	return filepath.Split(path[:end])
}
