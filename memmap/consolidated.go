package memmap

import (
	"bufio"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// consolidatedExt is the extension of the name of a consolidated file.
const consolidatedExt = ".tdc"

// A consolidated is an opened consolidated file.
type consolidated struct {
	*mapfile.Single
	opening  *opening
	contents *tdc.Contents // nil before read
	sums     *mapfile.Sums // of the blocks of the data; nil before read, or if there are none
}

func (c *consolidated) MapAll() error { return c.Map() }

// consolidated opens a file that is consolidated.
func (p *opening) consolidated(file *mapfile.Single) (*consolidated, error) {
	if p.opt.Writable {
		return nil, toDirectory()
	}
	return &consolidated{Single: file, opening: p}, nil
}

// read reads the dictionary.
func (c *consolidated) read(r *reader) (*tdict.TensorDict, error) {
	err := c.View(func(b []byte) error {
		text, size, _, err := tdc.Cut(b, int64(len(b)))
		if err == nil {
			limits := tdc.Limits{Entries: r.maxEntries(), Take: func(n int64) error { return r.takes(int(n)) }}
			c.contents, err = tdc.Parse(slices.Clone(text), size, limits)
		}
		if err == nil {
			err = c.checkWhole(b[:size], r.damage != nil)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if want := c.contents.Facts.Sums; want != nil {
		differs := func(_ int, got, want uint32) error { return sealable(&mismatch{got, want}) }
		c.sums = &mapfile.Sums{Size: c.contents.Size(), Block: BlockSize, Want: want, Table: tdc.Castagnoli, Differs: differs}
	}
	td, err := c.contents.Dict(tdc.Maker{Tensor: c.tensor, Fixed: true})
	if err != nil {
		return nil, err
	}
	c.note(r, td)
	return td, nil
}

// overwritten bounds the bytes of data that are searched for another trailer when a file is opened.
const overwritten = 1 << 20

// checkWhole returns ErrCorrupt if the trailer of a shorter form lies within the data. Python
// leaves such a file when it overwrites a longer one; the trailer at the end is then the old one.
// Files with checksums are not written by Python, and are not searched. Without all, longer files
// are not searched either.
func (c *consolidated) checkWhole(data []byte, all bool) error {
	if c.contents.Facts.Sums != nil || len(data) > overwritten && !all {
		return nil
	}
	if at := tdc.FindTrailer(data); at >= 0 {
		return corrupt("metadata ends at byte %d, within the data: a shorter consolidated file has overwritten the beginning of this one, so the metadata at the end is out of date", at)
	}
	return nil
}

// tensor returns the tensor of a leaf.
func (c *consolidated) tensor(l *tdc.Leaf) (*tensor.Tensor, error) {
	part, err := c.Lend(string(l.Key), l.Start, l.Size)
	if err != nil {
		return nil, err
	}
	file := &filePart{part, c}
	if c.opening.opt.CheckSums {
		compareIn(file)
	}
	return tensor.FromLender(l.DType, file, l.Start, l.Shape...)
}

// A filePart is a leaf in a consolidated file.
type filePart struct {
	*mapfile.Part
	of *consolidated
}

// note records the leaves and the schema in r.
func (c *consolidated) note(r *reader, td *tdict.TensorDict) {
	top := &leafNode{td: td, schema: c.contents.Facts.Schema}
	r.nodes = []*leafNode{top}
	for _, l := range c.contents.Leaves {
		if l.Size == 0 || !l.Whole {
			continue
		}
		part, _ := c.Lend(string(l.Key), l.Start, l.Size) // tensor has lent it before
		row := everyRow
		if l.Lazy {
			row = someRows
		}
		r.files = append(r.files, &leafFile{file: part, node: top, key: l.Key, unbatched: l.Unbatched, rows: l.Rows, row: row})
	}
}

// blocks returns the blocks of the data.
func (c *consolidated) blocks() []block {
	size := c.contents.Size()
	data, _ := c.Lend("", 0, size) // the form was checked
	all := &leafFile{file: &filePart{data, c}, sums: c.contents.Facts.Sums}
	var blocks []block
	for n, at := 0, 0; at < size; n, at = n+1, at+BlockSize {
		blocks = append(blocks, block{all, n, int64(at), int64(min(BlockSize, size-at))})
	}
	return blocks
}

// sum returns the sum of a block.
func (c *consolidated) sum(b block, buf []byte) (uint32, error) {
	var s tdc.Summer
	_, err := io.CopyBuffer(&s, struct{ io.Reader }{io.NewSectionReader(c.Single, b.start, b.size)}, buf)
	if err != nil {
		return 0, err
	}
	return s.Sums()[0], nil
}

// consolidated writes td to a consolidated file on a disk.
func (s *saver) consolidated(disk vfs.FS, td *tdict.TensorDict) error {
	at, err := s.fileAt()
	if err != nil {
		return err
	}
	facts := &tdc.Facts{}
	if s.opt.Schema != nil {
		if facts.Schema, err = schemaText(s.opt.Schema, td); err != nil {
			return s.fail("", err)
		}
	}
	var p tdc.Plan
	if err := p.Make(td); err != nil {
		return s.fail("", err)
	}
	return s.oneFile(disk, at, func(f vfs.File) error { return s.writeForm(f, &p, facts) })
}

// writeForm writes the form of p and its sums.
func (s *saver) writeForm(f vfs.File, p *tdc.Plan, facts *tdc.Facts) error {
	s.total = int64(p.Size())
	all := &savedFile{bytes: s.total}
	sum := tdc.Summer{W: f}
	w := bufio.NewWriterSize(&leafWriter{&sum, s, all, 0}, 256<<10)
	if err := p.WriteData(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if s.total > 0 {
		s.progress(all, s.total)
	}
	facts.Sums = sum.Sums()
	_, err := f.Write(p.Trailer(facts))
	return err
}

// fileAt returns the path of a file to save to. It must not be within a saved dictionary.
func (s *saver) fileAt() (string, error) {
	at, err := vfs.ResolveFile(s.dir)
	if err != nil {
		return "", s.fail("", err)
	}
	return at, s.fail("", checkAround(at))
}

// oneFile makes or replaces a file. write writes its content.
func (s *saver) oneFile(disk vfs.FS, at string, write func(vfs.File) error) error {
	err := makeParent(at)
	if err == nil {
		err = vfs.SaveFile(s.ctx, disk, at, vfs.FileOptions{NoSync: s.opt.NoSync, NoReplace: s.opt.NoReplace, Check: s.checkFile}, write)
	}
	return s.fail("", err)
}
