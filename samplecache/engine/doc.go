// Package engine defines the engines of package samplecache: the places where caches are kept. Only
// an author of an engine needs it.
//
//	session, err := e.Join(ctx, opt)          // e: an Engine
//	claim, err := session.Claim(ctx, "gen-7") // one producer
//	row, err := claim.Reserve(ctx, 0)         // room for one sample
//	lender, offset := row.Place(0)            // memory of its first leaf
//	err = row.Commit(ctx, sums)
//
// An [Engine] joins a cache and returns a [Session]. Sessions hand out memory: a [Row] lends the
// room of a sample that is being written, a [Rows] the samples of a generation. They keep the
// records that say which samples are committed, and the counts of groups. Package samplecache does
// the rest for all engines: dictionaries, checksums, and waiting.
//
// # Waiting
//
// A method with a context may wait for the engine's own servers, until the context ends. It never
// waits for other members: it returns [ErrBlocked] if something cannot be done yet, also because
// another member has a lock. [Session.Changed] says when to try again. [ErrUnavailable] says that
// the servers do not answer.
//
// # Members that die
//
// A session ends with its process, at most [About.Lease] later: its places are free, it has let go
// of generations and names, and it has left its groups. Others complete or undo the operations that
// it had begun.
//
// # Leaves
//
// Methods identify a leaf by its index in [About.Schema], in the order of its Leaves. A row of a
// leaf is the bytes of one sample.
//
// Package samplecachetest checks an engine. Packages dircache and memcache are engines.
package engine
