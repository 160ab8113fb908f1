package mapping

import (
	"os"
	"strconv"
	"strings"
)

// mostMaps returns vm.max_map_count, or the kernel's default if it cannot be read.
func mostMaps() int {
	const usual = 65530
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		return usual
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 2 {
		return usual
	}
	return n
}
