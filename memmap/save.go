package memmap

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// Save writes td to the directory or file dir, which it creates or replaces as a whole. It is
// [SaveWith] without options.
func Save(dir string, td *tdict.TensorDict) error {
	return SaveWith(context.Background(), dir, td, SaveOptions{})
}

// SaveOptions say how [SaveWith] goes about it. The zero value is the default.
type SaveOptions struct {
	// Form says what to save: by default the form of what is replaced, and where nothing is, an
	// archive for a name that ends in .tdz, a consolidated file for .tdc, else a directory. Another
	// form than that of what is there is fs.ErrExist.
	Form Form
	// Compress compresses the leaves of an archive, which then cannot be mapped: they are read into
	// memory when they are first wanted. For a directory it is [ErrUnsupported].
	Compress bool
	// Progress, if not nil, is called after each leaf, and each [BlockSize] bytes of a longer one,
	// with the bytes of leaves written, and of all leaves, by one goroutine at a time.
	Progress func(done, total int64)
	// Workers is how many leaves are written at a time; 0 means GOMAXPROCS. What waits for the disk
	// does so up to 16 files at a time, whatever Workers is.
	Workers int
	// NoSync does not wait for the disk. Whatever happens to the process, the directory holds all
	// of the old or all of the new; if the machine stops within the next half minute or so, it may
	// hold neither.
	NoSync bool
	// NoReplace replaces nothing: SaveWith returns fs.ErrExist if anything is at dir, even an empty
	// directory, when it begins or when it is done. Of several that save there at the same time one
	// succeeds. Systems other than Linux, and some network file systems, may replace an empty
	// directory that is made in the moment in which the new one gets its name.
	NoReplace bool
	// NestedTensors are keys of ragged leaves to be saved in the form of Python's nested tensors,
	// which Python opens as such; other ragged leaves it sees as data that says what they are. They
	// must have one level and a batch shape of one dim. Layouts are not shared with them.
	NestedTensors []nestedkey.Key
	// Schema, if not nil, is saved too: [Dataset.Schema] returns it, and a dataset that breaks it
	// is ErrCorrupt. SaveWith returns tdict.ErrSchema if the dictionary does. Python passes it
	// over.
	Schema tdict.Schema
}

// SaveWith writes td to dir, in the form that [SaveOptions.Form] says. If it returns nil, dir holds
// td, durably; on an error, and after a crash at any moment, dir holds all of what it held before,
// or all of td. td can be one that was opened from dir. Beside each leaf's shape stand checksums of
// its bytes, which [Verify] compares.
//
// dir may hold a saved dictionary, which is replaced unless [SaveOptions.NoReplace] is set, or
// nothing. If it holds files of another kind, or directories without being a dictionary, the error
// is [ErrForeign]; no other process may put files there meanwhile. So it is if dir is an entry of a
// saved dictionary around it, and td has not a batch shape that fits there. Permissions stay what
// they were: of dir, of directories in it, and of leaves. On systems that cannot exchange two
// directories, which are all but Linux, a crash in one short moment leaves the old one beside dir;
// FORMAT.md says where. What saves that were killed left beside dir, the first save of a process
// there removes.
//
// Directories around dir that are not there are made. Of its name only .tdz and .tdc matter:
// "a.npz" becomes a directory.
//
// For an archive the same holds of the one file. Its leaves are written one after the other, with
// no checksums but those of zip. Any other file at dir is ErrForeign, and so is an archive within a
// saved dictionary; what has another form is fs.ErrExist. So it is for a consolidated file, whose
// sums are of its blocks. Its ErrName is for other keys, which FORMAT.md lists, and
// NestedTensors are checked but make no difference.
//
// The error is [ErrName] if a key has no name in the format: "shape", "device", "_type" and "_go"
// at any level, one too long for a file name, two that need the same file, or dictionaries more
// than 256 deep, or a class that would be read as something else. It is tdict.ErrSchema if td
// breaks opt.Schema, shapeops.ErrShape if a shape has more than 64 dims, [ErrUnsupported] for data
// that Python would misread and for ragged rows that cannot be a nested tensor, [ErrBusy] if a
// [Writer] is at work in dir, or another has been replacing it for ten seconds, fs.ErrInvalid if
// dir is empty or holds the working directory, [ErrFault] if a mapped leaf was cut, tdict.ErrKind
// if td is nil or NestedTensors names what is not ragged, tdict.ErrMissing if it names what is not
// there, and ctx's error if that ends first.
func SaveWith(ctx context.Context, dir string, td *tdict.TensorDict, opt SaveOptions) error {
	return newSaver(ctx, dir, opt).save(td)
}

