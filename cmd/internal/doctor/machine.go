package doctor

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A machine reads the state of a machine from /proc and /sys. Tests have one with other files.
type machine struct {
	root string                                    // where /proc and /sys are
	disk func(path string) (free int64, err error) // free room of a file system
	env  func(name string) string
}

// thisMachine is the machine that runs this process.
var thisMachine = machine{root: "/", disk: freeRoom, env: os.Getenv}

// maxText is the number of bytes of a file that are read.
const maxText = 16 << 20

// text returns the content of a file, or "" if it cannot be read.
func (m machine) text(path string) string {
	f, err := os.Open(filepath.Join(m.root, path))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return ""
	}
	return string(b)
}

// known reports whether the machine has the files of Linux.
func (m machine) known() bool { return m.text("proc/self/mountinfo") != "" }

// number returns the number in a file. ok is false if there is none, for instance for "max".
func (m machine) number(path string) (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(m.text(path)), 10, 64)
	return n, err == nil && n >= 0
}

// available returns how many bytes of memory are available.
func (m machine) available() (bytes int64, ok bool) {
	fields := strings.Fields(m.line("proc/meminfo", "MemAvailable:"))
	if len(fields) != 2 || fields[1] != "kB" {
		return 0, false
	}
	n, err := strconv.ParseInt(fields[0], 10, 53)
	return n << 10, err == nil && n >= 0
}

// limit returns a limit of processes as /proc/self/limits names it, such as "Max open files". ok is
// false if there is no limit.
func (m machine) limit(name string) (n int64, ok bool) {
	fields := strings.Fields(m.line("proc/self/limits", name))
	if len(fields) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	return n, err == nil && n >= 0
}

// line returns the rest of the first line of a file that begins with prefix.
func (m machine) line(path, prefix string) string {
	lines := bufio.NewScanner(strings.NewReader(m.text(path)))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			return rest
		}
	}
	return ""
}

// state returns the state of a process, such as 'T' for a stopped one, or 0 if there is no such
// process.
func (m machine) state(pid int) byte {
	text := m.text("proc/" + strconv.Itoa(pid) + "/stat")
	at := strings.LastIndexByte(text, ')') // the name of the program may have any character
	if at < 0 || at+2 >= len(text) {
		return 0
	}
	return text[at+2]
}

// link returns the target of a symbolic link, or "".
func (m machine) link(path string) string {
	to, err := os.Readlink(filepath.Join(m.root, path))
	if err != nil {
		return ""
	}
	return to
}
