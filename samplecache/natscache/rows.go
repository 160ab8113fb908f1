package natscache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
	"github.com/go-tensordict/tensordict/tensor"
)

// A rows implements engine.Rows, and engine.RowReader. Its samples are on the servers.
type rows struct {
	*part   // the hold
	s       *session
	id      uint64
	records []ledger.Record
	lapsed  <-chan struct{}
}

// open holds a generation.
func (s *session) open(ctx context.Context, id uint64) (*rows, error) {
	r := &rows{s: s, id: id}
	r.part = newPart(s.p, s.part, func(of uint64) ledger.Event {
		return ledger.Event{Kind: ledger.Hold, Of: of, Generation: id}
	})
	l, _, err := r.at(ctx)
	if err != nil {
		return nil, err
	}
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	g := l.ledger.Generation(id)
	if g == nil {
		return nil, engine.ErrGenerationGone
	}
	r.records = g.Rows
	if s.p.charter.Config.MaxHold > 0 {
		if s.p.lapsed[id] == nil {
			s.p.lapsed[id] = make(chan struct{})
		}
		r.lapsed = s.p.lapsed[id]
	}
	return r, nil
}

// lapse closes the channel of readers of a generation. p.mu is held.
func (p *process) lapse(id uint64) {
	if c := p.lapsed[id]; c != nil {
		close(c)
		delete(p.lapsed, id)
	}
}

func (r *rows) Lapsed() <-chan struct{}        { return r.lapsed }
func (r *rows) Place(int) (tensor.Lender, int) { return nil, 0 }
func (r *rows) Close() error                   { return r.close() }

func (r *rows) Info(row int) (engine.Info, error) {
	one := r.records[row]
	return engine.Info{Producer: one.Producer, Number: one.Number, Time: time.Unix(0, one.Time), Sums: slices.Clone(one.Sums)}, nil
}

func (r *rows) Read(ctx context.Context, rows []int, leaf int, dst []byte) error {
	size := r.p.layout.size[leaf]
	var pieces []piece
	for n, row := range rows {
		pieces = r.p.layout.cut(pieces, row, leaf, dst[n*size:(n+1)*size])
	}
	return r.read(ctx, pieces)
}

// ReadRows implements engine.RowReader.
func (r *rows) ReadRows(ctx context.Context, rows []int, dst [][]byte) error {
	var pieces []piece
	for n, row := range rows {
		for leaf, size := range r.p.layout.size {
			pieces = r.p.layout.cut(pieces, row, leaf, dst[leaf][n*size:(n+1)*size])
		}
	}
	return r.read(ctx, pieces)
}

// read copies pieces. A cache in the memory of its servers ends with them.
func (r *rows) read(ctx context.Context, pieces []piece) error {
	_, _, err := r.at(ctx)
	if err == nil {
		err = r.download(ctx, pieces)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", engine.ErrGenerationGone, err)
	}
	return err
}