// newSaver returns a saver with the given options.
func newSaver(ctx context.Context, dir string, opt SaveOptions) *saver {
	s := &saver{op: "save", ctx: ctx, dir: dir, opt: opt}
	if opt.NoReplace {
		s.may = replaceNothing
	}
	return s
}

// save saves td, in the form that is wanted.
func (s *saver) save(td *tdict.TensorDict) error {
	if err := s.check(td); err != nil {
		return err
	}
	form, err := s.form()
	if err != nil {
		return s.fail("", err)
	}
	switch form {
	case Archive:
		return s.archive(vfs.OS, td)
	case Consolidated:
		return s.consolidated(vfs.OS, td)
	}
	old, at, err := s.lookAt(td)
	if err != nil {
		return err
	}
	defer old.unlock()
	if openBlocksRename {
		old.unlock()
	}
	k, err := s.beside(vfs.OS, at, old, td)
	if err != nil {
		return err
	}
	return s.fail("", k.commit(td.Shape()))
}

// check returns an error if td cannot be saved at all.
func (s *saver) check(td *tdict.TensorDict) error {
	if !cast.LittleEndian() {
		return fmt.Errorf("%s: %w on a big-endian machine", s.op, errors.ErrUnsupported)
	}
	if td == nil {
		return s.fail("", fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind))
	}
	return nil
}

// lookAt finds out where td is to go, and what it replaces, which the caller unlocks.
func (s *saver) lookAt(td *tdict.TensorDict) (old *oldTree, at string, err error) {
	if err = s.check(td); err != nil {
		return nil, "", err
	}
	if at, err = vfs.Resolve(s.dir); err != nil {
		return nil, "", s.fail("", err)
	}
	if old, err = s.may.look(at, td.Shape()); err != nil {
		return nil, "", s.fail("", err)
	}
	if err = makeParent(at); err != nil {
		old.unlock()
		return nil, "", s.fail("", err)
	}
	return old, at, nil
}

// beside writes td beside a directory of any disk, and returns what puts it there.
func (s *saver) beside(disk vfs.FS, dir string, old *oldTree, td *tdict.TensorDict) (*dirSink, error) {
	if err := s.plan(td); err != nil {
		return nil, err
	}
	if s.from != nil {
		if err := s.from.linkFiles(s); err != nil {
			return nil, s.fail("", err)
		}
	}
	k, err := newDirSink(disk, dir, old, s.opt.NoSync)
	if err != nil {
		return nil, s.fail("", err)
	}
	k.may = s.may
	if err := s.write(k); err != nil {
		return nil, s.fail("", errors.Join(err, k.abort()))
	}
	return k, nil
}

// plan plans all of td.
func (s *saver) plan(td *tdict.TensorDict) error {
	if err := td.Ops().(namesChecker).CheckNames(); err != nil {
		return err
	}
	if err := s.checkNested(td); err != nil {
		return err
	}
	if err := s.dict(&savedNode{}, td, 0); err != nil {
		return err
	}
	return s.keepSchema(td)
}

// A namesChecker returns an error if dictionaries in one could not have the names of dims around
// them.
type namesChecker interface{ CheckNames() error }

