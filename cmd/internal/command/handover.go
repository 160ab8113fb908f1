package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// fullName is the name of the binary that has the drivers of all forms.
const fullName = "tdict-arrow"

// handedOver is the variable that counts how often a process, or a process that started it, has
// handed over. A program called tdict-arrow that lacks a driver, or starts tdict, ends with it.
// Programs that tdict-arrow starts may hand over again.
const handedOver, mostHandedOver = "TDICT_HANDED_OVER", 4

// handOver runs tdict-arrow in place of this process, with the same arguments, streams and
// environment. err says which form this binary lacks. handOver returns it if there is no
// tdict-arrow beside this binary or on the PATH, and after some processes that have handed over.
func handOver(err error, args []string) error {
	self, _ := os.Executable()
	path, missing := exec.LookPath(filepath.Join(filepath.Dir(self), fullName))
	if missing != nil {
		path, missing = exec.LookPath(fullName)
	}
	before, _ := strconv.ParseUint(os.Getenv(handedOver), 10, 8)
	if missing != nil || before >= mostHandedOver {
		return err
	}
	if err := os.Setenv(handedOver, strconv.FormatUint(before+1, 10)); err != nil {
		return err
	}
	return become(path, append([]string{path}, args...), os.Environ())
}
