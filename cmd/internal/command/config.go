package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
)

// A wireheadConfig has the fields of wirehead's config.yaml that commands use. Other fields are for
// its clients.
type wireheadConfig struct {
	Port      *int            `yaml:"PORT"`
	Database  string          `yaml:"DBNAME"`
	SwapCap   int             `yaml:"SWAP_CAP"`
	Write     string          `yaml:"WRITE_COLLECTION"`
	Read      string          `yaml:"READ_COLLECTION"`
	Temp      string          `yaml:"TEMP_COLLECTION"`
	Counter   string          `yaml:"COUNTER_COLLECTION"`
	ChunkSize int             `yaml:"CHUNKSIZE"` // MiB
	Sample    []nestedkey.Key `yaml:"SAMPLE"`
}

// maxConfig is how many bytes a config has at most.
const maxConfig = 1 << 20

// readConfig reads a config.yaml.
func readConfig(path string) (*wireheadConfig, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("%s: got more than %d bytes", path, maxConfig)
	}
	var c wireheadConfig
	if err := yaml.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: %s", path, asConfig.Replace(err.Error()))
	}
	return &c, nil
}

// asConfig replaces names of Go types in errors of YAML.
var asConfig = strings.NewReplacer(
	"yaml: unmarshal errors:\n  ", "", "\n  ", ", ", "cannot unmarshal", "got", " into []nestedkey.Key", ", want a list of keys",
	" into nestedkey.Key", ", want a key", " into int", ", want a whole number", " into string", ", want text",
	" into command.wireheadConfig", ", want names and values",
)

// check returns an error unless a server can be started with the config, which is at path.
func (c *wireheadConfig) check(path string) error {
	switch {
	case c.Database == "" || c.SwapCap < 1:
		return fmt.Errorf("%s: got DBNAME %q and SWAP_CAP %d, want a name and at least 1", path, c.Database, c.SwapCap)
	case c.port() < 1 || c.port() > 65535:
		return fmt.Errorf("%s: got PORT %d, want 1 to 65535", path, c.port())
	case c.ChunkSize < 0 || c.ChunkSize > 15:
		return fmt.Errorf("%s: got CHUNKSIZE %d, want 1 to 15", path, c.ChunkSize)
	}
	return nil
}

// port returns the port, 27017 if there is none.
func (c *wireheadConfig) port() int {
	if c.Port == nil {
		return 27017
	}
	return *c.Port
}

// options returns the options of a server.
func (c *wireheadConfig) options() mongowire.Options {
	return mongowire.Options{
		Database: c.Database, Samples: c.SwapCap, ChunkBytes: c.ChunkSize << 20,
		Write: c.Write, Read: c.Read, Temp: c.Temp, Counter: c.Counter,
	}
}
