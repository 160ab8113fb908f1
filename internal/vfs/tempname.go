package vfs

import (
	"crypto/rand"
	"hash/crc32"
	"path/filepath"
	"strings"
)

const (
	tempPrefix  = ".saving-"
	tempRandom  = 6 // letters and digits after it
	tempCheck   = 2 // more, which follow from these
	tempLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// newTempName returns the name of a directory of MakeTemp.
func newTempName() string {
	random := rand.Text()[:tempRandom]
	return tempPrefix + random + checkOf(random)
}

// checkOf returns what follows from random letters, so that a name that MakeTemp gave can be told
// from one that a user gave as long as the directory has no mark.
func checkOf(random string) string {
	sum := crc32.ChecksumIEEE([]byte(random))
	return string([]byte{tempLetters[sum%32], tempLetters[sum/32%32]})
}

// tempName reports whether a name is like those of MakeTemp.
func tempName(name string) bool {
	random, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(random) == tempRandom+tempCheck && strings.Trim(random, tempLetters) == ""
}

// given reports whether MakeTemp gave a directory its name, as far as that tells, for which
// tempName is true.
func given(dir string) bool {
	random := strings.TrimPrefix(filepath.Base(dir), tempPrefix)
	return checkOf(random[:tempRandom]) == random[tempRandom:]
}

// Reserved reports whether a name is like those that [MakeTemp] and [AsidePath] give, so that what
// has it may be removed.
func Reserved(name string) bool { return tempName(name) || strings.HasPrefix(name, asidePrefix) }

// Ours reports whether [MakeTemp] or [AsidePath] made the directory at path.
func Ours(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, asidePrefix) || tempName(name) && marked(path)
}
