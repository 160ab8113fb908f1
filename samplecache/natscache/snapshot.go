package natscache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// A head says where the newest snapshot is. A cache exists once it has a head.
type head struct {
	Seq uint64   `json:"seq"` // of the last event in it
	At  []uint64 `json:"at"`  // sequence numbers of its chunks
	Sum uint32   `json:"sum"` // CRC-32
}

// snapshot returns the ledger of the newest snapshot.
func (p *process) snapshot(ctx context.Context) (*ledger.Ledger, error) {
	for last := uint64(0); ; {
		var h head
		var at uint64
		err := p.ask(ctx, func(ctx context.Context) (err error) { h, at, err = p.head(ctx); return err })
		if err != nil {
			return nil, err
		}
		l, err := p.load(ctx, h)
		if !errors.Is(err, jetstream.ErrMsgNotFound) || at == last {
			return l, err
		}
		last = at // a newer one may have been stored meanwhile
	}
}

// head returns the newest head and its sequence number.
func (p *process) head(ctx context.Context) (h head, seq uint64, err error) {
	m, err := p.get(ctx, "snap", map[string]any{"last_by_subj": p.site.head()})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return h, 0, fmt.Errorf("%w: it was not made completely: Create makes it anew", fs.ErrNotExist)
	}
	if err != nil {
		return h, 0, err
	}
	if err := json.Unmarshal(m.Data, &h); err != nil {
		return h, 0, fmt.Errorf("%w: the head: %w", engine.ErrCorrupt, err)
	}
	return h, m.Sequence, nil
}

// load reads the snapshot of a head, chunk by chunk: it may be large.
func (p *process) load(ctx context.Context, h head) (*ledger.Ledger, error) {
	var all []byte
	for _, seq := range h.At {
		err := p.ask(ctx, func(ctx context.Context) error {
			m, err := p.get(ctx, "snap", map[string]any{"seq": max(seq, 1)})
			switch {
			case errors.Is(err, jetstream.ErrMsgNotFound):
				return fmt.Errorf("%w: the snapshot of event %d: %w", engine.ErrCorrupt, h.Seq, err)
			case err != nil:
				return err
			case m.Subject != p.site.snap(h.Seq):
				return fmt.Errorf("%w: the snapshot of event %d: message %d is another's", engine.ErrCorrupt, h.Seq, seq)
			}
			all = append(all, m.Data...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if got := crc32.ChecksumIEEE(all); got != h.Sum {
		return nil, fmt.Errorf("%w: the snapshot of event %d: got checksum %08x, want %08x", engine.ErrCorrupt, h.Seq, got, h.Sum)
	}
	l, err := ledger.Decode(all)
	if err == nil && l.Seq != h.Seq {
		err = fmt.Errorf("%w: got a snapshot of event %d, want %d", engine.ErrCorrupt, l.Seq, h.Seq)
	}
	return l, err
}

// save stores a snapshot, unless there is a newer one, and removes the events before it.
func (p *process) save(ctx context.Context, seq uint64, data []byte) error {
	at := make([]uint64, chunksOf(len(data)))
	err := p.upload(ctx, "snap", p.site.snap(seq), data, at)
	if err != nil {
		return err
	}
	var old head
	var last uint64
	err = p.ask(ctx, func(ctx context.Context) (err error) {
		old, last, err = p.head(ctx)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && old.Seq >= seq && seq > 0 {
		return p.purge(ctx, "snap", jetstream.WithPurgeSubject(p.site.snap(seq)))
	}
	if err == nil && seq == 0 {
		return errTaken
	}
	made := err != nil
	if err := p.setHead(ctx, head{seq, at, crc32.ChecksumIEEE(data)}, last); err != nil || made {
		return err
	}
	return errors.Join(
		p.forgetSnapshots(ctx, seq),
		p.purge(ctx, "snap", jetstream.WithPurgeSubject(p.site.head()), jetstream.WithPurgeKeep(1)),
		p.purge(ctx, "log", jetstream.WithPurgeSequence(seq+1)))
}

// setHead stores a head, unless there is another one after the head with number last.
func (p *process) setHead(ctx context.Context, h head, last uint64) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return p.ask(ctx, func(ctx context.Context) error {
		_, err := p.js.PublishMsg(ctx, &nats.Msg{Subject: p.site.head(), Data: text}, jetstream.WithExpectLastSequencePerSubject(last))
		api, ok := errors.AsType[*jetstream.APIError](err)
		switch {
		case ok && api.ErrorCode == codeSequenceUnderWay:
			return fmt.Errorf("%w: another head is being stored", engine.ErrUnavailable)
		case !ok || api.ErrorCode != codeWrongSequence:
			return err
		}
		now, _, err := p.head(ctx)
		if err == nil && !slices.Equal(now.At, h.At) { // and not h, whose reply was lost
			return errTaken
		}
		return err
	})
}

// forgetSnapshots removes the snapshots before event seq. Some may have no head, because a process
// was killed before it stored one.
func (p *process) forgetSnapshots(ctx context.Context, seq uint64) error {
	var info *jetstream.StreamInfo
	err := p.ask(ctx, func(ctx context.Context) (err error) {
		info, err = p.snap.Info(ctx, jetstream.WithSubjectFilter(p.site.subject("snap.*")))
		return err
	})
	if err != nil {
		return err
	}
	for _, subject := range slices.Sorted(maps.Keys(info.State.Subjects)) {
		of, err := strconv.ParseUint(subject[strings.LastIndexByte(subject, '.')+1:], 10, 64)
		if err == nil && of >= seq {
			continue
		}
		if err := p.purge(ctx, "snap", jetstream.WithPurgeSubject(subject)); err != nil {
			return err
		}
	}
	return nil
}

// errTaken says that another process has stored a head meanwhile.
var errTaken = fmt.Errorf("%w: another process was faster", fs.ErrExist)
