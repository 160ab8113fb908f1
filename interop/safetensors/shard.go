package safetensors

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/safetensors"
)

// maxIdle is how many shards may keep a descriptor until they are mapped.
const maxIdle = 100

// A shard is a file that holds tensors: the only one, or one of a set.
type shard struct {
	path    string
	file    *mapfile.Single
	head    *safetensors.Header
	entries map[string]*safetensors.Entry // of head, by name
}

// shard returns the shard of that name in the index, "" for the single file, and opens it if it is
// not open.
func (r *reader) shard(name string) (*shard, error) {
	if s := r.shards[name]; s != nil {
		return s, nil
	}
	s := &shard{path: r.path}
	if r.index != nil {
		s.path = filepath.Join(filepath.Dir(r.path), filepath.FromSlash(name))
	}
	err := r.open(s)
	if err == nil {
		err = r.checkListed(s, name)
	}
	if err == nil && len(r.files) > maxIdle {
		err = s.file.Map()
	}
	r.shards[name] = s
	return s, fileError("open", s.path, "", err)
}

// open opens a shard and reads its header.
func (r *reader) open(s *shard) error {
	if !cast.LittleEndian() {
		return fmt.Errorf("%w on a big-endian machine", errors.ErrUnsupported)
	}
	var err error
	s.file, err = openSingle(s.path)
	if err != nil {
		return err
	}
	r.files = append(r.files, s.file)
	s.head, err = safetensors.Read(s.file, int64(s.file.Size()))
	if err != nil {
		return err
	}
	s.entries = make(map[string]*safetensors.Entry, len(s.head.Entries))
	for i := range s.head.Entries {
		e := &s.head.Entries[i]
		s.entries[e.Name] = e
	}
	return nil
}

func openSingle(path string) (*mapfile.Single, error) {
	return mapfile.OpenSingle(path, func(op, part string, err error) error { return mappedError(op, path, part, err) })
}

// checkListed returns ErrCorrupt if a shard holds a tensor that the index has elsewhere. One that
// the index does not have is passed over.
func (r *reader) checkListed(s *shard, name string) error {
	for i := range s.head.Entries {
		e := s.head.Entries[i].Name
		if in, ok := r.index[e]; ok && in != name {
			return fileError("open", s.path, e, corrupt("got it here too, want it only in %s, as the index says", errtext.Quote(in)))
		}
	}
	return nil
}
