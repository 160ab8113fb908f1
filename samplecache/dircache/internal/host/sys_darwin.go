package host

import (
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// machineIDs returns the kernel's id of the machine.
func machineIDs() ([]string, error) { return sysctl("kern.uuid") }

// bootIDs returns the kernel's id of this boot.
func bootIDs() ([]string, error) { return sysctl("kern.bootsessionuuid") }

// sysctl returns the value of a name, or nothing if the kernel does not have it.
func sysctl(name string) ([]string, error) {
	text, err := unix.Sysctl(name)
	if err == unix.ENOENT {
		return nil, nil
	}
	return []string{text}, os.NewSyscallError("sysctl "+name, err)
}

// clock reads the machine's clock.
func clock() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &now); err != nil {
		panic("host: impossible: no clock: " + err.Error())
	}
	return time.Duration(now.Nano())
}

// networks are the names of the network file systems.
var networks = []string{"nfs", "smbfs", "afpfs", "webdav"}

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
	name := unix.ByteSliceToString(stat.Fstypename[:])
	if !slices.Contains(networks, name) {
		return "", nil
	}
	return name, nil
}
