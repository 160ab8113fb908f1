package memmap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// Save writes td to the directory or file dir, which it creates or replaces as a whole. It is
// [SaveWith] without options: a Dataset keeps its schema.
func Save(dir string, td tdict.Dictionary) error {
	return SaveWith(context.Background(), dir, td, SaveOptions{})
}

// SaveOptions are the options of [SaveWith]. The zero value is the default.
type SaveOptions struct {
	// Container is the form to save. By default it is the form of the dictionary that is replaced.
	// If nothing is there, it is an archive for a name that ends in .tdz, a consolidated file for
	// .tdc, and otherwise a directory. SaveWith returns fs.ErrExist if a dictionary of another form
	// is there.
	Container Container
	// Compress compresses the leaves of an archive. They cannot be mapped then, and are read into
	// memory when they are first used. With any other form, SaveWith returns [ErrUnsupported].
	Compress bool
	// Progress, if not nil, is called after each leaf, and after each [BlockSize] bytes of a longer
	// leaf, with the bytes of leaves written so far and the total, by one goroutine at a time.
	Progress func(done, total int64)
	// Workers is how many leaves are written at a time; 0 means GOMAXPROCS. Up to 16 files are
	// synced to the disk at a time, whatever Workers is.
	Workers int
	// NoSync does not wait for the disk. If the process ends at any time, the directory holds all
	// of the old dictionary or all of the new one. If the machine stops within about half a minute,
	// the directory may hold neither.
	NoSync bool
	// NoReplace replaces nothing. SaveWith returns fs.ErrExist if anything is at dir, even an empty
	// directory, when it begins or when it is done. If several processes save there at the same
	// time, one succeeds. Systems other than Linux, and some network file systems, may replace an
	// empty directory that is made while the new one is renamed.
	NoReplace bool
	// NoClass saves dictionaries without their classes. Python loads a dictionary with a class only
	// after the program has imported the class, and if the class has a field for each entry.
	NoClass bool
	// SkipSums saves the elements of mapped leaves as they are. By default, SaveWith compares their
	// checksums while it reads them, and returns [ErrCorrupt] if they differ.
	SkipSums bool
	// Schema, if not nil, is saved too, and [Dataset.Schema] returns it. If it is nil and SaveWith
	// gets a Dataset, its schema is saved; pass its TensorDict to save none. SaveWith returns
	// tdict.ErrSchema if the dictionary breaks it, and Open returns ErrCorrupt if the saved one
	// does. Python ignores it.
	Schema tdict.Schema
}

// SaveWith writes td to dir in the form of [SaveOptions.Container]. If it returns nil, dir holds
// td, durably. After an error that is [ErrDone], dir holds td; after another error, the old
// dictionary. After a crash at any time, it holds all of one of the two. td may have been opened
// from dir.
//
// dir must be absent, empty, or a whole saved dictionary, which is replaced unless
// [SaveOptions.NoReplace] is set. Anything else is [ErrForeign], as are other files in dir, and a
// dir within a saved dictionary: save that one as a whole, or add to it with [Dataset.AddLeaf]. No
// other process may put files into dir meanwhile. The package documentation says more: see Saving.
//
// SaveWith returns
//
//   - [ErrName] for a key that the form has no name for, and [ErrUnsupported] for a value that it
//     does not hold, such as tdict.Data that Python would read back as something else; FORMAT.md
//     lists both
//   - [ErrBusy] if a [Writer] is at work in dir, if another save is replacing what a Writer left
//     unfinished, or if another process has been replacing dir for ten seconds
//   - [ErrCorrupt] if a mapped leaf differs from its checksums, and [ErrFault] if its file was
//     truncated
//   - tdict.ErrSchema if td breaks opt.Schema, tdict.ErrKind if td is nil, and shapeops.ErrShape if
//     a shape has more than 64 dims
//   - fs.ErrExist if a dictionary of another form is at dir
//   - fs.ErrInvalid if dir is "", or if the working directory is dir or a directory below it
//   - the error of ctx if ctx ends first
func SaveWith(ctx context.Context, dir string, td tdict.Dictionary, opt SaveOptions) error {
	if ds, ok := td.(*Dataset); ok && opt.Schema == nil {
		opt.Schema = ds.Schema()
	}
	return newSaver(ctx, dir, opt).save(tdict.Of(td))
}

// newSaver returns a saver with the given options.
func newSaver(ctx context.Context, dir string, opt SaveOptions) *saver {
	s := &saver{op: "save", ctx: ctx, dir: dir, opt: opt}
	if opt.NoReplace {
		s.may = replaceNothing
	}
	return s
}

