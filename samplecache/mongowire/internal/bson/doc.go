// Package bson reads and writes documents of MongoDB's wire protocol, as far as package mongowire
// needs it.
//
//	doc, err := bson.Parse(message)            // checks every byte
//	id, ok := doc.Get("id").Int()
//	b := bson.Append(nil, bson.D{{"ok", 1.0}})
//
// [Parse] checks a document and all documents inside it: lengths, ends, depth, names and values. No
// later call can fail: a field that is missing, or of another kind, is "not ok". Values share the
// memory of the message.
//
// [Append] writes a [D], which holds values of Go. Only the types that mongowire writes are
// supported.
//
// Everything here is safe for concurrent use.
package bson
