package forms

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/splitmix"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// SplitOptions say how [Split] divides rows. Either Fractions or Counts must be given.
type SplitOptions struct {
	Options
	Fractions []float64 // of the rows or groups; their sum is 1; of few groups a part may get none
	Counts    []int     // of rows or groups; their sum is the number of rows or groups
	// Names has one name for each part; nil means 0, 1 and so on. Their suffixes say the forms of
	// the parts, see [For].
	Names []string
	// By is the key of integers, bools or texts. Rows with equal values are a group, which is not
	// split. "" splits rows. Rows without a value, see Input.Schema, are one more group.
	By nestedkey.Key
	// Stratify is the key of integers, bools or texts, the classes: each part gets its share of the
	// rows of each class. "" has no classes. With By, the class of a group is the class of its
	// first row. Stratify needs Fractions.
	Stratify nestedkey.Key
	Seed     uint64
}

// Split divides the rows of a dataset at random. The parts are the datasets to/0, to/1 and so on,
// or have the names opt.Names:
//
//	input [N R...] -> parts [n R...], N = sum(n)
//
// Split calls sampler.Split, or sampler.SplitGroups with opt.By. So the parts depend only on
// N or the groups, on the sizes and on the seed, and are the same on every platform. Rows keep
// their order within a part. All parts appear at once, durably, or none does. Force replaces a
// directory only if it has nothing but datasets with names of parts.
//
// Split takes memory for each row, see the package documentation, and saves a table beside the
// output first. Otherwise it treats memory and errors as [Convert] does. Split also returns
//
//   - sampler.ErrSize if sizes do not add up,
//   - fs.ErrInvalid unless there is one name for each part, and all are distinct names of files,
//   - tensor.ErrDType, shapeops.ErrDim and tdict.ErrMissing about opt.By and opt.Stratify,
//   - memmap.ErrForeign for a directory that Force does not replace.
func Split(ctx context.Context, to, from string, opt SplitOptions) error {
	names, forms, err := opt.names()
	if err != nil {
		return failed("split", to, err)
	}
	opt.Form = Directory
	return saving(ctx, to, []string{from}, opt.Options, forms, func(s *saver) error {
		old, err := replaced(s.at, names)
		if err != nil {
			return failed("split", to, err)
		}
		in, err := s.open(from, s.opt.Open)
		if err != nil {
			return err
		}
		r, err := s.selected(s.rows(in), opt.Select)
		if err != nil {
			return failed("split", from, err)
		}
		staged := r.td == nil
		if r, err = s.stage(r); err != nil {
			return err
		}
		if staged {
			s.meter.total += int64(r.td.ByteSize())
		}
		parts, err := deal(r.td, opt, r.says)
		if err != nil {
			return failed("split", from, err)
		}
		for i, rows := range parts {
			if len(rows) == 0 && (opt.Counts == nil || opt.Counts[i] > 0) {
				opt.Open.note(fmt.Sprintf("part %s has no rows", errtext.Quote(names[i])))
			}
		}
		return s.publish(r, parts, names, forms, old)
	})
}

// names returns the names and forms of the parts.
func (opt SplitOptions) names() (names []string, forms []Form, err error) {
	n := len(opt.Fractions) + len(opt.Counts)
	if (opt.Fractions == nil) == (opt.Counts == nil) {
		return nil, nil, fmt.Errorf("%w: want either Fractions or Counts", sampler.ErrSize)
	}
	if names = opt.Names; names == nil {
		for i := range n {
			names = append(names, strconv.Itoa(i))
		}
	}
	if len(names) != n {
		return nil, nil, fmt.Errorf("%w: got %d names for %d parts", fs.ErrInvalid, len(names), n)
	}
	for i, name := range names {
		if name != filepath.Base(name) || strings.Trim(name, ".") == "" || slices.ContainsFunc(names[:i], func(x string) bool { return strings.EqualFold(x, name) }) {
			return nil, nil, fmt.Errorf("%w: got the name %s, want distinct names of files", fs.ErrInvalid, errtext.Quote(name))
		}
		f, err := For(name)
		if err != nil {
			return nil, nil, err
		}
		forms = append(forms, f)
	}
	return names, forms, nil
}

// replaced describes the directory that the parts replace, or nil if there is none. It returns
// memmap.ErrForeign if the directory has more than datasets with names of parts.
func replaced(at string, names []string) (fs.FileInfo, error) {
	info, err := os.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := os.ReadDir(at)
	if err != nil {
		return nil, err
	}
	for _, entry := range found {
		if err := replaceablePart(filepath.Join(at, entry.Name()), slices.Contains(names, entry.Name())); err != nil {
			return nil, err
		}
	}
	return info, nil
}

