// Package engine defines engines, which store the caches of package samplecache. Only the author of
// an engine needs it.
//
//	session, err := e.Join(ctx, opt)          // e: an Engine
//	claim, err := session.Claim(ctx, "gen-7") // one producer
//	row, err := claim.Reserve(ctx, 0)         // room for one sample
//	lender, offset := row.Place(0)            // memory of its first leaf
//	err = row.Commit(ctx, sums)
//
// An [Engine] joins a cache and returns a [Session]. A session lends memory: a [Row] lends the
// memory of a sample that is being written, and a [Rows] lends the samples of a generation. It also
// keeps records that say which samples are committed, and counts for groups. Package samplecache
// does the rest for all engines: dictionaries, checksums, and waiting.
//
// # Waiting
//
// A method with a context may wait for the engine's servers, until the context ends. It never waits
// for other members: it returns [ErrBlocked] if an operation is not possible yet, for instance
// because another member has a lock. [Session.Changed] says when to try again. [ErrUnavailable]
// says that the servers do not answer.
//
// # Members that die
//
// If a process ends, its sessions end too, at most [About.Lease] later. Then the slots, names and
// generations of the session are free, and it has left its groups. Other members complete or undo
// the operations that it had begun.
//
// # Leaves
//
// Methods identify a leaf by its index in [About.Schema], in the order of its Leaves. A row of a
// leaf is the bytes of one sample.
//
// Package samplecachetest checks an engine. Packages dircache, memcache and natscache
// are engines.
package engine
