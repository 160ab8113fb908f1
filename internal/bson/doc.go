// Package bson reads and writes the documents of MongoDB's wire protocol, as far as package mongowire
// needs them.
//
//	doc, err := bson.Parse(message)            // checks every byte
//	id, ok := doc.Get("id").Int()
//	b := bson.Append(nil, bson.D{{"ok", 1.0}})
//
// [Parse] checks a document with all documents in it: lengths, ends, depth, names and values. After
// that nothing can fail: what is missing, or of another kind, is "not ok". Values share the memory
// of the message.
//
// [Append] writes a [D], whose values are Go's. Only values that mongowire writes are there.
//
// Everything here is safe for concurrent use.
package bson
