//go:build unix

package doctor

import (
	"io/fs"
	"os/user"
	"strconv"
	"syscall"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// access examines the owner and the mode of a directory.
func access(at string, info fs.FileInfo) []Finding {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return allowed(at, uint32(sys.Mode)&0o7777, userName(sys.Uid), groupName(sys.Gid), vfs.CanWrite(at))
}

func userName(id uint32) string {
	text := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(text); err == nil {
		return u.Username
	}
	return text
}

func groupName(id uint32) string {
	text := strconv.FormatUint(uint64(id), 10)
	if g, err := user.LookupGroupId(text); err == nil {
		return g.Name
	}
	return text
}
