package samplecache

// Options say how a process uses a cache. The zero value is the default.
type Options struct {
	// Verify says when the checksums of samples are compared.
	Verify Verify
	// Await makes Open wait, until its context ends, for a cache that does not exist yet, and for
	// servers that do not answer yet. So generators and training jobs may start in any order.
	Await bool
	// OnError, if not nil, is called with errors that no call returns, for instance if a full
	// generation cannot be published because the disk is full; the engine tries again. Calls come
	// from one goroutine at a time, and must not close the cache.
	OnError func(err error)
}

// A Verify says when the checksums of samples are compared.
type Verify uint8

const (
	// First compares them when the process reads a row for the first time.
	First Verify = iota
	// Always compares them each time a row is read.
	Always
	// Never does not compare them.
	Never
)
