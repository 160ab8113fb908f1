package memmap

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path"

	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
)

// Seal takes the elements and the data of the dictionary saved at dir as right: it computes the
// checksums of all leaves and data that have checksums, or had some until a write made them void.
// Call it after Python has changed elements or data in place: [Verify] and [Copy] return
// [ErrCorrupt] then. Earlier damage is not found any more afterwards.
//
// Seal reads all leaves. In a directory it changes nothing but the checksums, in each meta.json. An
// archive or a consolidated file is replaced by a copy. Lengths and row numbers of ragged tensors
// keep their checksums, since a change of them is damage; a consolidated file has no separate ones.
//
// After another error than [ErrBusy] some checksums may be new; call Seal again. Seal returns
// ErrBusy if others have the directory open to write it, or a [Writer] has not finished it,
// errors.ErrUnsupported where directories cannot be locked, and the errors of [OpenWith] and Copy.
func Seal(ctx context.Context, dir string) error {
	if info, err := os.Stat(dir); err == nil && info.Mode().IsRegular() {
		form, err := formAt(dir)
		if err != nil {
			return fileError("seal", dir, "", err)
		}
		return Copy(ctx, dir, dir, CopyOptions{Save: SaveOptions{Form: form}, SkipSums: true})
	}
	ds, err := OpenWith(dir, OpenOptions{Writable: true, MaxEntries: math.MaxInt, MaxCopy: math.MaxInt64})
	if err != nil {
		return err
	}
	return errors.Join(ds.fail("seal", "", ds.seal(ctx)), ds.Close())
}

// seal sets the sums of all leaves that have a field for them.
func (d *Dataset) seal(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock == nil {
		return fmt.Errorf("%w: the directory cannot be locked against writers", errors.ErrUnsupported)
	}
	if !d.lockAlone() {
		return fmt.Errorf("%w: others have it open to write it: close them first", ErrBusy)
	}
	defer d.lockShared()
	err := workers.Do(ctx, len(d.files), 0, func(i int) error {
		l, sum := d.files[i], tdc.Summer{}
		if !l.summed {
			return nil
		}
		if err := l.read(&sum); err != nil {
			return err
		}
		l.sums = sum.Sums()
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range d.nodes {
		if n.td == nil && n.leaf == nil { // data
			continue
		}
		err := d.changeMeta(n, func(dir *vfs.Root, edit *metaEdit) error {
			for i := range edit.entries {
				e := &edit.entries[i]
				if l := n.leaf[e.name]; l != nil && l.sums != nil && e.hasSums() {
					edit.setSums(e.name, l.sums)
				}
			}
			edit.setNative("by", nil)
			return sealData(dir, edit)
		})
		if err != nil {
			return vfs.NotDone(d.fail("seal", path.Join(n.path, metaName), err)) // other nodes follow
		}
	}
	return nil
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
