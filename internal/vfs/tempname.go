package vfs

import (
	"crypto/rand"
	"hash/crc32"
	"path/filepath"
	"strings"
)

const (
	tempPrefix  = ".saving-"
	tempRandom  = 6 // number of random letters and digits after it
	tempCheck   = 2 // number of check letters, computed from these
	tempLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// newTempName returns a new name for a directory of MakeTemp.
func newTempName() string {
	random := rand.Text()[:tempRandom]
	return tempPrefix + random + checkOf(random)
}

// checkOf returns check letters for random ones. They distinguish names of MakeTemp from names that
// a user chose, while a directory has no mark.
func checkOf(random string) string {
	sum := crc32.ChecksumIEEE([]byte(random))
	return string([]byte{tempLetters[sum%32], tempLetters[sum/32%32]})
}

// Reserved reports whether a name has the form of names from [MakeTemp], so that a directory of
// that name may be removed.
func Reserved(name string) bool {
	random, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(random) == tempRandom+tempCheck && strings.Trim(random, tempLetters) == ""
}

// given reports whether the check letters of a name, for which Reserved is true, are right.
func given(dir string) bool {
	random := strings.TrimPrefix(filepath.Base(dir), tempPrefix)
	return checkOf(random[:tempRandom]) == random[tempRandom:]
}

// Ours reports whether [MakeTemp] made the directory at path.
func Ours(path string) bool { return Reserved(filepath.Base(path)) && marked(path) }