// A saver writes one dictionary: first it plans all nodes and files, and so checks every name and
// shape, and then it writes them.
type saver struct {
	op, dir string // for errors
	ctx     context.Context
	opt     SaveOptions
	may     replacing
	reserve bool    // leaves are not written, but made of zeros, if they have rows
	noSums  bool    // these have no sums, rather than void ones
	grow    bool    // a Writer appends to it
	from    *Writer // has the files of leaves, unless it is nil
	checks  *place  // what is copied: leaves that have sums must agree with these; nil if it is not

	nodes []*savedNode
	files []*savedFile
	total int64     // bytes of leaves
	time  time.Time // of the entries of an archive; the zero time stands for now

	nested map[nestedkey.Key]bool     // to be saved as nested tensors
	known  map[*ragged.Layout][]int64 // offsets that were worked out

	mu   sync.Mutex
	done int64 // guarded by mu
}

// A savedNode is a node to be made, after the one around it.
type savedNode struct {
	at    string            // below the top, with slashes
	meta  *meta             // of a dictionary; its entries are complete once all files are written
	text  []byte            // of anything else: meta.json
	taken map[string]string // the names of entries by those of files

	names  []string    // of the entries that lead there
	rows   []savedRows // entries of ragged rows whose offsets are to be saved
	owners owners      // where the offsets are that are saved in it and below
}

func (n *savedNode) leaf(name string) string { return path.Join(n.at, fileName(name)+leafExt) }

// claim takes the file name that an entry needs. It returns the path.
func (n *savedNode) claim(name, ext string) (at string, err error) {
	file := fileName(name) + ext
	if n.taken == nil {
		n.taken = map[string]string{}
	}
	if why := nameClash(name, file, n.taken); why != "" {
		err = fmt.Errorf("%w: %s: %s", ErrName, quote(name), why)
	}
	n.taken[file] = name
	return path.Join(n.at, file), err
}

// claimNode returns the node of an entry of n.
func (s *saver) claimNode(n *savedNode, name string) (*savedNode, error) {
	at, err := n.claim(name, "")
	return &savedNode{at: at, names: append(slices.Clip(n.names), name)}, s.fail(at, err)
}

// nameClash says why an entry cannot be saved in a file, beside those that are taken, or is
// empty.
func nameClash(name, file string, taken map[string]string) string {
	other, clash := taken[file]
	switch {
	case reserved(name):
		return "the format has a field of that name"
	case file == metaName || file == lockName || file == tempMeta || file == addingName || vfs.Reserved(file):
		return "the format has a file of that name"
	case clash:
		return quote(other) + " needs the same file"
	case len(file) > maxName:
		return fmt.Sprintf("got a file name of %d bytes, want at most %d", len(file), maxName)
	}
	return ""
}

// A savedFile is the file of a leaf.
type savedFile struct {
	at     string
	bytes  int64
	sums   *[]uint32 // where its sums go
	write  func(io.Writer) error
	keep   bool        // it is written where others are made of zeros
	from   string      // if not "", a file that has the content, and becomes this one too
	of     fs.FileInfo // of that file
	copied bool        // it does not become this one too, but is copied
	told   int64       // bytes of which Progress knows
}

// add adds a file to what is saved.
func (s *saver) add(f *savedFile) {
	s.files = append(s.files, f)
	s.total += f.bytes
}

func (s *saver) fail(at string, err error) error { return fileError(s.op, s.dir, at, err) }

// syncsAtOnce is how many files wait for the disk at a time.
const syncsAtOnce = 16

// write writes what was planned.
func (s *saver) write(k sink) error {
	for _, n := range s.nodes {
		if err := k.node(n.at); err != nil {
			return s.fail(n.at, err)
		}
	}
	gate := make(chan struct{}, max(1, workers.Count(s.opt.Workers, len(s.files))))
	atOnce := max(syncsAtOnce, workers.Count(s.opt.Workers, len(s.files)))
	err := workers.Do(s.ctx, len(s.files), atOnce, func(i int) error { return s.file(k, s.files[i], gate) })
	if err != nil {
		return err
	}
	err = workers.Do(s.ctx, len(s.nodes), syncsAtOnce, func(i int) error { return s.node(k, s.nodes[i]) })
	if err != nil {
		return err
	}
	return workers.Do(s.ctx, len(s.nodes), syncsAtOnce, func(i int) error {
		return s.fail(s.nodes[i].at, k.seal(s.nodes[i].at))
	})
}

