package memmap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
)

// VerifyOptions say how [Verify] goes about it. The zero value is the default.
type VerifyOptions struct {
	// Workers is how many blocks are read at a time; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after each block with the bytes read, and of all leaves, by
	// one goroutine at a time.
	Progress func(done, total int64)
	// MaxEntries and MaxCopy are those of [OpenOptions].
	MaxEntries int
	MaxCopy    int64
}

// A Report is what [Verify] found.
type Report struct {
	Leaves   int             // leaves that have elements
	Bytes    int64           // of their elements
	Unsummed []nestedkey.Key // leaves that were read, but have no checksums to compare
	Faults   []Fault         // all that is wrong, in the order of the entries
}

// A Fault is one thing that is wrong with a saved dictionary.
type Fault struct {
	Key   nestedkey.Key // of the leaf or dictionary; "" for the whole
	File  string        // relative to the directory, or in the archive, with slashes
	Block int           // which block of [BlockSize] bytes of a leaf, from 0; -1 if it is not about one
	Err   error         // what is wrong: mostly ErrCorrupt
}

// String returns a line that says it all.
func (f Fault) String() string {
	text := quote(string(f.Key)) + ": " + printable(f.File)
	if f.Block >= 0 {
		text += fmt.Sprintf(": block %d", f.Block)
	}
	return errtext.Cut(fmt.Sprintf("%s: %v", text, f.Err), maxText)
}

// BlockSize is how many bytes of a leaf have a checksum of their own; the last block may be
// shorter.
const BlockSize = blockBytes

// Verify reads all of the dictionary at dir, a directory or a file, compares each block of each
// leaf with its checksum, and reports every fault: blocks that were changed or damaged, files that
// are missing or too short, what is wrong in a meta.json. It does not stop at the first. Checksums
// are those of Save, [Writer] and [Dataset.Flush]; leaves that Python has saved have none, nor have
// those of a dictionary that is open to be written, and those that Python has written to through
// its own mapping do not agree with theirs any more. Offsets of ragged rows are read and compared
// on the way to the leaves, as Open does. Data and meta.json have none: of them only what cannot be
// read is found. In an archive each file is compared with the CRC-32 of its entry: the whole file
// is one block, and its faults have the Block -1. In a consolidated file blocks are of all its
// data, whatever leaves they have, and their faults have no key.
//
// If there is a fault, the error is a [FileError] about the first. Else it is nil, or that of ctx,
// or what kept Verify from looking at all: then there is no report.
func Verify(ctx context.Context, dir string, opt VerifyOptions) (*Report, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("verify: %w on a big-endian machine", errors.ErrUnsupported)
	}
	at, err := vfs.Absolute(dir)
	if err != nil {
		return nil, fileError("verify", dir, "", err)
	}
	for try := 0; ; try++ {
		p := &place{op: "verify", dir: dir, at: at, opt: OpenOptions{MaxEntries: opt.MaxEntries, MaxCopy: opt.MaxCopy}}
		in, err := p.container(nil)
		if err != nil {
			return nil, err
		}
		v := &verifier{reader: reader{place: p, in: in, faults: &collector{}}, ctx: ctx, opt: opt}
		report, err := v.run()
		replaced, _ := in.Replaced()
		_ = in.Close() // it was only read
		if !replaced || report == nil || len(report.Faults) == 0 && err == nil || try == 10 {
			return report, err
		}
	}
}

// A verifier reads one dictionary.
type verifier struct {
	reader
	ctx    context.Context
	opt    VerifyOptions
	blocks []block

	mu      sync.Mutex
	report  Report
	damaged []error // by block; nil for most
	done    int64
}

// A block is a part of a leaf that has a sum of its own.
type block struct {
	leaf   *leafFile
	number int
	start  int64
	size   int64
}

func (v *verifier) run() (*Report, error) {
	if _, err := v.top(); err != nil {
		v.faults.add(err)
	}
	v.listBlocks()
	if err := v.read(); err != nil {
		return nil, v.failAt("", err)
	}
	v.report.Faults = append(v.faults.faults, v.confirmed()...)
	return &v.report, v.verdict()
}

// verdict returns the first fault as an error.
func (v *verifier) verdict() error {
	if len(v.report.Faults) == 0 {
		return nil
	}
	first := v.report.Faults[0]
	err := first.Err
	if n := len(v.report.Faults) - 1; n > 0 {
		err = fmt.Errorf("%w (and %d more)", err, n)
	}
	return fileError("verify", v.dir, first.File, err)
}

