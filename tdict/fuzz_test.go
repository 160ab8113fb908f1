package tdict_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sentinels are the reasons that an operation on keys may give.
var sentinels = []error{
	tdict.ErrMissing, tdict.ErrExists, tdict.ErrNotDict, tdict.ErrLocked, tdict.ErrCycle, tdict.ErrKind, nestedkey.ErrKey, shapeops.ErrShape,
}

func classified(err error) bool {
	for _, is := range sentinels {
		if errors.Is(err, is) {
			return true
		}
	}
	return err == nil
}

// FuzzKeys does what a script says to a dictionary, under keys that are any text. Whatever they
// are, nothing panics, each error is a known one and has changed nothing, what was done can be
// seen, and every key that the dictionary lists is well-formed and leads to its value.
func FuzzKeys(f *testing.F) {
	f.Add("a", "a/b", "b", []byte{0, 9, 18, 3, 13})
	f.Add("a/b/c", "a/d", "a/b", []byte{0, 1, 12, 24, 7, 36})
	f.Add("", "/", "//", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 30, 31, 50})
	f.Add("~", "~0/~1", "x\xff", []byte{0, 1, 2, 9, 10, 20, 21})
	f.Fuzz(func(t *testing.T, a, b, c string, script []byte) {
		if len(script) > 40 || strings.Count(a+b+c, "/") > 40 {
			return
		}
		texts, td := [3]nestedkey.Key{nestedkey.Key(a), nestedkey.Key(b), nestedkey.Key(c)}, tdict.New(2)
		for _, code := range script {
			key, to := texts[code%3], texts[code/3%3]
			before := state(t, td)
			err := fuzzed(t, td, int(code/9), key, to)
			require.True(t, classified(err), "%v", err)
			if err != nil {
				require.Equal(t, before, state(t, td))
			}
			for _, key := range keys(td) {
				require.NoError(t, key.Check())
				require.True(t, td.Has(key))
			}
			consistent(t, td)
			require.NotEmpty(t, td.String())
		}
	})
}

// fuzzed does operation op to td and, if there is no error, checks what it has done.
func fuzzed(t *testing.T, td *tdict.TensorDict, op int, key, to nestedkey.Key) (err error) {
	existed := td.Has(key)
	op %= 7
	switch op {
	case 0, 1:
		var v tdict.Value = count(2)
		if op == 1 {
			v = tdict.New(2)
		}
		if err = td.Set(key, v); err == nil {
			require.Same(t, v, tensor.Must(td.Get(key)))
		}
	case 2:
		if err = td.Delete(key); err == nil {
			require.True(t, existed && !td.Has(key))
		}
	case 3, 4:
		v, _ := td.Get(key)
		rename := td.Rename
		if op == 4 {
			rename = td.RenameOver
		}
		if err = rename(key, to); err == nil {
			require.Same(t, v, tensor.Must(td.Get(to)))
			require.True(t, key == to || !td.Has(key) || key.HasPrefix(to))
		}
	case 5:
		var d *tdict.TensorDict
		if d, err = td.Dict(key); err == nil {
			err = d.Set(to, td) // a cycle, whatever the key
			require.Error(t, err)
		}
	case 6:
		td.Lock()
		require.Error(t, td.Set(key, count(2)))
		require.NoError(t, td.Unlock())
	}
	return err
}
