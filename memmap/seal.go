package memmap

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path"
	"slices"

	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
)

// Seal accepts the elements and the data of the dictionary saved at dir: it computes the checksums
// of all leaves and data that have checksums, or had some until a write made them void. Call it
// after Python has changed elements or data in place: [Verify] and [Copy] return [ErrCorrupt] then.
// Earlier damage is not found any more afterwards. After writes through this package call
// [SealWritten].
//
// Seal reads all leaves. In a directory it changes nothing but the checksums, in each meta.json. An
// archive or a consolidated file is replaced by a copy. Lengths and row numbers of ragged tensors
// keep their checksums, since a change of them is damage; a consolidated file has no separate ones.
//
// After another error than [ErrBusy] some checksums may be new; call Seal again. Seal returns
// ErrBusy if others have the directory open to write it, or a [Writer] has not finished it,
// errors.ErrUnsupported where directories cannot be locked, and the errors of [OpenWith] and Copy.
func Seal(ctx context.Context, dir string) error {
	form, err := sealed(dir)
	switch {
	case err != nil:
		return fileError("seal", dir, "", err)
	case form != Directory:
		return Copy(ctx, dir, dir, CopyOptions{Save: SaveOptions{Container: form}, SkipSums: true})
	}
	return sealDir(ctx, dir, false)
}

// SealWritten computes the checksums that writes to elements have made void in the dictionary saved
// at dir, as [Seal] does: of leaves of a dictionary that was opened with Writable, or made by
// [Create]. It reads only these leaves; the other checksums stay, and damage that they show is
// found as before. Call it when nobody has the dictionary open to write it any more. An archive and
// a consolidated file are never written in place, so it does nothing.
//
// It returns the errors of Seal.
func SealWritten(ctx context.Context, dir string) error {
	form, err := sealed(dir)
	if err != nil || form != Directory {
		return fileError("seal", dir, "", err)
	}
	return sealDir(ctx, dir, true)
}

// sealed returns the form of the dictionary to be sealed.
func sealed(dir string) (Container, error) {
	if info, err := os.Stat(dir); err != nil || !info.Mode().IsRegular() {
		return Directory, nil // OpenWith returns the error
	}
	return formAt(dir)
}

// sealDir seals a directory: all leaves, or only leaves with void sums.
func sealDir(ctx context.Context, dir string, written bool) error {
	ds, err := OpenWith(dir, OpenOptions{Writable: true, MaxEntries: math.MaxInt, MaxCopy: math.MaxInt64, alone: true})
	if err != nil {
		return err
	}
	return errors.Join(ds.fail("seal", "", ds.seal(ctx, written)), ds.Close())
}

// seal sets the sums of all leaves that have a field for them, or only of leaves whose sums are
// void.
func (d *Dataset) seal(ctx context.Context, written bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock == nil {
		return fmt.Errorf("%w: the directory cannot be locked against writers", errors.ErrUnsupported)
	}
	return d.setSums(ctx, "seal", func(l *leafFile) bool { return !written || l.sums == nil }, !written)
}

// setSums computes the sums of some of the leaves that have a field for them, and with data the
// sums of data, and puts them into each meta.json. Errors have the operation op.
func (d *Dataset) setSums(ctx context.Context, op string, some func(l *leafFile) bool, data bool) error {
	todo := slices.DeleteFunc(slices.Clone(d.files), func(l *leafFile) bool { return !l.summed || !some(l) })
	err := workers.Do(ctx, len(todo), 0, func(i int) error {
		sum := tdc.Summer{}
		if err := todo[i].read(&sum); err != nil {
			return err
		}
		if l, sums := todo[i], sum.Sums(); l.was == nil || slices.Equal(l.was, sums) {
			l.sums = sums // otherwise it is damaged, or another has written it
		}
		return nil
	})
	if err != nil {
		return err
	}
	set := map[*leafFile]bool{}
	nodes := map[*leafNode]bool{}
	for _, l := range todo {
		set[l], nodes[l.node] = l.sums != nil, true
	}
	for _, n := range d.nodes {
		if !nodes[n] && (!data || n.td == nil && n.leaf == nil) { // n is data, or has nothing to set
			continue
		}
		err := d.changeMeta(n, func(dir *vfs.Root, edit *metaEdit) error {
			for i := range edit.entries {
				e := &edit.entries[i]
				if l := n.leaf[e.name]; set[l] && e.fact.sums != nil { // Python may have listed it anew
					edit.setSums(e.name, l.sums)
				}
			}
			if !data {
				return nil
			}
			return sealData(dir, edit)
		})
		if err != nil {
			return vfs.NotDone(d.fail(op, path.Join(n.path, metaName), err)) // other nodes follow
		}
	}
	return nil
}

// closeSums sets the sums of leaves that d has written, unless others have the directory open to
// write it, or a loan of d has not ended. d lends nothing any more.
func (d *Dataset) closeSums() error {
	if d.inUse() { // lockAlone would perhaps lose the lock
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	mine := func(l *leafFile) bool { return l.summed && l.written }
	if !slices.ContainsFunc(d.files, mine) || !d.lockAlone() {
		return nil
	}
	return d.setSums(context.Background(), "close", mine, false)
}

// lockAlone reports whether nobody else has the directory open to write it, and keeps others out.
// Otherwise it gives up the lock. Only one process may ask at a time, so if two close at once, one
// of them is alone.
func (d *Dataset) lockAlone() bool {
	if d.lock == nil {
		return false
	}
	dir, err := vfs.OpenRoot(outermost(d.at))
	if err != nil {
		return false
	}
	defer dir.Close()
	unlock, err := d.opt.lockMeta(dir)
	if err != nil {
		return false
	}
	defer unlock()
	if d.lock.Become(vfs.Exclusive) == nil {
		return true
	}
	_ = d.lock.Unlock() // d is being closed
	return false
}

// sealData sets the sums of data, which are in dir.
func sealData(dir *vfs.Root, edit *metaEdit) error {
	for i := range edit.entries {
		e := &edit.entries[i]
		if !e.hasDataSum() {
			continue
		}
		inner, err := dir.OpenRoot(e.file())
		if err != nil {
			return err
		}
		data, _, err := readMeta(inner)
		if err = errors.Join(err, inner.Close()); err != nil {
			return err
		}
		edit.setSums(e.name, []uint32{crc32.Checksum(data, tdc.Castagnoli)})
	}
	return nil
}
