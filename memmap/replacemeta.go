package memmap

import (
	"errors"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// tempMeta is the name of a file that is to become a meta.json. Whoever writes it has the meta.json
// locked, or is the only Writer.
const tempMeta = ".meta-next"

// replaceMeta replaces the meta.json of a directory atomically, and durably if sync is set. The new
// one has the given text and the old permissions.
func replaceMeta(dir vfs.Dir, text []byte, sync bool) error {
	info, err := dir.Lstat(metaName)
	if err != nil {
		return err
	}
	if err := dir.RemoveAll(tempMeta); err != nil { // left by a process that was killed
		return err
	}
	err = vfs.MakeFile(dir, tempMeta, info.Mode().Perm(), true, sync, func(f vfs.File) error {
		_, err := f.Write(text)
		return err
	})
	if err == nil {
		err = dir.Rename(tempMeta, metaName)
	}
	if err != nil {
		return errors.Join(err, dir.RemoveAll(tempMeta))
	}
	if !sync {
		return nil
	}
	return vfs.Done("meta.json was replaced, but a crash may bring the old one back", dir.SyncDir("."))
}
