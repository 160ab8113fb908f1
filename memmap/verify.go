package memmap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// VerifyOptions are the options of [Verify]. The zero value is the default.
type VerifyOptions struct {
	// Workers is how many blocks are read at a time; 0 means GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after each block with the bytes read so far and the total, by
	// one goroutine at a time.
	Progress func(done, total int64)
	// MaxEntries and MaxCopy are as in [OpenOptions].
	MaxEntries int
	MaxCopy    int64
	// SkipPickled does not report entries that Python has pickled as damage.
	SkipPickled bool
}

// A Report is the result of [Verify].
type Report struct {
	Leaves   int             // number of leaves that have elements
	Bytes    int64           // total size of their elements
	Unsummed []nestedkey.Key // leaves without checksums, which were read but not compared
	Damage   []Damage        // in the order of the entries
}

// Damage is one thing that is wrong with a saved dictionary.
type Damage struct {
	Key   nestedkey.Key // the damaged leaf or dictionary; "" for the whole saved dictionary
	File  string        // slash-separated path, relative to the directory or archive
	Block int           // number, from 0, of the block of [BlockSize] bytes; -1 for other damage
	Err   error         // usually an ErrCorrupt
}

// String returns the key, file, block and error on one line.
func (d Damage) String() string {
	text := quote(string(d.Key)) + ": " + printable(d.File)
	if d.Block >= 0 {
		text += fmt.Sprintf(": block %d", d.Block)
	}
	return errtext.Cut(fmt.Sprintf("%s: %v", text, d.Err), maxText)
}

// BlockSize is the size of a block: the bytes of a leaf that have one checksum. The last block of a
// leaf may be shorter.
const BlockSize = tdc.BlockSize

// Verify reads all of the dictionary at dir, a directory or a file, compares each block of each
// leaf with its checksum, and reports all damage: changed blocks, files that are
// missing or too short, errors in a meta.json. It does not stop at the first.
//
// [Save], [Writer] and [Dataset.Close] compute the checksums:
//
//   - Leaves that Python has saved have none. The checksums of leaves that are being written are
//     void, and stay so if Close does not compute them: see [SealWritten].
//   - Leaves that Python has written through its own mapping differ from their checksums.
//   - Lengths and row numbers of ragged tensors are read and compared before the leaves, as Open
//     does.
//   - Each meta.json is compared with its checksum, as by Open, and data with theirs.
//   - In an archive, each file is compared with the CRC-32 of its entry. The whole file is one
//     block, and its Damage has the Block -1.
//   - In a consolidated file a block may span several leaves, so the Damage of a block has an
//     empty Key.
//
// A byte of a bool leaf that is neither 0 nor 1 is damage, too.
//
// If there is damage, Verify returns the report, and a [DatasetError] about the first of it. If ctx
// ends, or if dir cannot be opened at all, Verify returns that error and no report.
func Verify(ctx context.Context, dir string, opt VerifyOptions) (*Report, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("verify: %w on a big-endian machine", errors.ErrUnsupported)
	}
	at, err := vfs.Absolute(dir)
	if err != nil {
		return nil, fileError("verify", dir, "", err)
	}
	for try := 0; ; try++ {
		p := &opening{op: "verify", dir: dir, at: at, opt: OpenOptions{MaxEntries: opt.MaxEntries, MaxCopy: opt.MaxCopy, SkipPickled: opt.SkipPickled}}
		in, err := p.container(nil)
		if err != nil {
			return nil, err
		}
		v := &verifier{reader: reader{opening: p, in: in, damage: &collector{}, layouts: &pool.Layouts{}}, ctx: ctx, opt: opt}
		report, err := v.run()
		replaced, _ := in.Replaced()
		_ = in.Close() // nothing was written
		if !replaced || report == nil || len(report.Damage) == 0 && err == nil || try == 10 {
			return report, err
		}
	}
}

// A verifier verifies one dictionary.
type verifier struct {
	reader
	ctx    context.Context
	opt    VerifyOptions
	blocks []block

	mu      sync.Mutex
	report  Report
	damaged []error // for each block; nil for a sound one
	done    int64
}

// A block is a part of a leaf that has one sum.
type block struct {
	leaf   *leafFile
	number int
	start  int64
	size   int64
}

func (v *verifier) run() (*Report, error) {
	td, err := v.top()
	if err != nil {
		v.damage.add(err)
	}
	v.listBlocks()
	if err := v.read(); err != nil {
		return nil, v.failAt("", err)
	}
	v.report.Damage = append(v.damage.all, v.confirmed()...)
	if td != nil {
		eachMapped("", td, v.bools)
	}
	return &v.report, v.verdict()
}

// bools adds Damage for a leaf that has a byte that is not a bool.
func (v *verifier) bools(key nestedkey.Key, x *tensor.Tensor, file lender) {
	if x.DType() != tensor.Bool {
		return
	}
	_, err := bundle.Write(io.Discard, x)
	if _, other := errors.AsType[*DatasetError](err); errors.Is(err, ErrCorrupt) && !other { // damaged blocks are listed
		v.report.Damage = append(v.report.Damage, Damage{key, file.Path(), -1, err})
	}
}

