package command

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/cmd/internal/doctor"
	"github.com/go-tensordict/tensordict/samplecache"
)

type cacheDoctor struct {
	placeFlags
	Schema  string `xor:"schema" placeholder:"FILE" help:"For a cache that is not made yet: the schema of a sample, as for cache create. Room and memory are compared with it."`
	Like    string `xor:"schema" placeholder:"SAMPLE" help:"A file or dataset that is one sample, instead of --schema."`
	Samples int    `placeholder:"N" help:"Samples of a generation, with --schema or --like."`
	Retain  int    `default:"1" placeholder:"N" help:"Generations kept besides the latest, with --schema or --like."`
	MaxHeld int    `default:"2" placeholder:"N" help:"Older generations that may be kept because they are read, with --schema or --like."`
	JSON    bool   `name:"json" help:"Print a line of JSON for each finding."`
}

func (cacheDoctor) Help() string {
	return `
Doctor looks at a directory, or the servers of nats://HOST/NAME, and at this machine: free room and memory, limits, other file systems, users, stopped members. It prints a line for each finding: ok, warning or problem, and what to do. The exit code is 1 if there is a problem. The directory need not exist yet: then --schema or --like, and --samples, say what the cache will be.

	tdict cache doctor /dev/shm/brains
	tdict cache doctor /dev/shm/brains --like sample.npy --samples 100`
}

func (c *cacheDoctor) Run(s *session) error {
	list, err := c.findings(s)
	if err != nil {
		return err
	}
	for _, f := range list {
		if err := c.print(s, f); err != nil {
			return err
		}
	}
	if doctor.Bad(list) {
		return errNo
	}
	return nil
}

// findings examines the place.
func (c *cacheDoctor) findings(s *session) ([]doctor.Finding, error) {
	plans := c.Schema != "" || c.Like != "" || c.Samples != 0
	if c.Place.remote() {
		if plans {
			return nil, s.usage("--schema, --like and --samples are for directories, got %s", c.Place)
		}
		at, err := c.at(s)
		if err != nil {
			return nil, err
		}
		return s.servers.Examine(s.ctx, at)
	}
	if err := c.local(s); err != nil {
		return nil, err
	}
	if !plans {
		return doctor.Directory(s.ctx, string(c.Place), samplecache.Config{}, nil), nil
	}
	schema, err := (&createCmd{Schema: c.Schema, Like: c.Like, Samples: c.Samples}).sample(s)
	if err != nil {
		return nil, err
	}
	config, err := samplecache.Config{Samples: c.Samples, Retain: orNone(c.Retain), MaxHeld: orNone(c.MaxHeld)}.Filled()
	if err != nil {
		return nil, s.usage("%s", asConfigFlags.Replace(err.Error()))
	}
	return doctor.Directory(s.ctx, string(c.Place), config, schema), nil
}

// print prints a finding on one line.
func (c *cacheDoctor) print(s *session, f doctor.Finding) error {
	if !c.JSON {
		_, err := fmt.Fprintln(s.out, strings.ReplaceAll(f.String(), "\n", "; "))
		return err
	}
	e := json.NewEncoder(s.out)
	e.SetEscapeHTML(false)
	return e.Encode(f)
}