// save saves td in the form of the options.
func (s *saver) save(td *tdict.TensorDict) error {
	if err := s.check(td); err != nil {
		return err
	}
	if s.opt.NoClass {
		td = td.Copy()
		if err := withoutClass(td); err != nil {
			return s.fail("", err)
		}
	}
	s.compare(td)
	defer s.compared.end()
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
	old, at, err := s.lookAt()
	if err != nil {
		return err
	}
	defer old.unlock()
	k, err := s.beside(vfs.OS, at, old, td)
	if err != nil {
		return err
	}
	return s.fail("", k.commit())
}

// check returns an error if no td, or not this td, can be saved.
func (s *saver) check(td *tdict.TensorDict) error {
	if !cast.LittleEndian() {
		return fmt.Errorf("%s: %w on a big-endian machine", s.op, errors.ErrUnsupported)
	}
	if td == nil {
		return s.fail("", fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind))
	}
	return nil
}

// compare makes reads of td compare sums until s.compared ends, unless the options say not to.
func (s *saver) compare(td *tdict.TensorDict) {
	if !s.opt.SkipSums {
		s.compared.add(td)
	}
}

// lookAt returns the path to save to, and the tree that is there, which the caller unlocks.
func (s *saver) lookAt() (old *oldTree, at string, err error) {
	if at, err = vfs.Resolve(s.dir); err != nil {
		return nil, "", s.fail("", err)
	}
	if old, err = s.may.look(at); err != nil {
		return nil, "", s.fail("", err)
	}
	if err = makeParent(at); err != nil {
		old.unlock()
		return nil, "", s.fail("", err)
	}
	return old, at, nil
}

// beside writes td to a directory beside dir on a disk. The returned sink can commit it.
func (s *saver) beside(disk vfs.FS, dir string, old *oldTree, td *tdict.TensorDict) (*dirSink, error) {
	if err := s.plan(td); err != nil {
		return nil, err
	}
	if s.from != nil {
		if err := s.from.linkFiles(s); err != nil {
			return nil, s.fail("", err)
		}
	}
	k := &dirSink{disk: disk, dir: dir, noSync: s.opt.NoSync, may: s.may}
	return k, s.fail("", k.make(s.ctx, old, s.write))
}

// plan plans the nodes and files of td.
func (s *saver) plan(td *tdict.TensorDict) error {
	if err := td.Ops().(namesChecker).CheckNames(); err != nil {
		return err
	}
	if err := s.dict(&savedNode{}, td, 0); err != nil {
		return err
	}
	return s.keepSchema(td)
}

// A namesChecker returns an error if inner dictionaries could not take the dim names of the outer
// ones.
type namesChecker interface{ CheckNames() error }

// A saver writes one dictionary. First it plans all nodes and files, which checks every name and
// shape. Then it writes them.
type saver struct {
	op, dir string // for errors
	ctx     context.Context
	opt     SaveOptions
	may     replacing
	create  *CreateOptions // if not nil, files of rows are reserved, as zeros, and not written
	from    *Writer        // if not nil, it has the files of the leaves

	compared comparer // of what is saved

	nodes []*savedNode
	files []*savedFile
	total int64     // bytes of all leaves
	time  time.Time // of the entries of an archive; the zero time means now

	nested map[*ragged.Layout]*components // of leaves that Python has as nested tensors, for Copy

	mu   sync.Mutex
	done int64 // bytes reported to Progress, guarded by mu
}

// A savedNode is a directory to be made, after the one around it.
type savedNode struct {
	at    string            // path below the top, with slashes
	meta  *meta             // of a dictionary; its entries are complete once all files are written
	text  []byte            // of other nodes: the meta.json
	taken map[string]string // names of entries by their file names
}

func (n *savedNode) leaf(name string) string { return path.Join(n.at, fileName(name)+leafExt) }

// claim takes the file name of an entry, and returns the path of the file.
func (n *savedNode) claim(name, ext string) (at string, err error) {
	if at, err = n.claimFile(name, ext); err == nil && pool.Reserved(name) {
		err = fmt.Errorf("%w: %s: the format uses the name for a part of a ragged tensor", ErrName, quote(name))
	}
	return at, err
}