// file writes the file of a leaf, together with no more others than gate lets in, and waits for the
// disk together with more of them.
func (s *saver) file(k sink, f *savedFile, gate chan struct{}) error {
	if f.copied {
		return s.fail(f.at, k.copy(f.from, f.of, f.at))
	}
	if f.from != "" {
		err := k.link(f.from, f.of, f.at)
		if err == nil {
			s.progress(f, f.bytes)
		}
		return s.fail(f.at, err)
	}
	settle, err := s.fill(k, f, gate)
	if err == nil {
		err = settle()
	}
	if err != nil {
		return s.fail(f.at, err)
	}
	s.progress(f, f.bytes)
	return nil
}

// fill makes and writes the file of a leaf.
func (s *saver) fill(k sink, f *savedFile, gate chan struct{}) (settle func() error, err error) {
	gate <- struct{}{}
	defer func() { <-gate }()
	return k.file(f.at, func(w vfs.File) error {
		if s.reserve && !f.keep {
			if !s.noSums {
				*f.sums = []uint32{} // void
			}
			return w.Reserve(f.bytes)
		}
		sum := summer{w: w}
		err := f.write(&leafWriter{&sum, s, f, 0})
		*f.sums = sum.sums()
		return err
	})
}

// A leafWriter writes the file of a leaf, and tells how far it is. It writes so few bytes at a time
// that they are still in the cache after they were summed.
type leafWriter struct {
	w io.Writer
	s *saver
	f *savedFile
	n int64 // bytes written
}

// Write implements io.Writer.
func (l *leafWriter) Write(b []byte) (n int, err error) {
	const piece = 256 << 10
	for n < len(b) && err == nil {
		var m int
		m, err = l.w.Write(b[n:min(len(b), n+piece)])
		n, l.n = n+m, l.n+int64(m)
		if l.n-l.f.told >= blockBytes && l.n < l.f.bytes {
			l.s.progress(l.f, l.n)
		}
	}
	return n, err
}

// progress tells that the first n bytes of a file are written.
func (s *saver) progress(f *savedFile, n int64) {
	if s.opt.Progress == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, f.told = s.done+n-f.told, n
	s.opt.Progress(s.done, s.total)
}

// node writes the meta.json of a node.
func (s *saver) node(k sink, n *savedNode) error {
	at := path.Join(n.at, metaName)
	text, err := n.metaText()
	if err != nil {
		return s.fail(at, err)
	}
	return s.fail(at, wholeFile(k, at, func(w vfs.File) error { _, err := w.Write(text); return err }))
}

// metaText returns the text of the meta.json of a node.
func (n *savedNode) metaText() ([]byte, error) {
	text := n.text
	if n.meta != nil {
		text = n.meta.appendTo(nil)
	}
	if len(text) > maxMeta {
		return nil, fmt.Errorf("%w: got %d bytes of names and shapes, want at most %d", ErrName, len(text), maxMeta)
	}
	return text, nil
}

// blockBytes is how many bytes of a leaf have a sum of their own.
const blockBytes = 64 << 20

// castagnoli is the table of CRC-32C, for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A summer sums what is written to w, block by block.
type summer struct {
	w    io.Writer // or nil
	full []uint32  // of full blocks
	part uint32    // of the bytes after them
	n    int       // how many these are
}

// Write sums p and writes it.
func (s *summer) Write(p []byte) (int, error) {
	s.add(p)
	if s.w == nil {
		return len(p), nil
	}
	return s.w.Write(p)
}

func (s *summer) add(p []byte) {
	for len(p) > 0 {
		n := min(len(p), blockBytes-s.n)
		s.part, s.n = crc32.Update(s.part, castagnoli, p[:n]), s.n+n
		if p = p[n:]; s.n == blockBytes {
			s.full, s.part, s.n = append(s.full, s.part), 0, 0
		}
	}
}

// sums returns the sums of all blocks so far.
func (s *summer) sums() []uint32 {
	sums := append([]uint32{}, s.full...)
	if s.n > 0 {
		sums = append(sums, s.part)
	}
	return sums
}
