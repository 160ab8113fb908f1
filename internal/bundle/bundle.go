// Package bundle makes dictionaries of named values, as one file holds them.
//
//	key, err := bundle.Key("obs.pos", ".") // "obs/pos"
//	td, err := bundle.Dict([]bundle.Entry{{key, pos}}, nil, 0)
//
// The packages that open such files have the same Options: Keys are for [Select], Separator is for
// [Key], Batch and BatchDims are for [Dict].
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

// Key returns the key of a name in a file, whose parts have separator between them; without a
// separator it is one part. It returns nestedkey.ErrKey if the name is not UTF-8, and
// tdict.ErrDepth for more parts than dictionaries can have.
func Key(name, separator string) (nestedkey.Key, error) {
	if separator == "" {
		key := nestedkey.Of(name)
		return key, key.Check()
	}
	if n := strings.Count(name, separator); n > tdict.MaxDepth {
		return "", fmt.Errorf("%w: got a name of %d parts", tdict.ErrDepth, n+1)
	}
	key := nestedkey.Key(name)
	if separator != "/" || strings.Contains(name, "~") { // otherwise a name is the key's own text
		parts := strings.Split(name, separator)
		key = nestedkey.Of(parts[0], parts[1:]...)
	}
	return key, key.Check()
}

// Select returns the positions in keys of those that are wanted, in the order of wanted; nil wants
// all. A wanted key stands for those below it too. Select returns a tdict.KeyError with
// tdict.ErrMissing for a wanted key that keys lack, and tdict.ErrExists for one that is wanted
// twice, or below another.
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

// missing returns the tdict.ErrMissing of a dictionary of keys, which says what it has instead.
func missing(keys []nestedkey.Key, key nestedkey.Key) error {
	td, leaf := tdict.New(), tensor.Vector[bool]()
	for _, k := range keys {
		_ = td.Set(k, leaf) // what is wrong with keys is an error later
	}
	_, err := td.Get(key)
	if e, ok := errors.AsType[*tdict.KeyError](err); ok && errors.Is(err, tdict.ErrMissing) {
		return e.Err
	}
	return fmt.Errorf("%w: a tensor is above it", tdict.ErrMissing)
}

// find appends i to the positions found for key or for one above it.
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

// WhyLocked is the reason that errors give to a caller who changes the structure of a dictionary.
const WhyLocked = "its values lie in a mapped file; change a Copy"

// Dict returns a locked dictionary of entries, in their order. Its batch shape is batch, or if that
// is nil the longest shape with which the shapes of all tensors begin: of at most dims dims, unless
// dims is 0, and without dims if there are no tensors or dims is negative. Values are shared.
//
// Dict returns a tdict.KeyError: tdict.ErrExists if two entries have one key, or one has a key
// below that of another, shapeops.ErrShape for a value that does not begin with batch, and
// otherwise what tdict's Set returns. A batch shape that is none is shapeops.ErrShape.
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

// set adds an entry, which replaces nothing.
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

// Common returns the longest shape with which the shapes of all tensors begin, of at most dims dims
// unless dims is 0; nil if there are no tensors.
func Common(entries []Entry, dims int) shapeops.Shape {
	var batch shapeops.Shape
	for _, e := range entries {
		t, ok := e.Value.(*tensor.Tensor)
		switch {
		case !ok || t == nil:
		case batch == nil:
			batch = t.Shape().Clone() // not nil
		default:
			batch = batch[:alike(batch, t.Shape())]
		}
	}
	if dims != 0 {
		batch = batch[:min(len(batch), max(dims, 0))]
	}
	return batch
}

// alike returns how many dims a and b have in common before the first that differs.
func alike(a, b shapeops.Shape) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
