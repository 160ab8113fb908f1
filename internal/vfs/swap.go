package vfs

import (
	"errors"
)

// swap moves the new tree to dir. It returns the path of the old tree, or "" if there is none.
func (p publication) swap(exists bool) (old string, err error) {
	if exists {
		err = p.fsys.Exchange(p.tmp, p.dir)
	} else {
		err = p.fsys.Rename(p.tmp, p.dir)
	}
	switch {
	case exists && errors.Is(err, errors.ErrUnsupported):
		return p.replace()
	case err != nil:
		return "", p.fail(Untouched, "", err)
	case !exists:
		return "", nil
	}
	return p.tmp, p.swapBack()
}

// swapBack exchanges the two directories again if the old one is not the directory to replace,
// because it appeared after the check.
func (p publication) swapBack() error {
	info, err := p.lookup(p.tmp)
	if err == nil && info != nil {
		err = p.checkOld(info)
	}
	if err == nil {
		return nil
	}
	if failed := p.fsys.Exchange(p.tmp, p.dir); failed != nil {
		return p.fail(Unsynced, p.tmp, errors.Join(err, failed))
	}
	return p.fail(Untouched, "", err)
}

// oldSuffix stands behind the path of the new tree in the path of the old one, while [Publish]
// replaces it by two renames.
const oldSuffix = ".old"

// replace moves the old tree aside and the new one to dir. It does not sync between the two
// renames: that would only prolong the time without dir, and make that state durable.
func (p publication) replace() (old string, err error) {
	aside := p.tmp + oldSuffix
	if err := p.fsys.Rename(p.dir, aside); err != nil {
		return "", p.fail(Untouched, "", err)
	}
	info, err := p.fsys.Lstat(aside)
	if err == nil {
		err = p.checkOld(info)
	}
	if err == nil {
		err = p.fsys.Rename(p.tmp, p.dir)
	}
	if err != nil {
		return "", p.restore(aside, err)
	}
	return aside, nil
}

// restore moves the old tree back from aside, after the new one could not be moved in because of
// cause.
func (p publication) restore(aside string, cause error) error {
	if err := p.fsys.Rename(aside, p.dir); err != nil {
		return p.fail(Aside, aside, errors.Join(cause, err))
	}
	return p.fail(Untouched, "", errors.Join(cause, p.fsys.SyncDir(p.parent())))
}