// verdict returns an error about the first damage.
func (v *verifier) verdict() error {
	if len(v.report.Damage) == 0 {
		return nil
	}
	first := v.report.Damage[0]
	err := first.Err
	switch err.(type) {
	case *mismatch, *zipMismatch:
		err = sealable(err)
	}
	if n := len(v.report.Damage) - 1; n > 0 {
		err = fmt.Errorf("%w (and %d more)", err, n)
	}
	return fileError("verify", v.dir, first.File, err)
}

// listBlocks lists the blocks of all leaves.
func (v *verifier) listBlocks() {
	if c, ok := v.in.(*consolidated); ok {
		v.listFileBlocks(c)
		return
	}
	for _, l := range v.reader.files {
		size := int64(l.file.Size())
		v.report.Leaves, v.report.Bytes = v.report.Leaves+1, v.report.Bytes+size
		if _, ok := l.file.(zipped); ok { // a leaf in an archive has one sum
			v.blocks = append(v.blocks, block{l, -1, 0, size})
			continue
		}
		if len(l.sums) == 0 {
			l.sums = nil
			v.report.Unsummed = append(v.report.Unsummed, l.key)
		} else if want := int((size + BlockSize - 1) / BlockSize); len(l.sums) != want {
			v.damage.all = append(v.damage.all, Damage{l.key, path.Join(l.node.path, metaName), -1,
				corrupt("got %d checksums for %s, want %d", len(l.sums), quote(l.name), want)})
			l.sums = nil
		}
		for n, start := 0, int64(0); start < size; n, start = n+1, start+BlockSize {
			v.blocks = append(v.blocks, block{l, n, start, min(BlockSize, size-start)})
		}
	}
	v.damaged = make([]error, len(v.blocks))
}

// listFileBlocks lists the blocks of a consolidated file, unless reading it has found damage.
func (v *verifier) listFileBlocks(c *consolidated) {
	if v.damage.number() > 0 {
		return
	}
	for _, l := range v.reader.files {
		v.report.Leaves++
		if c.contents.Facts.Sums == nil {
			v.report.Unsummed = append(v.report.Unsummed, l.key)
		}
	}
	v.report.Bytes, v.blocks = int64(c.contents.Size()), c.blocks()
	v.damaged = make([]error, len(v.blocks))
}

// read reads and checks all blocks.
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

// A mismatch is the error for a block that differs from its sum.
type mismatch struct{ got, want uint32 }

// Error returns the text, with both sums.
func (m *mismatch) Error() string {
	return fmt.Sprintf("%v: %s", ErrCorrupt, sumsText(m.got, m.want))
}

// sumsText returns the text of an error for bytes that differ from their sum.
func sumsText(got, want uint32) string {
	return fmt.Sprintf("changed or damaged: got CRC-32C %08x, want %08x", got, want)
}

// Unwrap returns [ErrCorrupt].
func (m *mismatch) Unwrap() error { return ErrCorrupt }

// confirmed returns the damaged blocks. Blocks that differ are compared once more, see withSums.
func (v *verifier) confirmed() []Damage {
	var damage []Damage
	for i, err := range v.damaged {
		b := v.blocks[i]
		if _, differs := err.(*mismatch); err == nil || differs && b.leaf.node != nil && b.leaf.sound(b.number) {
			continue
		}
		damage = append(damage, Damage{b.leaf.key, b.leaf.file.Path(), b.number, bare(err)})
	}
	return damage
}

func (v *verifier) sum(b block, buf []byte) (uint32, error) {
	if c, ok := v.in.(*consolidated); ok {
		return c.sum(b, buf)
	}
	return b.leaf.sumBlock(b.number, buf)
}

// sumBlock returns the sum of a block of the file.
func (l *leafFile) sumBlock(number int, buf []byte) (uint32, error) {
	f, err := l.disk().Open()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	start := int64(number) * BlockSize
	stop := min(start+BlockSize, int64(l.file.Size()))
	var s tdc.Summer
	for at := start; at < stop; {
		n, err := f.ReadAt(buf[:min(stop-at, int64(len(buf)))], at)
		s.Add(buf[:n])
		at += int64(n)
		if err == io.EOF && at < stop {
			return 0, corrupt("got %d bytes, want %d", at, stop)
		}
		if err != nil && err != io.EOF {
			return 0, err
		}
	}
	return s.Sums()[0], nil
}

// withSums calls fn with the current sums of the leaves in the meta.json of a node, if it can be
// read. A block that differed from its sum may have been read while a writer was at work that came
// after the meta.json was read. While fn runs, meta.json is locked, so that nobody can make sums
// void, and a leaf that has sums is not written. If it cannot be locked, fn is called nevertheless.
func withSums(set *mapfile.Set, n *leafNode, fn func(sums map[string][]uint32)) {
	dir, err := set.OpenDir(n.dir)
	if err != nil {
		return
	}
	defer dir.Close()
	if unlock, err := new(OpenOptions).lockMeta(dir); err == nil {
		defer unlock()
	}
	m, err := nodeIn(dir)
	if err != nil {
		return
	}
	sums := map[string][]uint32{}
	for i := range m.entries {
		sums[m.entries[i].name] = m.entries[i].fact.sums
	}
	fn(sums)
}
