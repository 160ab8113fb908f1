// Package ledger is the state of a cache as a function of a log of events.
//
//	l := ledger.New(charter)
//	step, err := l.Apply(seq, at, data) // the message with sequence number seq of the log
//
// Every process applies the same messages in the same order, and so has the same Ledger: which
// samples are committed, who has reserved, claimed and held what, and what was published. Whoever
// wants something appends an [Event], and finds the [Outcome] when its own Ledger has come to it.
// Nothing here waits, reads a clock, or knows of a server: the time is the one that the log gives
// to a message.
//
// # Things
//
// What a session holds is a [Thing] with a number: the session itself, a claim to a name, the row
// of a sample that is being put, a hold on a generation, a seat in a group, and a pass in an epoch.
// A thing ends by an event, or with its session, or with its process.
//
// # Generations
//
// A generation is the first Samples commits after the one before. The commit that completes it
// publishes it, unless groups have passes to make: then the event that ends the last of these does.
package ledger
