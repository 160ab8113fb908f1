package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

type feedCmd struct {
	Dir       string          `arg:"" help:"A dataset."`
	Socket    string          `required:"" placeholder:"PATH" help:"Make this socket for the consumers."`
	Batch     int             `required:"" placeholder:"N" help:"Rows in a batch."`
	Shuffle   bool            `help:"Shuffle the rows in each epoch."`
	Seed      uint64          `placeholder:"N" help:"Seed of the order of the rows."`
	Epochs    uint64          `placeholder:"N" help:"End after N epochs; by default there is no end."`
	DropLast  bool            `help:"Leave out the last batch of an epoch if it has fewer rows."`
	Keys      []nestedkey.Key `help:"Use these entries only, and their masks; * stands for any text in a part of a key." placeholder:"KEY"`
	Drop      []nestedkey.Key `help:"Leave out these entries, and their masks." placeholder:"KEY"`
	Pad       []string        `help:"Pad the rows of the ragged entry KEY to N values, and text to N bytes; longer rows are cut. NxM pads two levels." placeholder:"KEY=N"`
	Masks     nestedkey.Key   `default:"masks" help:"The key of a dictionary for the masks of padded entries; by default masks." placeholder:"KEY"`
	Consumers int             `default:"1" placeholder:"N" help:"Number of consumers: the ranks among which the batches of an epoch are divided."`
	Same      bool            `help:"Give each consumer all batches."`
	Workers   int             `placeholder:"N" help:"Goroutines that make batches for each consumer; by default one batch is made after another."`
	Slots     int             `placeholder:"N" help:"Batches for each consumer that may be made and not yet used; by default 4, and 2 more for each of --workers."`
	Shm       string          `placeholder:"DIR" help:"Directory in memory for the batches; by default /dev/shm if there is one, otherwise the directory for temporary files."`
}

func (feedCmd) Help() string {
	return `
Feed gives the batches of a dataset to training programs of this machine: to tdict.Feed of the Python package, or to any program that speaks the protocol of docs/feed.md. Batches are in shared memory, which consumers map. While a consumer uses a batch, the feed makes the next batches.

If the dataset is replaced or grows, the next epoch uses the new version. SIGTERM ends the feed, and removes the socket and the batches. If the feed is killed, its next start removes them.

Examples:

	tdict feed digits --socket /tmp/digits.sock --batch 64 --shuffle --epochs 3
	tdict feed reviews --socket /tmp/reviews.sock --batch 64 --shuffle --pad text=200 --workers 2`
}

func (c *feedCmd) Run(s *session) (err error) {
	if c.Batch < 1 {
		return s.usage("--batch takes a number from 1, got %d", c.Batch)
	}
	pads, err := c.pads(s)
	if err != nil {
		return err
	}
	keys, err := c.entries(pads)
	if err != nil {
		return err
	}
	warn := func(err error) {
		if s.wantBars {
			fmt.Fprint(s.stderr, "\r\x1b[K") // removes the line of watch
		}
		s.print(err)
	}
	live, err := memmap.OpenLive(c.Dir, memmap.LiveOptions{OnError: warn})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, live.Close()) }()
	src, err := loader.FromLive(live, loader.LiveOptions{Finish: true, Keys: keys})
	if err != nil {
		return err
	}
	opt := feed.Options{
		Loader: loader.Options{Batch: c.Batch, DropLast: c.DropLast, Seed: c.Seed, Workers: c.Workers, Collate: c.collate(pads)},
		Epochs: c.Epochs, Consumers: c.Consumers, Same: c.Same, Slots: c.Slots, Dir: c.Shm, OnError: warn,
	}
	if c.Shuffle {
		opt.Loader.Sampler = sampler.Random()
	}
	f, err := feed.Listen(c.Socket, src, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fmt.Fprintf(s.errs, "tdict: feed: serving %s on %s\n", c.Dir, c.Socket)
	stop := s.watch(f)
	defer stop()
	return f.Serve(s.ctx)
}

// A padding says how the rows of one entry are padded.
type padding struct {
	key    nestedkey.Key
	widths []int
}

