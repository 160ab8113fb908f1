// Package natscache keeps a circular cache of samples on NATS servers with JetStream, for the
// processes of several machines. It is an engine of package samplecache, in a separate module, so
// that programs that do not use it need none of its modules.
//
//	err := natscache.Create(ctx, "nats://host:4222", "brains", schema, natscache.Config{
//		Config: samplecache.Config{Samples: 1000}, Replicas: 3})
//	e := natscache.Engine{URL: "nats://host:4222", Name: "brains"}
//	c, err := samplecache.Open(ctx, e, samplecache.Options{})
//	defer c.Close()
//	g, err := c.Wait(ctx, 0) // the first generation that is published
//	defer g.Close()
//
// [Serve] is a server in this process; nats-server is the same as a program. Samples are sent to
// the servers by Commit, and read from them by Fetch, so a generation has no views. [Mirror] copies
// generations to a directory of a machine: sessions whose [Engine.Mirror] names it read them
// mapped, at the speed of memory.
//
// # What is promised
//
// What package samplecache promises, and beyond that:
//
//   - On file storage, acknowledged samples survive the kill of all processes and of all servers.
//     With three Replicas they survive the loss of one machine, and the cache goes on without it.
//   - They survive a loss of power of all servers only with Durable, since JetStream syncs its
//     files every two minutes. Only a server that [Serve] has started with Durable, in the process
//     that calls [Create], is known to sync each write; on others Create refuses Durable.
//   - On memory storage a cache ends with its servers. Generations that are held are then
//     [engine.ErrGenerationGone].
//
// # Processes that die or are silent
//
// Each process says four times in a Lease that it is there. If the others do not hear it for a
// Lease, its names, room, seats and generations are free. Until then its names are
// [engine.ErrProducerBusy], and a full group is [engine.ErrGroup], also for a process that takes
// its place. A process that was only stopped or disconnected, and comes back later, joins anew: its
// next calls take names, room, seats and generations again if they are free, and otherwise return
// the errors that say so. A Commit whose room was lost takes other room, and stores the sample
// once. No clock of a client counts.
//
// While servers do not answer, calls wait until their contexts end, and then return
// [engine.ErrUnavailable] with the last error. They go on when a server is back. Calls without a
// context, such as Stats, wait for ten seconds. Create returns ErrUnavailable at once if it finds
// no server, as do Open and Mirror in a process that is not connected yet.
//
// # Room
//
// Create asks the servers for the room of 2 + Retain + MaxHeld generations. When a generation
// retires, its samples are removed. If the servers have no more room, Commit returns [ErrNoRoom].
//
// # Implementation
//
//  1. Whatever changes is an event in one log (internal/ledger/event.go), a stream. Every process
//     reads the log and applies it (internal/ledger): a generation is the first Samples commits
//     after the one before. Nobody publishes it, and nobody can fail to.
//  2. A process (process.go) has one connection (connection.go, ask.go), one ledger and one message
//     under way for all its sessions. It appends events and learns what came of them (request.go)
//     when its ledger has come to them (life.go). follow.go reads the log, sync.go asks how long it
//     is.
//  3. A life (life.go) is one membership of a process. presence.go finds processes that are silent.
//     What a session has is a part (part.go), which is made again in the next life.
//  4. A sample is chunks (layout.go) in a second stream (chunks.go). A commit says where they are;
//     chunks that no commit names are never read. clean.go removes them.
//  5. Now and then the process whose event was due stores a snapshot of the ledger (snapshot.go)
//     and removes the events before it. The message "head" says where the newest one is; a cache
//     exists once it has a head.
//  6. mirror.go fills a mirror, and replica.go reads one. Both are sessions of package dircache.
//  7. names.go has the names of the streams and subjects.
package natscache
