package host

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// machineIDs returns the contents of the files with an id of the machine, the preferred one first.
func machineIDs() ([]string, error) {
	return contents("/etc/machine-id", "/var/lib/dbus/machine-id")
}

// bootIDs returns the content of the file with an id of the kernel.
func bootIDs() ([]string, error) { return contents("/proc/sys/kernel/random/boot_id") }

// contents returns the contents of the files that exist and that this process may read.
// Containers may have an empty directory in place of a file.
func contents(paths ...string) (texts []string, err error) {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		switch {
		case err == nil:
			texts = append(texts, string(data))
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EISDIR):
			return nil, err
		}
	}
	return texts, nil
}

// clock reads the machine's clock.
func clock() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic("host: impossible: no clock: " + err.Error())
	}
	return time.Duration(now.Nano())
}

// networks are the names of the network file systems, by magic number.
var networks = map[uint32]string{
	unix.AFS_SUPER_MAGIC:  "afs",
	unix.CEPH_SUPER_MAGIC: "ceph",
	unix.CIFS_SUPER_MAGIC: "cifs",
	unix.CODA_SUPER_MAGIC: "coda",
	unix.NFS_SUPER_MAGIC:  "nfs",
	unix.SMB_SUPER_MAGIC:  "smb",
	unix.SMB2_SUPER_MAGIC: "smb2",
	unix.V9FS_MAGIC:       "9p",
	0x0bd00bd0:            "lustre", // these are not part of the kernel
	0x19830326:            "beegfs",
	0x47504653:            "gpfs",
}

// network returns the name of the network file system of a path, or "".
func network(path string) (string, error) {
	var stat unix.Statfs_t
	err := unix.EINTR
	for err == unix.EINTR {
		err, _ = unix.Statfs(path, &stat).(unix.Errno)
	}
	if err != 0 {
		return "", &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	return networks[uint32(stat.Type)], nil
}
