// Package bundle makes dictionaries of the named values in a file.
//
//	key, err := bundle.Key("obs.pos", ".") // "obs/pos"
//	td, err := bundle.Dict([]bundle.Entry{{key, pos}}, nil, 0)
//
// The packages that open such files have the same Options: Keys for [Select], Separator for [Key],
// Batch and BatchDims for [Dict].
package bundle

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An Entry is a value and its key.
type Entry struct {
	Key   nestedkey.Key
	Value tdict.Value
}

// Key returns the key for a name in a file. separator separates the parts of the name; without one
// the key has one part. Key returns nestedkey.ErrKey if the name is not UTF-8, and tdict.ErrDepth
// for more parts than dictionaries can have.
func Key(name, separator string) (nestedkey.Key, error) {
	if separator == "" {
		key := nestedkey.Of(name)
		return key, key.Check()
	}
	if n := strings.Count(name, separator); n > tdict.MaxDepth {
		return "", fmt.Errorf("%w: got a name of %d parts", tdict.ErrDepth, n+1)
	}
	key := nestedkey.Key(name)
	if separator != "/" || strings.Contains(name, "~") { // otherwise name is the text of the key
		parts := strings.Split(name, separator)
		key = nestedkey.Of(parts[0], parts[1:]...)
	}
	return key, key.Check()
}

// Select returns the indexes of the wanted keys in keys, in the order of wanted; all of them if
// wanted is nil. A wanted key selects the keys below it too. Select returns a tdict.KeyError with
// tdict.ErrMissing for a wanted key that keys lack, and tdict.ErrExists for one that is wanted
// twice, or that is below another.
func Select(keys, wanted []nestedkey.Key) ([]int, error) {
	picked := make([]int, 0, len(keys))
	if wanted == nil {
		for i := range keys {
			picked = append(picked, i)
		}
		return picked, nil
	}
	found := make(map[nestedkey.Key][]int, len(wanted))
	for _, key := range wanted {
		if _, twice := found[key]; twice {
			return nil, failed("select", key, "%w: wanted twice", tdict.ErrExists)
		}
		found[key] = nil
	}
	for i, key := range keys {
		if err := find(found, i, key); err != nil {
			return nil, err
		}
	}
	for _, key := range wanted {
		if found[key] == nil {
			return nil, failed("select", key, "%w", missing(keys, key))
		}
		picked = append(picked, found[key]...)
	}
	return picked, nil
}

// missing returns the tdict.ErrMissing that a dictionary with the given keys returns, which lists
// some of them.
func missing(keys []nestedkey.Key, key nestedkey.Key) error {
	td, leaf := tdict.New(), tensor.Vector[bool]()
	for _, k := range keys {
		_ = td.Set(k, leaf) // Dict returns the error for a bad key
	}
	_, err := td.Get(key)
	if e, ok := errors.AsType[*tdict.KeyError](err); ok && errors.Is(err, tdict.ErrMissing) {
		return e.Err
	}
	return fmt.Errorf("%w: a tensor is above it", tdict.ErrMissing)
}

// find appends i to the indexes found for key, or for a wanted key above it.
func find(found map[nestedkey.Key][]int, i int, key nestedkey.Key) error {
	var under *nestedkey.Key
	for k, ok := key, true; ok; k, ok = k.Parent() {
		if _, wanted := found[k]; !wanted {
			continue
		}
		if under != nil {
			return failed("select", *under, "%w: %q is wanted too", tdict.ErrExists, string(k))
		}
		under = &k
		found[k] = append(found[k], i)
	}
	return nil
}

// WhyLocked is the reason in the error for changes of the structure of an opened dictionary.
const WhyLocked = "its values lie in a mapped file; change a Copy"

// Dict returns a locked dictionary with the given entries, in their order. Its batch shape is
// batch. If batch is nil, it is the longest shape with which the shapes of all tensors begin, with
// at most dims dims unless dims is 0. It has no dims if there are no tensors or dims is negative.
// Values are shared.
//
// Dict returns shapeops.ErrShape for an invalid batch shape, and otherwise a tdict.KeyError:
// tdict.ErrExists if two entries have one key, or the key of one is below the key of another,
// shapeops.ErrShape for a value whose shape does not begin with batch, and the errors of tdict's
// Set.
func Dict(entries []Entry, batch shapeops.Shape, dims int) (*tdict.TensorDict, error) {
	if batch == nil {
		batch = Common(entries, dims)
	}
	if err := batch.Check(); err != nil {
		return nil, err
	}
	td := tdict.New(batch...)
	for _, e := range entries {
		if err := set(td, e); err != nil {
			return nil, err
		}
	}
	td.Lock(WhyLocked)
	return td, nil
}

// set adds an entry. It replaces none.
func set(td *tdict.TensorDict, e Entry) error {
	if td.Has(e.Key) {
		return failed("set", e.Key, "%w: want one entry of that key, and none below it", tdict.ErrExists)
	}
	err := td.Set(e.Key, e.Value)
	if errors.Is(err, tdict.ErrNotDict) {
		return failed("set", e.Key, "%w: want no entry above it", tdict.ErrExists)
	}
	return err
}

func failed(op string, key nestedkey.Key, format string, args ...any) error {
	return &tdict.KeyError{Op: op, Key: key, Err: fmt.Errorf(format, args...)}
}

// Common returns the longest shape with which the shapes of all tensors begin, with at most dims
// dims unless dims is 0; nil if there are no tensors.
func Common(entries []Entry, dims int) shapeops.Shape {
	var batch shapeops.Shape
	for _, e := range entries {
		t, ok := e.Value.(*tensor.Tensor)
		switch {
		case !ok || t == nil:
		case batch == nil:
			batch = t.Shape().Clone() // not nil
		default:
			batch = batch[:commonDims(batch, t.Shape())]
		}
	}
	if dims != 0 {
		batch = batch[:min(len(batch), max(dims, 0))]
	}
	return batch
}

// commonDims returns the number of leading dims that a and b have in common.
func commonDims(a, b shapeops.Shape) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
