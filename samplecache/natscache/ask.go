package natscache

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

const (
	attempt = time.Second           // how long one request may take
	pause   = 20 * time.Millisecond // between requests that failed
)

// ask calls fn, which asks the servers, until they answer. It returns an error that asking again
// does not change, or the error of a context.
func (p *process) ask(ctx context.Context, fn func(ctx context.Context) error) error {
	for {
		err := p.once(ctx, fn)
		if errors.Is(err, fs.ErrNotExist) && p.begun {
			p.stop(err) // somebody has deleted a stream
		}
		if err == nil || lasting(err) || !p.begun && refused(err) {
			return err
		}
		if !sleep(ctx, pause) {
			return ended(ctx, err)
		}
		if p.over() {
			return context.Cause(p.ctx)
		}
	}
}

// once calls fn once, for a second at most, and not for longer than the connection lasts.
func (p *process) once(ctx context.Context, fn func(ctx context.Context) error) error {
	p.mu.Lock()
	denied, link := p.denied, p.link
	p.mu.Unlock()
	brief, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	defer context.AfterFunc(link, cancel)()
	err := fn(brief)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil || brief.Err() == nil || ctx.Err() != nil:
	case p.denied != denied:
		err = p.denied
	case link.Err() != nil:
		err = nats.ErrDisconnected
	default:
		err = errSilent
	}
	err = explain(err)
	if lasting(err) {
		p.trouble = nil // it is an answer
	} else if ctx.Err() == nil {
		p.trouble = err
	}
	return err
}

// errSilent is the error of a request without an answer.
var errSilent = fmt.Errorf("%w: the servers did not answer within %v", engine.ErrUnavailable, attempt)

// errSlow is the trouble of a deadline that is too short to learn of any other.
var errSlow = errors.New("the servers have not answered yet")

// ended returns the error of a context that has ended while an operation waited for the servers.
func (p *process) ended(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	trouble := p.trouble
	if p.parted {
		trouble = fmt.Errorf("%w: the connection is lost: %w", engine.ErrUnavailable, cmp.Or(p.why, nats.ErrDisconnected))
	}
	if trouble == nil && ctx.Err() == context.DeadlineExceeded {
		trouble = errSlow
	}
	return ended(ctx, trouble)
}

// politely returns a context for waiting for an answer that is not needed: it ends soon, and at
// once if the connection is lost.
func (p *process) politely() (context.Context, context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parted || p.trouble != nil {
		return context.WithTimeout(p.link, pause)
	}
	return context.WithTimeout(p.link, attempt)
}

// unheard notes that there was no answer before ctx ended, so that the next wait is shorter.
func (p *process) unheard(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble == nil && ctx.Err() != nil {
		p.trouble = errSilent
	}
}

// get asks the leader of a stream, and nobody else, for a message.
func (p *process) get(ctx context.Context, stream string, which map[string]any) (*jetstream.RawStreamMsg, error) {
	request, err := json.Marshal(which)
	if err != nil {
		return nil, err
	}
	reply, err := p.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+p.site.stream(stream), request)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Subject string `json:"subject"`
			Seq     uint64 `json:"seq"`
			Data    []byte `json:"data"`
		} `json:"message"`
	}
	err = json.Unmarshal(reply.Data, &answer)
	switch {
	case err != nil:
		return nil, err
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, jetstream.ErrMsgNotFound
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		return nil, jetstream.ErrStreamNotFound
	case answer.Error != nil:
		return nil, answer.Error
	case answer.Message == nil:
		return nil, jetstream.ErrInvalidJetStreamResponse
	}
	m := answer.Message
	return &jetstream.RawStreamMsg{Subject: m.Subject, Sequence: m.Seq, Data: m.Data}, nil
}

// purge removes messages of a stream.
func (p *process) purge(ctx context.Context, stream string, which ...jetstream.StreamPurgeOpt) error {
	of := map[string]jetstream.Stream{"log": p.log, "data": p.data, "snap": p.snap}[stream]
	return p.ask(ctx, func(ctx context.Context) error { return of.Purge(ctx, which...) })
}