// cut lists the blocks of all leaves.
func (v *verifier) listBlocks() {
	if c, ok := v.in.(*consolidated); ok {
		v.listFileBlocks(c)
		return
	}
	for _, l := range v.reader.files {
		size := int64(l.file.Size())
		v.report.Leaves, v.report.Bytes = v.report.Leaves+1, v.report.Bytes+size
		if _, ok := l.file.(zipped); ok { // which has one sum for all of it
			v.blocks = append(v.blocks, block{l, -1, 0, size})
			continue
		}
		if len(l.sums) == 0 {
			l.sums = nil
			v.report.Unsummed = append(v.report.Unsummed, l.key)
		} else if want := int((size + blockBytes - 1) / blockBytes); len(l.sums) != want {
			v.faults.faults = append(v.faults.faults, Fault{l.key, path.Join(l.node.path, metaName), -1,
				corrupt("got %d sums for %s, want %d", len(l.sums), quote(l.name), want)})
			l.sums = nil
		}
		for n, start := 0, int64(0); start < size; n, start = n+1, start+blockBytes {
			v.blocks = append(v.blocks, block{l, n, start, min(blockBytes, size-start)})
		}
	}
	v.damaged = make([]error, len(v.blocks))
}

// cutFile lists the blocks of a consolidated file, unless it cannot be read.
func (v *verifier) listFileBlocks(c *consolidated) {
	if v.faults.number() > 0 {
		return
	}
	for _, l := range v.reader.files {
		v.report.Leaves++
		if c.form.Facts.Sums == nil {
			v.report.Unsummed = append(v.report.Unsummed, l.key)
		}
	}
	v.report.Bytes, v.blocks = int64(c.form.Size()), c.blocks()
	v.damaged = make([]error, len(v.blocks))
}

// read reads all blocks.
func (v *verifier) read() error {
	buffers := sync.Pool{New: func() any { b := make([]byte, 1<<18); return &b }}
	return workers.Do(v.ctx, len(v.blocks), v.opt.Workers, func(i int) error {
		b, buf := v.blocks[i], buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		v.damaged[i] = v.check(b, *buf)
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.done += b.size; v.opt.Progress != nil {
			v.opt.Progress(v.done, v.report.Bytes)
		}
		return nil
	})
}

// check reads a block and compares its sum.
func (v *verifier) check(b block, buf []byte) error {
	if l, ok := b.leaf.file.(zipped); ok {
		return l.verify(buf)
	}
	got, err := v.sum(b, buf)
	if err != nil || b.leaf.sums == nil {
		return err
	}
	if want := b.leaf.sums[b.number]; got != want {
		return &mismatch{got, want}
	}
	return nil
}

// A zipped is a leaf in an archive.
type zipped interface{ verify(buf []byte) error }

// A mismatch is a block whose sum is not the one in meta.json.
type mismatch struct{ got, want uint32 }

// Error returns the text, with both sums.
func (m *mismatch) Error() string {
	return fmt.Sprintf("%v: changed or damaged: got CRC-32C %08x, want %08x", ErrCorrupt, m.got, m.want)
}

// Unwrap returns [ErrCorrupt].
func (m *mismatch) Unwrap() error { return ErrCorrupt }

// settled returns the faults of blocks, but for those whose sums were changed while they were read:
// a writer came between meta.json and the leaf. Each meta.json is read once more at most.
func (v *verifier) confirmed() []Fault {
	var faults []Fault
	now := map[*leafNode]map[string][]uint32{}
	for i, err := range v.damaged {
		b := v.blocks[i]
		if m, ok := err.(*mismatch); ok && b.leaf.node != nil {
			sums, read := now[b.leaf.node]
			if !read {
				sums = v.sumsNow(b.leaf.node)
				now[b.leaf.node] = sums
			}
			if is := sums[b.leaf.name]; sums != nil && (b.number >= len(is) || is[b.number] != m.want) {
				continue
			}
		}
		if err != nil {
			faults = append(faults, Fault{b.leaf.key, b.leaf.file.Path(), b.number, bare(err)})
		}
	}
	return faults
}

func (v *verifier) sum(b block, buf []byte) (uint32, error) {
	if c, ok := v.in.(*consolidated); ok {
		return c.sum(b, buf)
	}
	f, err := b.leaf.disk().Open()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var s summer
	for left, at := b.size, b.start; left > 0; {
		n, err := f.ReadAt(buf[:min(left, int64(len(buf)))], at)
		s.add(buf[:n])
		left, at = left-int64(n), at+int64(n)
		if err == io.EOF && left > 0 {
			return 0, corrupt("got %d bytes, want %d", at, b.start+b.size)
		}
		if err != nil && err != io.EOF {
			return 0, err
		}
	}
	return s.sums()[0], nil
}

// sumsNow returns the sums that the meta.json of a node has for its leaves now, or nil if it cannot
// be read.
func (v *verifier) sumsNow(n *leafNode) map[string][]uint32 {
	m, err := metaNow(v.in.(*mapfile.Set), n)
	if err != nil {
		return nil
	}
	sums := map[string][]uint32{}
	for i := range m.entries {
		sums[m.entries[i].name] = m.entries[i].fact.sums
	}
	return sums
}
