package natscache

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// clean removes the chunks that a message of this process has made useless, and stores a snapshot
// if it is time. p.mu is held.
func (l *life) clean(s *ledger.Step) {
	p := l.p
	if len(s.Dropped) == 0 && len(s.Freed) == 0 && !s.Due {
		return
	}
	var data []byte
	var err error
	if s.Due {
		data, err = l.ledger.Encode()
	}
	seq := l.ledger.Seq
	p.running.Go(func() {
		ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
		defer cancel()
		for _, f := range s.Freed {
			p.report(p.purge(ctx, "data", jetstream.WithPurgeSubject(p.site.row(f.Generation, f.Row))))
		}
		if s.Below > 1 { // which removes whole blocks of files without reading them; 0 would be all
			p.report(p.purge(ctx, "data", jetstream.WithPurgeSequence(s.Below)))
		}
		for _, id := range s.Dropped { // not yet removed if an older generation is kept
			p.report(p.purge(ctx, "data", jetstream.WithPurgeSubject(p.site.generation(id)+".>")))
		}
		if s.Due && err == nil {
			err = p.save(ctx, seq, data)
		}
		if !errors.Is(err, errTaken) {
			p.report(err)
		}
	})
}

// sweep removes the chunks of samples that are not in the ledger: of processes that were killed, or
// that were stopped for long and went on to publish.
func (p *process) sweep(ctx context.Context) error {
	var info *jetstream.StreamInfo
	err := p.ask(ctx, func(ctx context.Context) (err error) {
		info, err = p.data.Info(ctx, jetstream.WithSubjectFilter(p.site.subject("rows.>")))
		return err
	})
	if err != nil {
		return err
	}
	l, err := p.sync(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	named := map[uint64]bool{} // rows
	for _, g := range append(slices.Collect(maps.Values(l.ledger.Kept)), l.ledger.Filling) {
		for i := range g.Rows {
			named[g.Rows[i].Row] = true
		}
	}
	var stray []string
	for subject := range info.State.Subjects {
		row, err := strconv.ParseUint(subject[strings.LastIndexByte(subject, '.')+1:], 10, 64)
		if err != nil || !named[row] && l.ledger.Things[row] == nil {
			stray = append(stray, subject)
		}
	}
	p.mu.Unlock()
	slices.Sort(stray)
	for _, subject := range stray {
		which := []jetstream.StreamPurgeOpt{jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(info.State.LastSeq + 1)}
		if err := p.purge(ctx, "data", which...); err != nil {
			return err
		}
	}
	return nil
}
