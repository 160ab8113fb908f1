// Package shelf keeps the datasets that the pages show: it opens each when somebody looks at it,
// follows its commits and replacements, and closes it when nobody has looked for a minute.
//
//	s := shelf.New(sources, shelf.Options{Idle: time.Minute, Interval: time.Second})
//	v, err := s.Set("visits").Acquire(ctx, "") // waits until the dataset is open
//	defer v.Release()
//	node, ok := v.Index.Find("labs/chol")
//
// A page reads a [Version]: the dataset after one commit or replacement, with an [Index] of its
// entries. It stays open until its last Release. Versions have names, which stand in addresses: all
// commits to a dataset have one name, and a replacement has a new name. The version before the last
// replacement stays open as long as somebody looks at it.
//
// All types are safe for concurrent use.
package shelf
