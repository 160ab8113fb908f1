package samplecache

// Options say how a process takes part in a cache. The zero value is the default.
type Options struct {
	// Verify says when the checksums of samples are compared as they are read.
	Verify Verify
	// OnError, if not nil, is called with what goes wrong where nobody waits for it, as when a
	// generation that is full cannot be published for want of disk space; it is tried again. Calls
	// come from one goroutine at a time, and must not close the cache.
	OnError func(err error)
}

// A Verify says when the checksums of samples are compared.
type Verify uint8

const (
	// First compares them when the process reads a row for the first time.
	First Verify = iota
	// Always compares them each time a row is read.
	Always
	// Never compares none.
	Never
)
