package host

import (
	"os"
	"strconv"
	"strings"
)

// mountBelow looks for a mount point in the list of the kernel.
func mountBelow(dir string) (string, error) {
	list, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	return parseMounts(string(list), dir), nil
}

// parseMounts returns the first mount point of a list that is dir or below it, or "".
func parseMounts(list, dir string) string {
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		at := unescaped(fields[4])
		if at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/") {
			return at
		}
	}
	return ""
}

// unescaped replaces the octal escapes of the kernel, such as \040 for a space.
func unescaped(path string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(path, `\`)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if n, err := strconv.ParseUint(after[:min(3, len(after))], 8, 8); err == nil && len(after) >= 3 {
			b.WriteByte(byte(n))
			path = after[3:]
		} else {
			b.WriteByte('\\')
			path = after
		}
	}
}