// claimFile is claim for a name that a part of a ragged tensor may have.
func (n *savedNode) claimFile(name, ext string) (at string, err error) {
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

// claimNode claims the directory of an entry of n, and returns its node.
func (s *saver) claimNode(n *savedNode, name string) (*savedNode, error) {
	at, err := n.claim(name, "")
	return &savedNode{at: at}, s.fail(at, err)
}

// nameClash returns why an entry cannot be saved in a file, beside the taken names; "" if it can.
func nameClash(name, file string, taken map[string]string) string {
	other, clash := taken[file]
	switch {
	case reserved(name):
		return "the format has a field of that name"
	case file == metaName || file == lockName || file == tempMeta || file == addingName || vfs.Reserved(file):
		return "the format has a file of that name"
	case clash:
		return "the entry " + quote(other) + " has the same file name"
	case len(file) > maxName:
		return fmt.Sprintf("got a file name of %d bytes, want at most %d", len(file), maxName)
	}
	return ""
}

// A savedFile is the file of a leaf.
type savedFile struct {
	at       string
	bytes    int64
	pad      int64     // zeros that follow, which have no meaning and no sums
	sums     *[]uint32 // set when it is written
	write    func(io.Writer) error
	from     *existing // if not nil, a file with the content, and write is nil
	part     string    // the part of a ragged tensor that it is; otherwise ""
	shared   bool      // all rows share its elements
	reported int64     // bytes reported to Progress
}

// ofRows reports whether f has elements of rows, rather than facts about all rows.
func (f *savedFile) ofRows() bool { return f.part == pool.Values || f.part == "" && !f.shared }

// add adds a file to the plan.
func (s *saver) add(f *savedFile) {
	s.files = append(s.files, f)
	s.total += f.bytes
}

func (s *saver) fail(at string, err error) error { return fileError(s.op, s.dir, at, err) }

// syncsAtOnce is how many files are synced to the disk at a time.
const syncsAtOnce = 16

// write writes the planned nodes and files.
func (s *saver) write(k *dirSink) error {
	for _, n := range s.nodes {
		if n.at == "" { // dirSink.make has made it
			continue
		}
		if err := k.node(n.at); err != nil {
			return s.fail(n.at, err)
		}
	}
	gate := make(chan struct{}, max(1, workers.Count(s.opt.Workers, len(s.files))))
	atOnce := max(syncsAtOnce, workers.Count(s.opt.Workers, len(s.files)))
	for _, last := range []bool{false, true} { // row numbers have a tag made of the sums of the others
		files := slices.DeleteFunc(slices.Clone(s.files), func(f *savedFile) bool { return (f.part == pool.Row) != last })
		err := workers.Do(s.ctx, len(files), atOnce, func(i int) error { return s.file(k, files[i], gate) })
		if err != nil {
			return err
		}
	}
	err := workers.Do(s.ctx, len(s.nodes), syncsAtOnce, func(i int) error { return s.node(k, s.nodes[i]) })
	if err != nil {
		return err
	}
	return workers.Do(s.ctx, len(s.nodes), syncsAtOnce, func(i int) error {
		return s.fail(s.nodes[i].at, k.seal(s.nodes[i].at))
	})
}

// file writes the file of a leaf, and syncs it. gate bounds how many goroutines write at a time;
// more may wait for the disk.
func (s *saver) file(k *dirSink, f *savedFile, gate chan struct{}) error {
	done := func() error { return k.take(f.from, f.at) }
	var err error
	if f.from == nil {
		done, err = s.fill(k, f, gate)
	}
	if err == nil {
		err = done()
	}
	if err != nil {
		return s.fail(f.at, err)
	}
	s.progress(f, f.bytes)
	return nil
}

// fill creates and writes the file of a leaf.
func (s *saver) fill(k *dirSink, f *savedFile, gate chan struct{}) (syncClose func() error, err error) {
	gate <- struct{}{}
	defer func() { <-gate }()
	return k.file(f.at, func(w vfs.File) error {
		if s.create != nil && f.ofRows() {
			if !s.create.NoSums {
				*f.sums = []uint32{} // void
			}
			return w.Reserve(f.bytes + f.pad)
		}
		sum := tdc.Summer{W: w}
		err := f.write(&leafWriter{&sum, s, f, 0})
		if *f.sums = sum.Sums(); err == nil && f.pad > 0 {
			err = w.Extend(f.bytes + f.pad)
		}
		return err
	})
}

// A leafWriter writes the file of a leaf, and reports progress. It writes in small pieces, so that
// the bytes are still in the cache after they were summed.
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
		if l.n-l.f.reported >= BlockSize && l.n < l.f.bytes {
			l.s.progress(l.f, l.n)
		}
	}
	return n, err
}

// progress reports that the first n bytes of f are written.
func (s *saver) progress(f *savedFile, n int64) {
	if s.opt.Progress == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, f.reported = s.done+n-f.reported, n
	s.opt.Progress(s.done, s.total)
}

// node writes the meta.json of a node.
func (s *saver) node(k *dirSink, n *savedNode) error {
	at := path.Join(n.at, metaName)
	text, err := n.metaText()
	if err != nil {
		return s.fail(at, err)
	}
	return s.fail(at, k.wholeFile(at, func(w vfs.File) error { _, err := w.Write(text); return err }))
}

// metaText returns the text of the meta.json of a node.
func (n *savedNode) metaText() ([]byte, error) {
	text := n.text
	if n.meta != nil {
		text = withMetaSum(n.meta.appendTo(nil))
	}
	if len(text) > maxMeta {
		return nil, fmt.Errorf("%w: got %d bytes of names and shapes, want at most %d", ErrName, len(text), maxMeta)
	}
	return text, nil
}
