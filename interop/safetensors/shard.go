package safetensors

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
	"github.com/go-tensordict/tensordict/tensor"
)

// A shard is a file with tensors: a single file, or one of a set.
type shard struct {
	path string
	file *mapfile.Single
	head *safetensors.Header
}

// shard returns the shard of a name in the index, or the single file for "". It opens and maps it
// on first use.
func (r *reader) shard(name string) (*shard, error) {
	if s := r.shards[name]; s != nil {
		return s, nil
	}
	s := &shard{path: r.path}
	if r.index != nil {
		dir, _ := filepath.Split(r.path) // not cleaned: the element before a ".." may be a link
		s.path = dir + filepath.FromSlash(name)
	}
	err := r.open(s)
	if err == nil {
		err = r.find(s, name)
	}
	if err == nil {
		err = s.file.Map() // closes the descriptor
	}
	r.shards[name] = s
	return s, fileformat.Failed("open", s.path, "", err)
}

// open opens a shard and reads its header.
func (r *reader) open(s *shard) error {
	if !cast.LittleEndian() {
		return fmt.Errorf("%w on a big-endian machine", errors.ErrUnsupported)
	}
	var err error
	s.file, err = mapfile.OpenSingle(s.path, fileformat.Mapped(s.path))
	if err != nil {
		return err
	}
	r.files = append(r.files, s.file)
	s.head, err = safetensors.Read(s.file, int64(s.file.Size()))
	if errors.Is(err, ErrCorrupt) {
		return s.hint(err)
	}
	return err
}

// hint adds to an error of the header which other format the file may have.
func (s *shard) hint(err error) error {
	var start [6]byte
	n, _ := s.file.ReadAt(start[:], 0)
	if hint := fileformat.Foreign(start[:n]); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}

// find records the entries of the index's tensors in a shard. It returns ErrCorrupt for a tensor
// that the index lists in another shard, and ignores tensors that the index does not have.
func (r *reader) find(s *shard, name string) error {
	for i := range s.head.Entries {
		e := &s.head.Entries[i]
		in, ok := r.index[e.Name]
		if ok && in != name {
			return fileformat.Failed("open", s.path, e.Name, corrupt("got it here too, want it only in %s as in the index", errtext.Quote(in)))
		}
		if ok {
			r.found[e.Name] = e
		}
	}
	return nil
}

// tensor returns a tensor of a shard. It does not read elements.
func (s *shard) tensor(e *safetensors.Entry, rawFloat8 bool) (*tensor.Tensor, error) {
	if e == nil {
		return nil, corrupt("got no such tensor, which the index lists here")
	}
	dtype, err := dtypeOf(e.DType, rawFloat8)
	if err != nil {
		return nil, err
	}
	begin := int(s.head.DataStart + e.Begin)
	part, err := s.file.Lend(e.Name, begin, int(e.End-e.Begin))
	if err != nil {
		return nil, err
	}
	t, err := tensor.FromLender(dtype, part, begin, e.Shape...)
	if err != nil { // a size of 0, and other sizes whose product is too large
		err = unsupported("%w", err)
	}
	return t, err
}
