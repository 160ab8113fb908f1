package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sampleFlags describe a sample, and the number of samples and generations of a cache.
type sampleFlags struct {
	Schema  string `xor:"schema" placeholder:"FILE" help:"The schema of a sample, as 'tdict schema' prints it."`
	Like    string `xor:"schema" placeholder:"SAMPLE" help:"A file or dataset that is one sample. Only its keys, dtypes and shapes are used."`
	Rows    bool   `help:"Each row of SAMPLE is a sample."`
	Config  string `placeholder:"FILE" help:"The config.yaml of wirehead: SWAP_CAP is --samples, SAMPLE the keys of --like to use."`
	Samples int    `placeholder:"N" help:"Samples of a generation."`
	Retain  int    `default:"1" placeholder:"N" help:"Generations kept besides the latest."`
	MaxHeld int    `default:"2" placeholder:"N" help:"Older generations that may be kept because they are read."`
}

type createCmd struct {
	placeFlags
	sampleFlags
	MaxHold   time.Duration `placeholder:"TIME" help:"How long they may be read; 0 means without end."`
	Durable   bool          `help:"Wait for the disk, so that samples survive a loss of power."`
	MinPasses int           `placeholder:"N" help:"Passes of each group over a generation before the next is published."`
	MaxPasses int           `placeholder:"N" help:"Passes of each group over a generation before it waits for the next."`
	PerInsert float64       `placeholder:"X" help:"Rows taken by each group for each sample put; docs/samplecache.md describes the ratio."`
	MinSize   int           `placeholder:"N" help:"Samples put before the ratio applies."`
	MinDiff   float64       `placeholder:"X" help:"How far groups may run ahead of the ratio, in rows."`
	MaxDiff   float64       `placeholder:"X" help:"How far samples may run ahead of the ratio, in rows."`
	Memory    bool          `help:"Keep the cache in the memory of the servers, for nats://."`
	Replicas  int           `placeholder:"N" help:"Servers that have a copy, 1, 3 or 5, for nats://."`
	Lease     time.Duration `placeholder:"TIME" help:"How long a process may be silent, for nats://; by default 5s."`
	ExistOK   bool          `name:"exist-ok" help:"Accept a cache that is there, if it has the same schema and number of samples."`
}

func (c *createCmd) Run(s *session) error {
	schema, err := c.sample(s)
	if err != nil {
		return err
	}
	err = c.create(s, schema)
	switch {
	case errors.Is(err, samplecache.ErrConfig), errors.Is(err, samplecache.ErrLimits):
		return s.usage("%s", asConfigFlags.Replace(err.Error()))
	case errors.Is(err, fs.ErrExist) && c.ExistOK:
		return c.compare(s, schema)
	}
	return err
}

// asConfigFlags replaces names of fields of a config by flags.
var asConfigFlags = strings.NewReplacer(
	"MaxDiff-MinDiff", "--max-diff minus --min-diff", "a MaxHold", "--max-hold",
	"PerInsert*MinSize", "--per-insert times --min-size", "PerInsert*(samples-MinSize)", "--per-insert times (--samples minus --min-size)",
	"PerInsert*samples", "--per-insert times --samples", "max(1, PerInsert)", "max(1, --per-insert)", "samples =", "--samples =",
	"MinPasses", "--min-passes", "MaxPasses", "--max-passes", "PerInsert", "--per-insert", "MinSize", "--min-size",
	"MinDiff", "--min-diff", "MaxDiff", "--max-diff", "Samples", "--samples", "Retain", "--retain", "MaxHeld", "--max-held",
	"MaxHold", "--max-hold", "Durable", "--durable", "Memory", "--memory", "Replicas", "--replicas", "Lease", "--lease",
)