// replaceablePart returns an error unless path is a dataset with the name of a part.
func replaceablePart(path string, named bool) error {
	f, err := Of(path)
	if err != nil || !named {
		return fmt.Errorf("%w: %s would be lost; save elsewhere", memmap.ErrForeign, path)
	}
	if f != Directory {
		return nil
	}
	if err := checkIdle(path); err != nil {
		return err
	}
	ds, err := memmap.Open(path)
	if err != nil {
		return fmt.Errorf("%w: %s would be lost; save elsewhere: %w", memmap.ErrForeign, path, err)
	}
	return ds.Close()
}

// deal returns the rows of each part.
func deal(td *tdict.TensorDict, opt SplitOptions, says tdict.Schema) ([][]int, error) {
	if len(td.Shape()) == 0 {
		return nil, errNoRows(td)
	}
	if opt.Counts != nil {
		return dealt(td, opt, opt.Counts, says)
	}
	return dealt(td, opt, opt.Fractions, says)
}

// dealt returns the rows of each part by its size.
func dealt[S int | float64](td *tdict.TensorDict, opt SplitOptions, sizes []S, says tdict.Schema) ([][]int, error) {
	if opt.Stratify != "" {
		return stratified(td, opt, says)
	}
	if opt.By == "" {
		return sampler.Split(td.Shape()[0], sizes, opt.Seed)
	}
	ids, err := idsOf(td, opt.By, says)
	if err != nil {
		return nil, err
	}
	parts, err := sampler.SplitGroups(ids, sizes, opt.Seed)
	if err != nil {
		err = &tdict.KeyError{Op: "split by", Key: opt.By, Err: fmt.Errorf("%w; sizes count groups", err)}
	}
	return parts, err
}

// stratified returns the rows of each part, which gets its share of the rows or groups of each
// class.
func stratified(td *tdict.TensorDict, opt SplitOptions, says tdict.Schema) ([][]int, error) {
	if opt.Fractions == nil {
		return nil, &tdict.KeyError{Op: "stratify", Key: opt.Stratify, Err: fmt.Errorf("%w: got Counts, want Fractions", sampler.ErrSize)}
	}
	var groups map[int][]int // the rows of a group by its first row
	var err error
	if opt.By != "" {
		if groups, err = groupsOf(td, opt.By, says); err != nil {
			return nil, err
		}
	}
	classes, err := membersOf(td, opt.Stratify, says, groups)
	if err != nil {
		return nil, err
	}
	if _, err := sampler.Split(0, opt.Fractions, 0); err != nil {
		return nil, err
	}
	parts, dealt := make([][]int, len(opt.Fractions)), make([]int, len(opt.Fractions))
	for i, members := range classes {
		chosen, err := sampler.Split(len(members), shares(len(members), opt.Fractions, dealt), splitmix.Mix(opt.Seed, uint64(i)))
		if err != nil {
			return nil, err
		}
		for part, list := range chosen {
			for _, at := range list {
				if row := members[at]; groups != nil {
					parts[part] = append(parts[part], groups[row]...)
				} else {
					parts[part] = append(parts[part], row)
				}
			}
		}
	}
	for _, rows := range parts {
		slices.Sort(rows)
	}
	return parts, nil
}

// shares returns how many of n rows each part gets, and adds them to dealt: the next row is for the
// part that is farthest below its fraction of all rows so far. Then small classes do not all
// leave one part out.
func shares(n int, fractions []float64, dealt []int) []int {
	counts, total := make([]int, len(fractions)), 0
	for _, k := range dealt {
		total += k
	}
	for range n {
		total++
		most := 0
		for part := range fractions {
			if fractions[part]*float64(total)-float64(dealt[part]) > fractions[most]*float64(total)-float64(dealt[most]) {
				most = part
			}
		}
		counts[most]++
		dealt[most]++
	}
	return counts
}

// membersOf returns the rows of each class, in the order of their first rows. If groups is not nil,
// only the rows that are its keys are counted.
func membersOf(td *tdict.TensorDict, key nestedkey.Key, says tdict.Schema, groups map[int][]int) (classes [][]int, err error) {
	err = eachID(td, key, says, func(row, class int) {
		for len(classes) <= class {
			classes = append(classes, nil)
		}
		if _, first := groups[row]; first || groups == nil {
			classes[class] = append(classes[class], row)
		}
	})
	return classes, err
}

// groupsOf returns the rows of each group, by the first of them.
func groupsOf(td *tdict.TensorDict, key nestedkey.Key, says tdict.Schema) (map[int][]int, error) {
	groups, first := map[int][]int{}, []int(nil)
	err := eachID(td, key, says, func(row, id int) {
		if id == len(first) {
			first = append(first, row)
		}
		groups[first[id]] = append(groups[first[id]], row)
	})
	return groups, err
}

// eachID calls fn with each row and the number of its value. Values are numbered in the order of
// their first rows.
func eachID(td *tdict.TensorDict, key nestedkey.Key, says tdict.Schema, fn func(row, id int)) error {
	ids, err := idsOf(td, key, says)
	if err == nil && len(ids.Shape()) != 1 {
		err = &tdict.KeyError{Op: "split by", Key: key, Err: fmt.Errorf("%w: got %v, want one value for each row", shapeops.ErrDim, ids.Shape())}
	}
	if err != nil {
		return err
	}
	numbers := map[int64]int{}
	count := func(row int, id int64) {
		n, known := numbers[id]
		if !known {
			n = len(numbers)
			numbers[id] = n
		}
		fn(row, n)
	}
	all, err := integers(ids)
	for row, id := range all {
		count(row, id)
	}
	return err
}

