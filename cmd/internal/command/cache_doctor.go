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
	JSON bool `name:"json" help:"Print a line of JSON for each finding."`
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
	if c.Place.remote() {
		at, err := c.at(s)
		if err != nil {
			return nil, err
		}
		return s.servers.Examine(s.ctx, at)
	}
	if err := c.local(s); err != nil {
		return nil, err
	}
	return doctor.Directory(s.ctx, string(c.Place), samplecache.Config{}, nil), nil
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