// pads returns the values of --pad.
func (c *feedCmd) pads(s *session) (pads []padding, err error) {
	for _, text := range c.Pad {
		at := strings.LastIndexByte(text, '=')
		p := padding{key: nestedkey.Key(text[:max(at, 0)])}
		for part := range strings.SplitSeq(text[at+1:], "x") {
			n, err := strconv.Atoi(part)
			if at < 0 || err != nil || n < 1 {
				return nil, s.usage("--pad takes KEY=N, or KEY=NxM for two levels, with numbers from 1, got %q", text)
			}
			p.widths = append(p.widths, n)
		}
		if slices.ContainsFunc(pads, func(o padding) bool { return o.key == p.key }) {
			return nil, s.usage("--pad: got the key %s twice", errtext.Quote(string(p.key)))
		}
		pads = append(pads, p)
	}
	return pads, nil
}

// entries returns the keys of the entries that --keys and --drop select, or nil for all. It returns
// an error unless --pad has all ragged entries of them and no others.
func (c *feedCmd) entries(pads []padding) (keys []nestedkey.Key, err error) {
	in, err := forms.Open(c.Dir, forms.OpenOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if in.Dataset == nil {
		return nil, fmt.Errorf("%s: got the form %v, want a dataset: tdict convert makes one", c.Dir, in.Form)
	}
	if err = in.Narrow(c.Keys, c.Drop); err != nil {
		return nil, err
	}
	for _, p := range pads {
		v, err := in.Dict.Get(p.key)
		x, ok := v.(*ragged.Tensor)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, &tdict.KeyError{Key: p.key, Err: errors.New("--pad: it is not ragged")}
		case len(p.widths) != x.Depth():
			return nil, &tdict.KeyError{Key: p.key, Err: fmt.Errorf("--pad: got %d widths, want %d", len(p.widths), x.Depth())}
		case in.Dict.Has(c.Masks):
			return nil, &tdict.KeyError{Key: c.Masks, Err: errors.New("--masks: the dataset has this key: give another")}
		}
	}
	keys = []nestedkey.Key{} // not nil, which would be all
	var longer []string      // ragged entries without --pad, with the widths of the longest rows
	for key, leaf := range in.Dict.Leaves() {
		keys = append(keys, key)
		x, ok := leaf.(*ragged.Tensor)
		if !ok || slices.ContainsFunc(pads, func(p padding) bool { return p.key == key }) {
			continue
		}
		widths, err := longest(x)
		if err != nil {
			return nil, &tdict.KeyError{Key: key, Err: err}
		}
		longer = append(longer, fmt.Sprintf("%s=%s", key, widths))
	}
	if longer != nil {
		return nil, fmt.Errorf("ragged entries have rows of different lengths: pad them (--pad %s for the longest rows), or leave them out with --drop", strings.Join(longer, ","))
	}
	if c.Keys == nil && c.Drop == nil {
		keys = nil
	}
	return keys, nil
}

// longest returns the length of the longest row of each level, as --pad takes it.
func longest(x *ragged.Tensor) (string, error) {
	var widths []string
	for level := 1; level <= x.Depth(); level++ {
		lengths, err := x.Layout().Lengths(level)
		if err != nil {
			return "", err
		}
		widths = append(widths, strconv.FormatInt(max(1, slices.Max(append(lengths, 0))), 10))
	}
	return strings.Join(widths, "x"), nil
}

// collate returns the function that pads batches, or nil.
func (c *feedCmd) collate(pads []padding) loader.Collate {
	if len(pads) == 0 {
		return nil
	}
	var each []loader.Collate
	for _, p := range pads {
		each = append(each, loader.Pad(ragged.DensifyOptions{Widths: p.widths, Masks: c.Masks}, p.key))
	}
	return func(td *tdict.TensorDict, mem *loader.Memory) (*tdict.TensorDict, error) {
		for _, pad := range each {
			var err error
			if td, err = pad(td, mem); err != nil {
				return nil, err
			}
		}
		return td, nil
	}
}
