package host

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockers reads /proc/locks, which a container may not have.
func lockers(files []fs.FileInfo) [][]int {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil
	}
	defer f.Close()
	var ids []string
	for _, info := range files {
		id := ""
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			id = fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino)
		}
		ids = append(ids, id)
	}
	return parseLocks(f, ids)
}

// parseLocks returns the pids that have a flock of each file, from a text such as
//
//	1: FLOCK  ADVISORY  READ 1234 08:01:131 0 EOF
//	1: -> FLOCK  ADVISORY  WRITE 1235 08:01:131 0 EOF
//
// where the second line is of a process that waits. A pid is 0 or less if it is in another pid
// namespace. An id is the device and the number of a file, as in the text. Lines of another form
// are ignored.
func parseLocks(text io.Reader, ids []string) [][]int {
	pids := make([][]int, len(ids))
	for lines := bufio.NewScanner(text); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[1] != "FLOCK" {
			continue
		}
		i := slices.Index(ids, fields[5])
		if pid, err := strconv.Atoi(fields[4]); i >= 0 && err == nil && pid > 0 && !slices.Contains(pids[i], pid) {
			pids[i] = append(pids[i], pid)
		}
	}
	return pids
}