// integers returns a copy of the elements of ids. Distinct ones of uint64 stay distinct.
func integers(ids *tensor.Tensor) (all []int64, err error) {
	if ids.DType() == tensor.Uint64 {
		err = tensor.Read(ids, func(x []uint64) {
			for _, id := range x {
				all = append(all, int64(id))
			}
		})
		return all, err
	}
	if ids, err = ids.Cast(tensor.Int64); err == nil {
		err = tensor.Read(ids, func(x []int64) { all = slices.Clone(x) })
	}
	return all, err
}

// idsOf returns the group ids of the rows, with one more id for the rows that have no value.
func idsOf(td *tdict.TensorDict, key nestedkey.Key, says tdict.Schema) (*tensor.Tensor, error) {
	ids, err := groupIDs(td, key)
	if by, _ := says.Find(key); err == nil && by.Mask != "" {
		ids, err = apart(ids, td, by.Mask)
	}
	return ids, err
}

// groupIDs returns the group ids of the rows. For texts these are codes.
func groupIDs(td *tdict.TensorDict, key nestedkey.Key) (*tensor.Tensor, error) {
	v, err := td.Get(key)
	if err != nil {
		return nil, err
	}
	got := fmt.Sprintf("%T", v)
	switch v := v.(type) {
	case *ragged.Tensor:
		if codes, _, err := ragged.Categories(v); err == nil || !errors.Is(err, tensor.ErrDType) {
			return codes, err
		}
		got = v.Text()
	case *tensor.Tensor:
		if d := v.DType(); d.IsInteger() || d == tensor.Bool {
			return v, nil
		}
		got = v.DType().String()
	}
	return nil, &tdict.KeyError{Op: "split by", Key: key, Err: fmt.Errorf("%w: got %s, want integers, bools or text", tensor.ErrDType, got)}
}

// apart returns ids with one more id, for the rows that have no value by the mask at a key.
func apart(ids *tensor.Tensor, td *tdict.TensorDict, at nestedkey.Key) (*tensor.Tensor, error) {
	mask, err := td.Tensor(at)
	if err != nil {
		return nil, err
	}
	v, err := integers(ids)
	if err == nil && mask.Size() == len(v) { // otherwise SplitGroups refuses the ids
		err = tensor.Read(mask, func(present []bool) {
			used := make([]bool, len(v)+1) // one more than there are ids
			for i, id := range v {
				if present[i] && id >= 0 && id < int64(len(used)) {
					used[id] = true
				}
			}
			none := int64(slices.Index(used, false))
			for i := range v {
				if !present[i] {
					v[i] = none
				}
			}
		})
	}
	if err != nil {
		return nil, err
	}
	return tensor.From(v, ids.Shape()...)
}

// publish saves the parts beside the output, and then moves them to it.
func (s *saver) publish(r rows, parts [][]int, names []string, forms []Form, old fs.FileInfo) error {
	modes := vfs.ModesFor(s.ctx)
	dir, err := s.beside(modes.Dir("").Perm())
	if err != nil {
		return err
	}
	for i, list := range parts {
		expr := func(start, n int) []ix.Index { return block(list, nil, start, n) }
		part := rows{like: r.like, source: r.source, schema: r.schema, says: r.says, chunks: counted(cut(s.ctx, r.td, len(list), list, expr), s.meter.add)}
		one := &saver{ctx: s.ctx, opt: s.opt, at: s.at, from: s.from, first: s.first}
		if old != nil {
			was, err := vfs.ModesOf(filepath.Join(s.at, names[i]))
			if err != nil {
				return err
			}
			if was.Empty() {
				was.Note("", old)
			}
			was.Exact = true
			one.ctx = vfs.WithModes(s.ctx, was.Else(modes))
		}
		one.opt.Force, one.opt.NoSync = false, false
		err := one.save(filepath.Join(dir, names[i]), forms[i], part)
		if err = errors.Join(err, one.close()); err != nil {
			return vfs.NotDone(err)
		}
	}
	if old == nil {
		return s.published(vfs.PublishNew(vfs.OS, dir, s.at, false))
	}
	if err := vfs.OS.Chmod(dir, old.Mode()&(fs.ModePerm|fs.ModeSetgid)); err != nil {
		return err
	}
	return s.published(vfs.Publish(vfs.OS, dir, s.at, old))
}

// published returns an error of publishing. The old tree may be needed after some of them.
func (s *saver) published(err error) error {
	if e, ok := errors.AsType[*vfs.PublishError](err); ok {
		s.keep = e.State == vfs.Unsynced || e.State == vfs.Aside
	}
	return err
}
