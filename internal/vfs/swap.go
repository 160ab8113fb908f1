package vfs

import (
	"errors"
)

// swap moves the new tree to dir and returns where the old one lies now, "" if there is none.
func (p publication) swap(exists bool) (old string, err error) {
	if !exists {
		return p.appear()
	}
	err = p.fsys.Exchange(p.tmp, p.dir)
	switch {
	case err == nil && p.firm:
		return p.tmp, p.swapBack()
	case err == nil:
		return p.tmp, nil
	case errors.Is(err, errors.ErrUnsupported):
		return p.replace()
	}
	return "", p.fail(Untouched, "", err)
}

// swapBack exchanges the two directories again if the old one is not the one to be replaced: it
// came there after it was looked at.
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

// appear moves the new tree to dir, which is absent. A crash between two renames may have left an
// old tree aside; it is of no use any more.
func (p publication) appear() (old string, err error) {
	aside := AsidePath(p.dir)
	info, err := p.lookup(aside)
	if err == nil {
		err = p.fsys.Rename(p.tmp, p.dir)
	}
	if err != nil {
		return "", p.fail(Untouched, "", err)
	}
	if info == nil {
		return "", nil
	}
	return aside, nil
}

// replace moves the old tree aside and the new one to dir. There is no sync between the two
// renames: it would only make the moment without dir last longer, and durable.
func (p publication) replace() (old string, err error) {
	aside := AsidePath(p.dir)
	if err := p.clear(aside); err != nil {
		return "", p.fail(Untouched, "", err)
	}
	if err := p.fsys.Rename(p.dir, aside); err != nil {
		return "", p.fail(Untouched, "", err)
	}
	info, err := p.fsys.Lstat(aside)
	if err == nil && p.firm {
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

// clear removes what an earlier publication left at aside. As long as the entries are not synced, a
// crash may bring that tree back to dir, so they are synced first.
func (p publication) clear(aside string) error {
	info, err := p.lookup(aside)
	if info == nil {
		return err
	}
	if err := p.fsys.SyncDir(p.parent()); err != nil {
		return err
	}
	return p.fsys.RemoveAll(aside)
}

// restore moves the old tree back from aside after the new one could not be moved in for cause.
func (p publication) restore(aside string, cause error) error {
	if err := p.fsys.Rename(aside, p.dir); err != nil {
		return p.fail(Aside, aside, errors.Join(cause, err))
	}
	return p.fail(Untouched, "", errors.Join(cause, p.fsys.SyncDir(p.parent())))
}
