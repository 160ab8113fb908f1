package safetensors

import (
	"errors"
	"io"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
)

// maxIndex is the largest size of an index in bytes.
const maxIndex = 32 << 20

// An index lists the tensors of a set of files.
type index struct {
	path     string
	names    []string          // of the tensors, in the order of the index
	shards   map[string]string // the file of each tensor
	metadata map[string]string
}

// listSet lists the tensors of the set whose index r.path names.
func (r *reader) listSet() error {
	file, err := mapfile.OpenSingle(r.path, fileformat.Mapped(r.path))
	if err != nil {
		return err
	}
	defer file.Close()
	if file.Size() > maxIndex {
		return unsupported("got an index of %d bytes, want at most %d", file.Size(), maxIndex)
	}
	text, err := io.ReadAll(io.NewSectionReader(file, 0, int64(file.Size())))
	if err != nil {
		return err
	}
	x, err := parseIndex(r.path, text)
	if err != nil {
		return err
	}
	r.index, r.metadata, r.found = x.shards, x.metadata, map[string]*safetensors.Entry{}
	for _, name := range x.names {
		if err := r.list(name, nil); err != nil {
			return err
		}
	}
	return nil
}

// parseIndex parses the text of the index at a path.
func parseIndex(path string, text []byte) (*index, error) {
	if !utf8.Valid(text) {
		return nil, corrupt("not UTF-8")
	}
	x := &index{path: path}
	s := jsonscan.New(text)
	err := s.Object(func(name []byte) error { return x.field(s, string(name)) })
	if err == nil {
		err = s.End()
	}
	if errors.Is(err, jsonscan.ErrSyntax) {
		err = corrupt("%w", err)
	}
	if err == nil && x.shards == nil {
		err = corrupt(`no field "weight_map"`)
	}
	return x, err
}

// field reads a field of an index. It skips unknown fields.
func (x *index) field(s *jsonscan.Scanner, name string) error {
	switch {
	case name == "weight_map" && x.shards == nil:
		x.shards = map[string]string{}
		return s.Object(func(tensor []byte) error { return x.weight(s, string(tensor)) })
	case name == "metadata" && x.metadata == nil && s.Next() == '{':
		x.metadata = map[string]string{}
		return s.Object(func(name []byte) error { return x.text(s, string(name)) })
	case name == "weight_map", name == "metadata" && x.metadata != nil:
		return corrupt("duplicate field %q", name)
	}
	return s.Skip()
}

// weight reads the file of a tensor.
func (x *index) weight(s *jsonscan.Scanner, tensor string) error {
	if _, ok := x.shards[tensor]; ok {
		return &FileError{Op: "open", Path: x.path, Name: tensor, Err: corrupt("duplicate tensor")}
	}
	text, err := s.Text()
	if err != nil {
		return err
	}
	file := string(text)
	if !isShardName(file) {
		return &FileError{Op: "open", Path: x.path, Name: tensor, Err: corrupt("got shard %s, want a file in the directory of the index or below", errtext.Quote(file))}
	}
	x.shards[tensor], x.names = file, append(x.names, tensor)
	return nil
}

// isShardName reports whether name is the clean path of a file in the directory of the index or
// below.
func isShardName(name string) bool {
	return name != "." && name == path.Clean(name) && !strings.ContainsRune(name, 0) && filepath.IsLocal(filepath.FromSlash(name))
}

// text reads a value of the metadata: a string, or JSON.
func (x *index) text(s *jsonscan.Scanner, name string) error {
	if _, ok := x.metadata[name]; ok {
		return corrupt("metadata: duplicate name %s", errtext.Quote(name))
	}
	read := s.Raw
	if s.Next() == '"' {
		read = s.Text
	}
	text, err := read()
	x.metadata[name] = string(text)
	return err
}
