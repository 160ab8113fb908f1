package natscache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

var (
	// ErrServerVersion says that a server is older than this package needs.
	ErrServerVersion = errors.New("the server is too old")
	// ErrVersion says that a cache was made or used by a newer version of this package.
	ErrVersion = ledger.ErrVersion
)

// errAnew says that the process is a new member of the cache: its names, room and seats are free.
var errAnew = fmt.Errorf("%w: the process was silent for longer than the lease, and has joined anew", engine.ErrUnavailable)

// An Error says which cache an error is about.
type Error struct {
	Op   string // "create", "open" or "mirror"
	URL  string // without user and password
	Name string
	Err  error
}

// Error returns the operation, the cache and the reason.
func (e *Error) Error() string { return fmt.Sprintf("%s %s/%s: %v", e.Op, e.URL, e.Name, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// explain returns an error of the servers as one of this package. An error that it does not know is
// [engine.ErrUnavailable].
func explain(err error) error {
	api, ok := errors.AsType[*jetstream.APIError](err)
	switch {
	case err == nil || errors.Is(err, engine.ErrUnavailable) || lasting(err):
		return err
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("%w: there is no such cache: Create makes one", fs.ErrNotExist)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: %w", errNoJetStream, err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrPermissionViolation):
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case ok && api.ErrorCode == codeReplicas:
		return fmt.Errorf("%w: the servers have no such number of Replicas: %w", engine.ErrConfig, err)
	case ok && api.ErrorCode == codeStoreFailed:
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	case ok && noRoom[api.ErrorCode]:
		return fmt.Errorf("%w: %w: raise max_file_store or max_memory_store of the servers, or make generations smaller", ErrNoRoom, err)
	}
	return fmt.Errorf("%w: %w", engine.ErrUnavailable, err)
}

// errNoJetStream is the error of a server without JetStream, or whose JetStream is not ready.
var errNoJetStream = fmt.Errorf("%w: the server, or the account, has no JetStream: start the server with JetStream enabled", engine.ErrUnavailable)

// refused reports whether err says that servers refuse a request until somebody changes their
// configuration.
func refused(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return errors.Is(err, errNoJetStream) || ok && (api.Code != 503 || noRoom[api.ErrorCode])
}

// ErrNoRoom says that the servers, or the account, have less room than a cache needs.
var ErrNoRoom = errors.New("not enough room on the servers")

// Codes of errors of JetStream.
const (
	codeStoreFailed      jetstream.ErrorCode = 10077 // a message does not fit into the stream
	codeWrongSequence    jetstream.ErrorCode = 10071
	codeSequenceUnderWay jetstream.ErrorCode = 10164 // of the message before
	codeReplicas         jetstream.ErrorCode = 10074
)

// noRoom has the codes of errors that say that there is no room.
var noRoom = map[jetstream.ErrorCode]bool{
	10023: true, // insufficient resources
	10028: true, // memory resources exceeded
	10047: true, // storage resources exceeded
	10002: true, // resource limits exceeded for account
	10005: true, // no suitable peers for placement
}

// lasting reports whether asking again cannot help.
func lasting(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrVersion) ||
		errors.Is(err, engine.ErrCorrupt) || errors.Is(err, engine.ErrClosed) || errors.Is(err, engine.ErrChecksum) || errors.Is(err, engine.ErrGenerationGone)
}

// ended returns the error of a context that has ended while the servers did not answer. trouble is
// the last error that they, or the connection, gave; it may be nil.
func ended(ctx context.Context, trouble error) error {
	switch {
	case trouble == nil:
		return context.Cause(ctx)
	case errors.Is(trouble, engine.ErrUnavailable):
		return fmt.Errorf("%w: %w", context.Cause(ctx), trouble)
	}
	return fmt.Errorf("%w: %w: %w", engine.ErrUnavailable, context.Cause(ctx), trouble)
}
