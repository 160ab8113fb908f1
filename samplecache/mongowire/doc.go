// Package mongowire serves a circular cache of samples to the Python programs of wirehead, and to
// any other client that speaks MongoDB's wire protocol as they do.
//
//	c, err := samplecache.Open(ctx, dircache.Engine{Dir: "/dev/shm/brains"}, samplecache.Options{})
//	s, err := mongowire.New(c, mongowire.Options{Database: "unit"})
//	l, err := net.Listen("tcp", "127.0.0.1:27017")
//	err = s.Serve(l)
//
// Generators and readers that use wirehead connect to it as they connected to MongoDB, and need no
// change. A Go program opens the same cache beside them. The command "tdict cache serve" does the
// above with the config.yaml of wirehead.
//
// # The collections
//
// Nothing is stored as documents. The collections that wirehead has are views of the cache:
//
//	write.bin  takes the documents of a sample; find returns none
//	read.bin   the generation published last: the chunks of the files that torch.save would write
//	counter    {_id: "started"} and {_id: "completed"}
//	status     a document for each publication that the server saw, at most 1,000
//	temp.bin   is empty
//
// # Putting a sample
//
// A client draws a ticket: findAndModify of counter {_id: "started"} with $inc returns a number
// below Samples that no other client has. A ticket is room in the cache, so the call waits while
// there is none. The client then inserts the documents of the sample into write.bin,
//
//	{id: 3, kind: "data", chunk_id: 0, chunk: <bytes>}
//
// with the number as id, the key of the leaf as kind, and consecutive parts of the file that
// torch.save wrote as chunks. The last document has the field telomere. When it has come, the files
// are read, compared with the schema, copied to the cache and committed, and the reply says so. A
// sample that does not fit is a write error, and its ticket is free again.
//
// A ticket belongs to a session of the driver, its lsid, or to the connection if there is none. It
// is free again when the last connection of that session ends, or if no document comes for Lease.
// A ticket that is not the client's is a write error. A program that puts samples from several
// threads gives each its own session, or its own client.
//
// If there is no cache yet, one ticket is out at a time, and the first complete sample makes the
// cache, with its keys, dtypes and shapes.
//
// # Reading
//
// find in read.bin takes conditions on the fields, a projection, a limit, and a sort by id or _id.
// A cursor holds its generation until it is read to its end, its connection ends, or no getMore
// comes for 60 seconds. So one find never mixes two generations. Replies have at most 16 MiB, or
// one document.
//
// # What is not there
//
// Clients never publish: the cache does, when a generation is full. So the commands with which
// wirehead swaps are refused: renameCollection, delete, findAndModify of the swap_lock, and drop of
// read.bin or status. The commands with which it starts succeed, and change nothing: drop of
// write.bin, temp.bin and counter, create and createIndexes of these, and update with $set of
// {_id: "started"} and {_id: "completed"} in counter. dropDatabase is refused unless AllowDrop is
// set; then it succeeds, and changes nothing. Operators and options that are not known are errors.
//
// # Limits
//
// Messages and samples that are on their way take at most Inflight bytes: half of them for messages
// that are being read, half for the documents of tickets. So many tickets are out as there is room
// for their samples, at least one. A client that sends less than 1 MiB of a message, or takes less
// than 1 MiB of a reply, in 30 seconds is disconnected. There may be 4,096 connections. There is no
// TLS.
//
// # Implementation
//
//  1. conn.go reads messages (frame.go) and writes replies (rope.go). A reply lends the elements of
//     tensors until it is written.
//  2. command.go has the list of commands, with the options that each knows.
//  3. tickets.go has the tickets that are out; insert.go gathers their documents (gather.go) and
//     commits a sample (sample.go).
//  4. find.go makes documents of a view (views.go, read.go) pass through a filter (match.go), and
//     cuts them into batches (cursor.go).
//  5. budget.go shares the bytes of Inflight.
//  6. scram.go is the login.
package mongowire
