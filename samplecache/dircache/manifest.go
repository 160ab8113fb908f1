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
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Names in the directory of a cache; FORMAT.md describes them.
const (
	manifestName = "MANIFEST"
	controlName  = "control"
	newPrefix    = ".new-" // a file or directory that is being made
)

const (
	formatName    = "tensordict.samplecache"
	formatVersion = 3
	maxManifest   = 16 << 20
	maxGeneration = 1<<31 - 1
	maxID         = 64
	maxName       = 64 // bytes of a producer's name
)

// A manifest is the content of the MANIFEST.
type manifest struct {
	Format    string         `json:"format"`
	Version   int            `json:"version"`
	ID        string         `json:"id"`
	Config    engine.Config  `json:"config"`
	Schema    []leafSpec     `json:"schema"`
	Latest    uint64         `json:"latest"` // published last; the next one is being filled
	Published time.Time      `json:"published,omitzero"`
	Before    time.Time      `json:"published_before,omitzero"` // when Latest-1 was published
	Producers []producerSpec `json:"producers,omitempty"`       // as of that publication
}

// A leafSpec describes a leaf of a sample.
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
	Life uint64 `json:"life"` // differs from the Life of a forgotten producer with this name
	engine.Window
}

// sumMark begins the last line of a MANIFEST. The line has the CRC-32 of all bytes before it.
const sumMark = ",\n  \"sum\": \""

// sumLine returns the end of a MANIFEST that begins with b.
func sumLine(b []byte) []byte {
	return fmt.Appendf(nil, "%s%08x\"\n}\n", sumMark, crc32.ChecksumIEEE(b))
}

// text returns the content of the file.
func (m *manifest) text() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	b = bytes.TrimSuffix(b, []byte("\n}"))
	return append(b, sumLine(b)...), err
}

// parseManifest is the reverse of text.
func parseManifest(b []byte) (*manifest, error) {
	var head struct {
		Format  string
		Version int
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	}
	if head.Format != formatName {
		return nil, fmt.Errorf("%w: got format %q, want %q", engine.ErrCorrupt, head.Format, formatName)
	}
	if head.Version != formatVersion {
		return nil, fmt.Errorf("%w: got version %d, this program knows %d: make a new cache", errors.ErrUnsupported, head.Version, formatVersion)
	}
	at := bytes.LastIndex(b, []byte(sumMark))
	if at < 0 || !bytes.Equal(b[at:], sumLine(b[:at])) {
		return nil, fmt.Errorf("%w: its checksum differs", engine.ErrCorrupt)
	}
	m := new(manifest)
	err := json.Unmarshal(b, m)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	}
	return m, nil
}

// check returns an error unless the fields are valid.
func (m *manifest) check() error {
	if m.Latest > maxGeneration || len(m.ID) > maxID {
		return fmt.Errorf("got generation %d and an id of %d bytes", m.Latest, len(m.ID))
	}
	for i := range m.Schema {
		if err := m.Schema[i].fill(); err != nil {
			return fmt.Errorf("%q: %w", m.Schema[i].Key, err)
		}
	}
	seen := map[string]bool{"": true}
	for _, p := range m.Producers {
		if seen[p.Name] || len(p.Name) > maxName || !utf8.ValidString(p.Name) || p.Life == 0 || p.Above&1 != 0 {
			return fmt.Errorf("invalid entry of producer %q", p.Name)
		}
		seen[p.Name] = true
	}
	return m.Config.Check()
}

// swapAt returns when generation latest was published, which is m.Latest or the one before it.
func (m *manifest) swapAt(latest uint64) time.Time {
	if latest < m.Latest {
		return m.Before
	}
	return m.Published
}

// fill sets the fields that are not in the file.
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
		if first, _, nested := strings.Cut(string(key), "/"); nested && first == recordsName {
			return nil, fmt.Errorf("%w: %q: the name %q is reserved", engine.ErrSchema, key, first)
		}
		list = append(list, l)
	}
	return list, nil
}

// dict is the reverse of specs: it returns a dictionary with the given batch shape, of tensors
// without elements.
func (m *manifest) dict(batch ...int) (*tdict.TensorDict, error) {
	td := tdict.New(batch...)
	for _, l := range m.Schema {
		x, err := tensor.NewMeta(l.dtype, slices.Concat(batch, l.Shape)...)
		if err == nil {
			err = td.Set(l.Key, x)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
		}
	}
	return td, nil
}

// retain returns the number of generations kept besides the latest.
func (m *manifest) retain() int { return max(m.Config.Retain, 0) }

// retired reports whether a generation is not retained any more.
func (m *manifest) retired(generation uint64) bool { return generation+uint64(m.retain()) < m.Latest }

// maxHeld returns the number of generations kept beyond the retained ones.
func (m *manifest) maxHeld() int { return max(m.Config.MaxHeld, 0) }

// sampleBytes returns the size of a sample in bytes.
func (m *manifest) sampleBytes() (n int64) {
	for _, l := range m.Schema {
		n += int64(l.bytes)
	}
	return n
}

// readManifest reads the MANIFEST of the cache in dir.
func readManifest(dir string) (*manifest, error) {
	f, err := openFile(filepath.Join(dir, manifestName), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxManifest {
		return nil, fmt.Errorf("%w: got more than %d bytes", engine.ErrCorrupt, maxManifest)
	}
	return parseManifest(b)
}

// manifest reads the MANIFEST. It returns an error if it is of another cache than the session's.
func (s *session) manifest() (*manifest, error) {
	m, err := readManifest(s.at)
	if err == nil && m.ID != s.fixed.ID {
		err = errRemoved
	}
	return m, failed("read", s.dir, manifestName, err)
}

// openFile opens a file of a cache. It returns [engine.ErrCorrupt] if it is not a regular file.
func openFile(path string, flag int) (*os.File, error) {
	f, err := vfs.OpenRegular(path, flag)
	if errors.Is(err, fs.ErrInvalid) {
		err = fmt.Errorf("%w: %w", engine.ErrCorrupt, bare(err))
	}
	return f, err
}

// write replaces the MANIFEST of the cache in dir, whose mode is mode. The file is synced before it
// is renamed, so that after a loss of power the cache has the old or the new MANIFEST. The lock is
// held.
func (m *manifest) write(dir string, mode fs.FileMode) error {
	text, err := m.text()
	if err != nil {
		return err
	}
	next := filepath.Join(dir, newPrefix+manifestName)
	if err := writeFile(next, text, mode); err != nil {
		return err
	}
	crashPoint("manifest written")
	if err := os.Rename(next, filepath.Join(dir, manifestName)); err != nil {
		return err
	}
	crashPoint("manifest renamed")
	return m.syncDir(dir)
}

// syncDir makes the names in the directory durable, if the cache is durable.
func (m *manifest) syncDir(dir string) error {
	if !m.Config.Durable {
		return nil
	}
	return vfs.OS.SyncDir(dir)
}

// writeFile writes and syncs a file with the permissions of the directory, whose mode is mode. It
// replaces an existing file.
func writeFile(path string, text []byte, mode fs.FileMode) error {
	_ = os.Remove(path) // if this fails, OpenFile returns the reason
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err = f.Chmod(mode.Perm() & 0o666); err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
