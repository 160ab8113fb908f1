//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A stamp is what a sample says of itself: who put it, and its number.
type stamp struct{ who, number int64 }

// unnamed is the least who of producers without a name.
const unnamed = 1000

// nobodyElse is the test itself without a name.
const nobodyElse = 1 << 40

// producerOf returns the name of a producer.
func producerOf(who int64) string {
	if who >= unnamed {
		return ""
	}
	return fmt.Sprintf("p%d", who)
}

// sum returns what a sample must have besides the stamp.
func (m stamp) sum() uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%d of %d", m.number, m.who))
}

// pixels are the bytes of an image.
const pixels = 61

// write sets the elements of a sample.
func (m stamp) write(td *tdict.TensorDict) error {
	x, err := tdict.Get[*tensor.Tensor](td, "deep/mark")
	if err == nil {
		err = tensor.Write(x, func(s []int64) { s[0], s[1], s[2] = m.who, m.number, int64(m.sum()) })
	}
	if err == nil {
		x, err = tdict.Get[*tensor.Tensor](td, "image")
	}
	if err == nil {
		err = tensor.Write(x, func(s []uint8) {
			for i := range s {
				s[i] = uint8(m.sum()>>(i%4*8)) + uint8(i)
			}
		})
	}
	return err
}

// marked returns a sample.
func (m stamp) marked() *tdict.TensorDict {
	td := tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"image":     tensor.Must(tensor.New(tensor.Uint8, pixels)),
		"deep/mark": tensor.Must(tensor.New(tensor.Int64, 3)),
		"none":      tensor.Must(tensor.New(tensor.Float32, 0, 3)),
	}))
	if err := m.write(td); err != nil {
		panic(err)
	}
	return td
}

// errTorn says that a sample is not what anybody put.
var errTorn = errors.New("torn")

// stampsOf returns the stamps of all rows of a dictionary, whose images must be theirs.
func stampsOf(td *tdict.TensorDict) ([]stamp, error) {
	image, err := tdict.Slice[uint8](td, "image")
	if err != nil {
		return nil, err
	}
	words, err := tdict.Slice[int64](td, "deep/mark")
	if err != nil {
		return nil, err
	}
	stamps := make([]stamp, len(words)/3)
	for row := range stamps {
		m := stamp{words[row*3], words[row*3+1]}
		if words[row*3+2] != int64(m.sum()) {
			return nil, fmt.Errorf("%w: row %d says %v", errTorn, row, m)
		}
		for i, got := range image[row*pixels:][:pixels] {
			if want := uint8(m.sum()>>(i%4*8)) + uint8(i); got != want {
				return nil, fmt.Errorf("%w: row %d, %v: pixel %d: got %d, want %d", errTorn, row, m, i, got, want)
			}
		}
		stamps[row] = m
	}
	return stamps, nil
}

// readStamps returns the stamps of a generation, which must agree with what the cache says of its
// rows.
func readStamps(ctx context.Context, g *samplecache.Generation) ([]stamp, error) {
	rows := make([]int, g.Len())
	for i := range rows {
		rows[i] = i
	}
	td, err := g.Fetch(ctx, rows, nil)
	if err != nil {
		return nil, err
	}
	stamps, err := stampsOf(td)
	for row, m := range stamps {
		info, failed := g.Info(row)
		if name := producerOf(m.who); failed == nil && (info.Producer != name || name != "" && info.Number != uint64(m.number)) {
			failed = fmt.Errorf("generation %d: row %d: got %q number %d, want %v", g.ID(), row, info.Producer, info.Number, m)
		}
		err = errors.Join(err, failed)
	}
	return stamps, err
}

// A ledger has what processes have told: the samples they were about to commit, those they heard to
// be committed, and those they saw in generations. Safe for concurrent use.
type ledger struct {
	mu           sync.Mutex
	begun, acked map[stamp]bool
	seen         map[uint64][]stamp
	kept         map[string]uint64
	trouble      []string
}

func newLedger() *ledger {
	return &ledger{begun: map[stamp]bool{}, acked: map[stamp]bool{}, seen: map[uint64][]stamp{}, kept: map[string]uint64{}}
}

// saw enters a generation, which must be what others saw.
func (l *ledger) saw(id uint64, stamps []stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.seen[id]; was != nil && !slices.Equal(was, stamps) {
		l.trouble = append(l.trouble, fmt.Sprintf("generation %d is %v and %v", id, was, stamps))
	}
	l.seen[id] = stamps
}

// has reports whether a generation was seen.
func (l *ledger) has(id uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[id] != nil
}

func (l *ledger) begins(m stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun[m] = true
}

func (l *ledger) acks(m stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[m] = true
}

// hears enters an error that nobody waited for.
func (l *ledger) hears(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = append(l.trouble, "heard of "+err.Error())
}

// read enters a line of a process.
func (l *ledger) read(line string) {
	what, rest, _ := strings.Cut(line, " ")
	var m stamp
	var id uint64
	switch what {
	case "put", "ok":
		if _, err := fmt.Sscan(rest, &m.who, &m.number); err != nil {
			return // the line was cut
		}
		if what == "put" {
			l.begins(m)
		} else {
			l.acks(m)
		}
	case "saw":
		text, list, _ := strings.Cut(rest, " ")
		_, _ = fmt.Sscan(text, &id)
		var stamps []stamp
		for _, one := range strings.Fields(list) {
			_, _ = fmt.Sscanf(one, "%d:%d", &m.who, &m.number)
			stamps = append(stamps, m)
		}
		l.saw(id, stamps)
	case "error":
		l.hears(errors.New(rest))
	case "kept":
		text, path, _ := strings.Cut(rest, " ")
		_, _ = fmt.Sscan(text, &id)
		l.kept[path] = id
	}
}

// check returns what is wrong if all generations up to latest were seen, and nothing that was
// committed is in none.
func (l *ledger) check(latest uint64) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := map[stamp]uint64{}
	for _, id := range slices.Sorted(maps.Keys(l.seen)) {
		for _, m := range l.seen[id] {
			if before, twice := at[m]; twice {
				l.trouble = append(l.trouble, fmt.Sprintf("%v is in generations %d and %d", m, before, id))
			}
			if !l.begun[m] {
				l.trouble = append(l.trouble, fmt.Sprintf("%v is in generation %d, and nobody put it", m, id))
			}
			at[m] = id
		}
	}
	for id := uint64(1); id <= latest; id++ {
		if l.seen[id] == nil {
			l.trouble = append(l.trouble, fmt.Sprintf("nobody saw generation %d", id))
		}
	}
	for m := range l.acked {
		if at[m] == 0 {
			l.trouble = append(l.trouble, fmt.Sprintf("%v was acknowledged, and is lost", m))
		}
	}
	return l.trouble
}
