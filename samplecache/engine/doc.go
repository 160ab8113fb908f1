// Package engine says what package samplecache asks of the place where a cache is kept.
//
// An [Engine] joins a cache and returns a [Session]. Sessions hand out memory: a [Row] lends the
// room of a sample that is being written, a [Rows] the samples of a generation. They keep the
// records that say which samples are committed, and the counts of groups. All else is samplecache's,
// alike for all engines: dictionaries, checksums, and waiting.
//
// # Waiting
//
// A method with a context may wait for the engine's own servers, until the context ends. It never
// waits for other members: what cannot be done yet, also because another member has a lock, is
// [ErrBlocked]. [Session.Changed] says when to try again. [ErrUnavailable] says that the servers do
// not answer.
//
// # Members that die
//
// What a session holds ends with its process, however that ends, at most [About.Lease] later: its
// places are free, generations and names are let go, and groups are left. What a session that was
// killed has begun is completed or undone by others.
//
// # Leaves
//
// A leaf is called by its index in [About.Schema], in the order of its Leaves. A row of a leaf is
// the bytes of one sample.
//
// Package samplecachetest checks an engine. Packages dircache and memcache are engines.
package engine
