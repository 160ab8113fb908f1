package dircache

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Names in the directory of a cache; FORMAT.md describes them.
const (
	manifestName = "MANIFEST"
	controlName  = "control"
	lockName     = "lock"
	peersName    = "peers"
	currentName  = "current"
	newPrefix    = ".new-" // what is being written
)

const (
	formatName    = "tensordict.samplecache"
	formatVersion = 1
	maxManifest   = 16 << 20
	maxGeneration = 1<<31 - 1
)

// A manifest is what the MANIFEST file says: all that outlives the machine's memory.
type manifest struct {
	Format    string             `json:"format"`
	Version   int                `json:"version"`
	ID        string             `json:"id"`
	Config    samplecache.Config `json:"config"`
	Schema    []leafSpec         `json:"schema"`
	Latest    uint64             `json:"latest"` // the generation published last; the next is being filled
	Published time.Time          `json:"published,omitzero"`
	Producers []producerSpec     `json:"producers,omitempty"` // as of that publication
}

// A leafSpec says what a leaf of a sample is.
type leafSpec struct {
	Key   nestedkey.Key `json:"key"`
	DType string        `json:"dtype"`
	Shape []int         `json:"shape"`

	dtype tensor.DType
	bytes int // of a sample
}

// A producerSpec says which numbers of a producer are committed.
type producerSpec struct {
	Name string `json:"name"`
	samplecache.Window
}

// sumMark begins the last line of a MANIFEST, which has the CRC-32C of all before it.
const sumMark = ",\n  \"sum\": \""

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// text returns the content of the file.
func (m *manifest) text() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	b = bytes.TrimSuffix(b, []byte("\n}"))
	return fmt.Appendf(b, "%s%08x\"\n}\n", sumMark, crc32.Checksum(b, castagnoli)), nil
}

// parseManifest is the reverse.
func parseManifest(b []byte) (*manifest, error) {
	var head struct {
		Format  string
		Version int
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", samplecache.ErrCorrupt, err)
	}
	if head.Format != formatName {
		return nil, fmt.Errorf("%w: got format %q, want %q", samplecache.ErrCorrupt, head.Format, formatName)
	}
	if head.Version > formatVersion {
		return nil, fmt.Errorf("%w: got version %d, this program knows up to %d", errors.ErrUnsupported, head.Version, formatVersion)
	}
	at := bytes.LastIndex(b, []byte(sumMark))
	if at < 0 || !bytes.Equal(b[at:], fmt.Appendf(nil, "%s%08x\"\n}\n", sumMark, crc32.Checksum(b[:at], castagnoli))) {
		return nil, fmt.Errorf("%w: its sum differs", samplecache.ErrCorrupt)
	}
	m := new(manifest)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%w: %w", samplecache.ErrCorrupt, err)
	}
	return m, m.check()
}

// check returns [samplecache.ErrCorrupt] unless the fields make sense.
func (m *manifest) check() error {
	if err := m.Config.Check(); err != nil {
		return fmt.Errorf("%w: %w", samplecache.ErrCorrupt, err)
	}
	if m.Latest > maxGeneration || len(m.Producers) > maxProducers {
		return fmt.Errorf("%w: got generation %d and %d producers", samplecache.ErrCorrupt, m.Latest, len(m.Producers))
	}
	for i := range m.Schema {
		if err := m.Schema[i].fill(); err != nil {
			return fmt.Errorf("%w: %q: %w", samplecache.ErrCorrupt, m.Schema[i].Key, err)
		}
	}
	return nil
}

// fill works out what is not in the file.
func (l *leafSpec) fill() (err error) {
	if l.dtype, err = tensor.ParseDType(l.DType); err != nil {
		return err
	}
	meta, err := tensor.NewMeta(l.dtype, l.Shape...)
	if err == nil {
		l.bytes = meta.ByteSize()
	}
	return err
}

// specs returns the leaves of a schema.
func specs(schema *tdict.TensorDict) ([]leafSpec, error) {
	var list []leafSpec
	for key, x := range schema.Tensors() {
		l := leafSpec{Key: key, DType: x.DType().String(), Shape: slices.Clone(x.Shape())}
		if err := l.fill(); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// schema is the reverse.
func (m *manifest) schema() (*tdict.TensorDict, error) {
	td := tdict.New()
	for _, l := range m.Schema {
		x, err := tensor.NewMeta(l.dtype, l.Shape...)
		if err == nil {
			err = td.Set(l.Key, x)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", samplecache.ErrCorrupt, err)
		}
	}
	return td, nil
}

// sampleBytes returns how many bytes a sample has.
func (m *manifest) sampleBytes() (n int64) {
	for _, l := range m.Schema {
		n += int64(l.bytes)
	}
	return n
}

// readManifest reads the MANIFEST of the cache in dir.
func readManifest(dir string) (*manifest, error) {
	f, err := os.Open(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%w: not a regular file", samplecache.ErrCorrupt))
	}
	b, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxManifest {
		return nil, fmt.Errorf("%w: got more than %d bytes", samplecache.ErrCorrupt, maxManifest)
	}
	return parseManifest(b)
}

// write replaces the MANIFEST of the cache in dir. The lock is held.
func (m *manifest) write(dir string) error {
	text, err := m.text()
	if err != nil {
		return err
	}
	next := filepath.Join(dir, newPrefix+manifestName)
	if err := writeFile(next, text, m.Config.Durable); err != nil {
		return err
	}
	passing("manifest written")
	if err := os.Rename(next, filepath.Join(dir, manifestName)); err != nil {
		return err
	}
	passing("manifest renamed")
	return m.syncDir(dir)
}

// syncDir makes the names in the directory durable, if the cache is.
func (m *manifest) syncDir(dir string) error {
	if !m.Config.Durable {
		return nil
	}
	return vfs.OS.SyncDir(dir)
}

// writeFile writes a file, in place of one that was left there.
func writeFile(path string, text []byte, sync bool) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
