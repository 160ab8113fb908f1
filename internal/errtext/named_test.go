package errtext_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/errtext"
)

// A deferred Name names the error that a function returns, and a KeyError by its operation.
func TestName(t *testing.T) {
	fails := func(err error) (_ int, out error) {
		defer errtext.Name("index", &out)
		return 0, err
	}
	_, err := fails(nil)
	require.NoError(t, err)
	_, err = fails(fs.ErrExist)
	require.EqualError(t, err, "index: file already exists")
	require.ErrorIs(t, err, fs.ErrExist)
	_, err = fails(&errtext.KeyError{Op: "densify", Key: "a", Err: fs.ErrExist})
	require.EqualError(t, err, `index "a": file already exists`)
}
