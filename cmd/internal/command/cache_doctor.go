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
	sampleFlags
	JSON bool `name:"json" help:"Print a line of JSON for each finding."`
}

func (cacheDoctor) Help() string {
	return `
Doctor looks at a directory, or the servers of nats://HOST/NAME, and at this machine: free room and memory, limits, other file systems, users, stopped members. It prints a line for each finding: ok, warning or problem, and what to do. The exit code is 1 if there is a problem. The directory need not exist yet: then the flags of cache create say what the cache will be, --schema or --like, and --samples, at least.

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
	plans := c.Schema != "" || c.Like != "" || c.Rows || c.Config != "" || c.Samples != 0
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
	schema, err := c.sample(s)
	if err != nil {
		return nil, err
	}
	config, err := c.config(s)
	if err != nil {
		return nil, err
	}
	if config, err = config.Filled(); err != nil {
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
