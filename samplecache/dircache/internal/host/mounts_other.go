//go:build !linux

package host

// mountBelow returns "": mount points are not known.
func mountBelow(string) (string, error) { return "", nil }