// create makes the cache.
func (c *createCmd) create(s *session, schema *tdict.TensorDict) error {
	config, err := c.config(s)
	if err != nil {
		return err
	}
	config.MaxHold, config.Durable = c.MaxHold, c.Durable
	config.Limits = samplecache.Limits{
		MinPasses: c.MinPasses, MaxPasses: c.MaxPasses,
		PerInsert: c.PerInsert, MinSize: c.MinSize, MinDiff: c.MinDiff, MaxDiff: c.MaxDiff,
	}
	if c.Place.remote() {
		at, err := c.at(s)
		if err != nil {
			return err
		}
		return s.servers.Create(s.ctx, at, schema, RemoteConfig{Config: config, Memory: c.Memory, Replicas: c.Replicas, Lease: c.Lease})
	}
	if c.Memory || c.Replicas != 0 || c.Lease != 0 {
		return s.usage("--memory, --replicas and --lease are for nats://, got %s", c.Place)
	}
	if err := c.local(s); err != nil {
		return err
	}
	return dircache.Create(string(c.Place), schema, config)
}

// config returns the config that the flags say. --config was read.
func (c *sampleFlags) config(s *session) (samplecache.Config, error) {
	if c.Retain < 0 || c.MaxHeld < 0 {
		return samplecache.Config{}, s.usage("--retain %d, --max-held %d: want at least 0", c.Retain, c.MaxHeld)
	}
	return samplecache.Config{Samples: c.Samples, Retain: orNone(c.Retain), MaxHeld: orNone(c.MaxHeld)}, nil
}

// orNone returns n, or -1 for 0: in a samplecache.Config 0 means the default, and -1 means none.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// sample returns the schema of a sample, and reads --config.
func (c *sampleFlags) sample(s *session) (*tdict.TensorDict, error) {
	var keys []nestedkey.Key
	if c.Config != "" {
		config, err := readConfig(c.Config)
		if err != nil {
			return nil, err
		}
		c.Samples, keys = cmp.Or(c.Samples, config.SwapCap), config.Sample
	}
	switch {
	case c.Schema == "" && c.Like == "":
		return nil, s.usage("want --schema or --like")
	case c.Rows && c.Like == "":
		return nil, s.usage("--rows is for --like")
	case c.Samples == 0:
		return nil, s.usage("want --samples, or --config with SWAP_CAP")
	case c.Schema != "":
		schema, err := readSchema(c.Schema)
		if err != nil {
			return nil, err
		}
		td, err := schema.Meta()
		return pick(td, keys, c.Config, err)
	}
	td, err := c.like(s)
	return pick(td, keys, c.Config, err)
}

// pick returns the entries of td that config has as SAMPLE, or all if it has none.
func pick(td *tdict.TensorDict, keys []nestedkey.Key, config string, err error) (*tdict.TensorDict, error) {
	if err != nil || len(keys) == 0 {
		return td, err
	}
	if td, err = td.Select(keys...); err != nil {
		err = fmt.Errorf("%s: SAMPLE: %w", config, err)
	}
	return td, err
}

// like returns the schema of the sample --like.
func (c *sampleFlags) like(s *session) (*tdict.TensorDict, error) {
	in, err := s.open(c.Like, tableFlags{})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	td := tdict.New()
	for key, leaf := range in.Dict.Leaves() {
		x, ok := leaf.(*tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("%s: %q is not a dense tensor: slice --drop leaves it out", c.Like, string(key))
		}
		shape := x.Shape()
		if c.Rows && len(in.Dict.Shape()) == 0 {
			return nil, fmt.Errorf("%s: %q has no rows: leave --rows out", c.Like, string(key))
		} else if c.Rows {
			shape = shape[1:]
		}
		meta, err := tensor.NewMeta(x.DType(), shape...)
		if err == nil {
			err = td.Set(key, meta)
		}
		if err != nil {
			return nil, err
		}
	}
	return td, nil
}

// compare returns an error unless the cache that is there has the schema and the number of samples.
func (c *createCmd) compare(s *session, schema *tdict.TensorDict) error {
	cache, err := c.open(s, waitFlags{})
	if err != nil {
		return err
	}
	have, samples := cache.Schema(), cache.Config().Samples
	if err := cache.Close(); err != nil {
		return err
	}
	diff := tdict.SchemaOf(have).Diff(tdict.SchemaOf(schema))
	if samples != c.Samples {
		diff = fmt.Sprintf("got %d samples, want %d", samples, c.Samples)
	}
	if diff != "" {
		lines := slices.Collect(strings.Lines(diff))
		return fmt.Errorf("%s: %w, and differs: %s", c.Place, fs.ErrExist, strings.TrimSpace(lines[0]))
	}
	return nil
}
