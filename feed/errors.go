package feed

import "errors"

// The errors of this package.
var (
	// ErrBusy says that another feed listens on the socket, or that Serve runs already.
	ErrBusy = errors.New("in use")
	// ErrClosed says that a [Feed] or a [Client] was used after its Close.
	ErrClosed = errors.New("closed")
	// ErrLost says that the feed closed the connection without an end message: it was stopped or
	// died.
	ErrLost = errors.New("the feed is gone")
	// ErrProtocol says that the other side of a connection broke the protocol.
	ErrProtocol = errors.New("unexpected message")
	// ErrRank says that the feed does not have a rank, or that another consumer has it. Consumers
	// get it as a [RemoteError].
	ErrRank = errors.New("rank is not available")
)

// A RemoteError is an error that the feed sent to its consumer, for example that a batch could not
// be made, or that a state does not fit.
type RemoteError struct{ Text string }

// Error returns the text of the feed.
func (e *RemoteError) Error() string { return "from the feed: " + e.Text }

// errGone says that the consumer closed the connection or died.
var errGone = errors.New("the consumer is gone")
