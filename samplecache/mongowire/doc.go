// Package mongowire serves a circular cache of samples to the Python programs of wirehead, and to
// other clients that use the same commands of MongoDB's wire protocol.
//
//	engine := dircache.Engine{Dir: "/dev/shm/brains"}
//	c, err := samplecache.Open(ctx, engine, samplecache.Options{})
//	s, err := mongowire.New(c, mongowire.Options{Database: "unit"})
//	l, err := net.Listen("tcp", "127.0.0.1:27017")
//	err = s.Serve(l)
//
// Generators and readers of wirehead connect to a [Server] as they connected to MongoDB, without a
// change. A Go program may open the same cache at the same time. The command "tdict cache serve"
// does the above with wirehead's config.yaml.
//
// # The collections
//
// No documents are stored. Wirehead's collections are views of the cache:
//
//	write.bin  takes the documents of a sample; find returns none
//	read.bin   the generation published last: the chunks of the files that torch.save would write
//	counter    {_id: "started"} and {_id: "completed"}
//	status     a document for each publication that the server saw, the last 1,000: a [Swap], and
//	           the numbers of a [Snapshot], which [NewSnapshot] makes of a cache without a server
//	temp.bin   is empty
//
// # Putting a sample
//
// A client draws a ticket: findAndModify of counter {_id: "started"} with $inc returns a number
// below Samples that no other client has. A ticket reserves room for a sample in the cache, so the
// call waits while there is no room. The client then inserts the documents of the sample into
// write.bin,
//
//	{id: 3, kind: "data", chunk_id: 0, chunk: <bytes>}
//
// with the number as id, the key of the leaf as kind, and consecutive parts of the file that
// torch.save wrote as chunks. The last document has the field telomere. The server then reads the
// files, compares them with the schema, copies them to the cache, commits the sample, and replies.
// If the sample does not match the schema, the reply has a write error, and the ticket is free.
//
// A ticket belongs to a session of the driver, its lsid, or to the connection if there is none. It
// is free again when the last connection of that session ends, or when no document has come for
// Lease. The lease does not end while the client sends a message, or waits for memory for one.
// Using a ticket of another client is a write error. A program that puts samples from several
// threads needs a session, or a client, for each thread.
//
// If there is no cache yet, at most one ticket is out, and the first complete sample makes the
// cache, with its keys, dtypes and shapes.
//
// # Reading
//
// find in read.bin takes conditions on the fields, a projection, a limit, and a sort by id or _id.
// A reply has at most 1,000 documents and 16 MiB of them, or a single document.
//
// A cursor is the query, the generation and a position, and holds nothing: a getMore opens the
// generation again. So one find never mixes two generations, and a cursor that is left open holds
// up nobody. If the generation is not kept any more, getMore returns CursorNotFound: find again. By
// default that is so once two more generations were published. Cursors of more than one reply are
// for readers that go on soon; or set Retain.
//
// The server holds the generation published last, since opening its files again for each find takes
// as long as sending a small sample. A client that takes so long for a reply
// that producers might wait for its generation is disconnected.
//
// # Commands without effect, and refused ones
//
// Clients never publish: the cache does, when a generation is full. Wirehead's commands for
// swapping are refused: renameCollection, delete, findAndModify of the swap_lock, and drop of
// read.bin or status. Its commands at the start of a program succeed and change nothing: drop of
// write.bin, temp.bin and counter, create and createIndexes of these, and update with $set of
// {_id: "started"} and {_id: "completed"} in counter. dropDatabase is refused unless AllowDrop is
// set; then it succeeds and changes nothing. Unknown operators and options are errors.
//
// # Limits
//
// Inflight bytes of memory are for messages, replies and unfinished samples. Half is for the
// documents of tickets, and bounds the number of tickets, which is at least one and at most
// Samples. Three eighths are for messages, a sixteenth for messages of up to 1 MiB, and a sixteenth
// for replies. A message takes at most four times the memory of what has come of it. Room for one
// message of the maximum length is kept, so that one can always be completed; one address gets at
// most half of the rest. Messages of up to 16 KiB and the first 16 KiB of a reply are not counted.
//
// If others wait for memory, a client is disconnected that sends a message, or takes a reply, at
// less than 280 kB/s. At any time it is disconnected if it sends less than 1 MiB of a message that
// it has begun, or takes less than 1 MiB of a reply, in 30 seconds, and if the whole takes longer
// than 30 seconds and 30 more for each 8 MiB. It may wait for a ticket without a deadline. TCP
// keepalive notices after 30 seconds that a client has vanished without closing its connection.
//
// There may be 4,096 connections that have logged in, and as many that have not; without a password
// the first command counts as the login. A connection has 30 seconds to log in. If there are too
// many, one of the address with the most of them ends: of those without login the oldest; of the
// others the one that has sent no command for the longest time, but rather one without a ticket
// that is not being answered. Drivers connect again when they need it. A wrong password is
// refused after a second.
//
// A command other than insert has at most 2 MiB. A command has at most 64 fields, a filter 64
// conditions and 1 MiB, a projection 64 fields of 64 bytes, killCursors 10,000 cursors, the name of
// a collection 255 bytes, a kind 1 KiB. A cursor is the connection's that used it last, and ends
// with it. A connection has at most 64 cursors: one more ends the one that was used longest ago.
// Cursors of all connections have at most 16 MiB of filters and projections; then cursors of the
// address with the most of them end. There is no TLS.
//
// A fault of the server that panics ends the connection on which it happened; OnError gets the
// stack.
//
// # Implementation
//
//  1. guests.go keeps the connections. conn.go reads messages (frame.go) and writes replies
//     (rope.go). A reply lends the elements of tensors until it is written.
//  2. command.go lists the commands, with the options of each.
//  3. tickets.go keeps the tickets that are out; insert.go gathers their documents (gather.go) and
//     commits a sample (sample.go).
//  4. find.go and cursor.go filter (match.go) the documents of a view (views.go, read.go), and cuts
//     them into batches (cursor.go).
//  5. memory.go shares the memory of messages and of replies, budget.go the tickets and theirs.
//  6. scram.go is the login.
package mongowire
