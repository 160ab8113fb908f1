package memmap

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/zipfile"
	"github.com/go-tensordict/tensordict/tdict"
)

// archive writes td to an archive on a disk.
func (s *saver) archive(disk vfs.FS, td *tdict.TensorDict) error {
	at, err := s.fileAt()
	if err != nil {
		return err
	}
	if err := s.plan(td); err != nil {
		return err
	}
	return s.oneFile(disk, at, s.pack)
}

// pack writes the planned files as an archive. The CRC-32 of its entry is the only sum of a leaf.
func (s *saver) pack(f vfs.File) error {
	files, err := s.packed()
	if err != nil {
		return err
	}
	if s.time.IsZero() {
		s.time = time.Now()
	}
	w := zipfile.NewWriter(f)
	for _, file := range files { // "@row" comes after the parts whose sums it has
		if err := s.entry(w, file); err != nil {
			return s.fail(file.at, err)
		}
	}
	return w.Close()
}

// entry writes a file as an entry.
func (s *saver) entry(w *zipfile.Writer, f *savedFile) error {
	leaf := strings.HasSuffix(f.at, leafExt)
	h := zipfile.Header{Name: f.at, Modified: s.time, Perm: 0o644, Aligned: leaf, Deflate: leaf && s.opt.Compress}
	return w.Add(h, func(payload io.Writer) error { return s.content(payload, f) })
}

// content writes the content of a file as an entry.
func (s *saver) content(payload io.Writer, f *savedFile) error {
	sum, to := tdc.Summer{W: payload}, payload
	if f.part != "" {
		to = &sum
	}
	err := f.write(&leafWriter{to, s, f, 0})
	if err == nil && f.bytes > 0 {
		s.progress(f, f.bytes)
	}
	if f.part != "" {
		*f.sums = sum.Sums()
	}
	zeros := make([]byte, min(f.pad, 1<<16))
	for left := f.pad; left > 0 && err == nil; left -= int64(len(zeros)) {
		_, err = payload.Write(zeros[:min(left, int64(len(zeros)))])
	}
	return err
}

// packed returns all files in Python's order.
func (s *saver) packed() ([]*savedFile, error) {
	files := slices.Clone(s.files)
	for _, n := range s.nodes {
		at := path.Join(n.at, metaName)
		text, err := n.metaText()
		if err != nil {
			return nil, s.fail(at, err)
		}
		files = append(files, &savedFile{at: at, write: func(w io.Writer) error { _, err := w.Write(text); return err }})
	}
	for _, f := range files {
		if len(f.at) > math.MaxUint16 {
			return nil, s.fail(f.at, fmt.Errorf("%w: got a path of %d bytes, want at most %d", ErrName, len(f.at), math.MaxUint16))
		}
	}
	slices.SortFunc(files, func(a, b *savedFile) int { return comparePacked(a.at, b.at) })
	return files, nil
}

// comparePacked compares two paths by their order in an archive: in each directory first meta.json,
// then the other files by name, then the directories by name.
func comparePacked(a, b string) int {
	for {
		first, more, inA := strings.Cut(a, "/")
		other, rest, inB := strings.Cut(b, "/")
		switch {
		case !inA && inB:
			return -1
		case inA && !inB:
			return 1
		case !inA && (first == metaName) != (other == metaName):
			if first == metaName {
				return -1
			}
			return 1
		case !inA || first != other:
			return cmp.Compare(first, other)
		}
		a, b = more, rest
	}
}
