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

// An operation that calls itself, or one of its name on a leaf, is named once.
func TestNamedOnce(t *testing.T) {
	cast := errtext.Named("cast", fs.ErrExist)
	require.EqualError(t, errtext.Named("cast", cast), "cast: file already exists")
	require.EqualError(t, errtext.Named("index", cast), "index: cast: file already exists")
	of := &errtext.KeyError{Op: "apply", Key: "a", Err: cast}
	require.EqualError(t, errtext.Named("cast", of), `cast "a": file already exists`)
	require.EqualError(t, errtext.Named("index", of), `index "a": cast: file already exists`)
	require.ErrorIs(t, errtext.Named("cast", of), fs.ErrExist)
}
