package memmap

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tdict"
)

// TestCloseReturnsWhatOnErrorDidNotGet: without OnError, an error of closing a replaced dictionary
// stays until Close returns it.
func TestCloseReturnsWhatOnErrorDidNotGet(t *testing.T) {
	failure := errors.New("closing failed")
	for _, handled := range []bool{false, true} {
		dir := t.TempDir() + "/a"
		require.NoError(t, Save(dir, tdict.New(1)))
		got := error(nil)
		opt := LiveOptions{}
		if handled {
			opt.OnError = func(err error) { got = err }
		}
		l, err := OpenLive(dir, opt)
		require.NoError(t, err)
		l.note(failure)
		l.notify(nil)
		err = l.Close() // after the watcher
		if handled {
			require.NoError(t, err)
			require.ErrorIs(t, got, failure)
		} else {
			require.ErrorIs(t, err, failure)
		}
	}
}
