package forms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// ErrDriver says that this program has no driver for a form, see [Register].
var ErrDriver = errors.New("no driver for the form")

// A Driver reads and writes the files of a form. Arrow and Parquet have one in a separate module,
// so that only programs that use it depend on that. The methods must be safe for concurrent use.
type Driver interface {
	// Infer returns the schema of the chunks that Read yields, which lists the masks too.
	Infer(path string, opt DriverOptions) (tdict.Schema, error)
	// Read yields the rows of a file, in order, as opt.Schema says. A chunk is valid until the next
	// iteration.
	Read(ctx context.Context, path string, opt DriverOptions) iter.Seq2[*tdict.TensorDict, error]
	// Write writes a file with the rows of all chunks, which have the entries of schema.
	Write(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error]) error
}

// DriverOptions say how a [Driver] reads a file.
type DriverOptions struct {
	// Schema has the entries to read, with their masks. Others stay in the file. Infer gets none.
	Schema tdict.Schema
	// Skip leaves out columns of types that no dtype holds. By default they are an error.
	Skip bool
	// Note, if not nil, is called with each fact that may surprise.
	Note func(text string)
	// Progress, if not nil, is called with the numbers of bytes of the file that were read.
	Progress func(n int)
}

var drivers sync.Map // Driver by Form

// Register makes functions of this package use d for a form, [Arrow] or [Parquet]. It replaces the
// driver that was registered before. Safe for concurrent use.
func Register(f Form, d Driver) { drivers.Store(f, d) }

// CheckDriver returns [ErrDriver] if f is a form that needs a [Driver], and none is registered.
func (f Form) CheckDriver() error {
	if !f.needsDriver() {
		return nil
	}
	_, err := f.driver()
	return err
}

// driver returns the driver of a form that needs one.
func (f Form) driver() (Driver, error) {
	if d, ok := drivers.Load(f); ok {
		return d.(Driver), nil
	}
	return nil, fmt.Errorf("%w: got %v: the module interop/arrow has one: call arrowforms.Register", ErrDriver, f)
}

// driverOptions returns the options to read a file with a driver.
func (opt *OpenOptions) driverOptions(path string) DriverOptions {
	return DriverOptions{Schema: opt.Schema, Skip: opt.SkipPickled, Note: func(text string) { opt.note(path + ": " + text) }}
}

// inferDriven returns a schema that fits all rows of several files of one form with a driver.
func inferDriven(f Form, paths []string, opt OpenOptions) (all tdict.Schema, err error) {
	d, err := f.driver()
	if err != nil {
		return nil, err
	}
	opt.Schema = nil
	for i, path := range paths {
		one, err := d.Infer(path, opt.driverOptions(path))
		if err != nil {
			return nil, failed("read", path, err)
		}
		if i == 0 {
			all = one
		} else if all, err = joinSchemas(all, one); err != nil {
			return nil, failed("read", path, fmt.Errorf("rows differ from the rows of %s: %w", paths[0], err))
		}
	}
	return storable(f, all, "", func(text string) { opt.note(paths[0] + ": " + text) }), nil
}

// joinSchemas returns schema a with the masks, dictionaries and categories that b has too. It
// returns tdict.ErrSchema for another entry of b that a lacks, and for a key of a mask that is
// another entry in the other schema. Other differences are found when the files are opened.
func joinSchemas(a, b tdict.Schema) (tdict.Schema, error) {
	known, others := specsOf(a), specsOf(b)
	masks := map[bool]map[nestedkey.Key]bool{false: {}, true: {}} // of a and, true, of b
	first := map[nestedkey.Key]nestedkey.Key{}                    // the first entry in a dictionary
	for _, s := range a {
		if s.Mask != "" {
			masks[false][s.Mask] = true
		}
		for key, nested := s.Key.Parent(); nested && first[key] == ""; key, nested = key.Parent() {
			first[key] = s.Key
		}
	}
	before, after := map[nestedkey.Key]tdict.Schema{}, map[nestedkey.Key]tdict.Schema{}
	for _, s := range b {
		if s.Mask == "" || masks[true][s.Mask] {
			continue
		}
		masks[true][s.Mask] = true
		_, has := known[s.Mask]
		if mask, listed := others[s.Mask]; listed && !has && known[s.Key].Mask == "" {
			after[s.Key] = append(after[s.Key], mask)
		}
	}
	for _, s := range b {
		_, has := known[s.Key]
		switch isMask := masks[true][s.Key]; {
		case has && isMask != masks[false][s.Key]:
			return nil, &tdict.KeyError{Op: "rows", Key: s.Key, Err: fmt.Errorf("%w: it is a mask in one of them, and a column in the other: rename it", tdict.ErrSchema)}
		case has, isMask:
		case s.Kind == tdict.KindDict && first[s.Key] != "":
			before[first[s.Key]] = append(before[first[s.Key]], s)
		default:
			return nil, &tdict.KeyError{Op: "rows", Key: s.Key, Err: fmt.Errorf("%w: got %v, want no such entry", tdict.ErrSchema, s.Kind)}
		}
	}
	var joined tdict.Schema
	var add func(s tdict.Spec)
	add = func(s tdict.Spec) {
		for _, dict := range before[s.Key] {
			add(dict)
		}
		other := others[s.Key]
		if s.Mask == "" {
			s.Mask, s.Optional = other.Mask, s.Optional || other.Optional
		}
		if s.Categories != nil && other.Categories != nil {
			s.Categories = union(s.Categories, other.Categories)
		}
		joined = append(joined, s)
		for _, mask := range after[s.Key] {
			add(mask)
		}
	}
	for _, s := range a {
		add(s)
	}
	return joined, nil
}

// union returns the texts of a, and then the texts of b that a lacks.
func union(a, b []string) []string {
	all, has := slices.Clone(a), map[string]bool{}
	for _, text := range a {
		has[text] = true
	}
	for _, text := range b {
		if !has[text] {
			all, has[text] = append(all, text), true
		}
	}
	return all
}

// drivenChunks returns the schema of chunks for the columns that schema has: with the masks that it
// does not list.
func drivenChunks(schema tdict.Schema) (tdict.Schema, error) {
	specs, masks := specsOf(schema), map[nestedkey.Key]bool{}
	for _, s := range schema {
		masks[s.Mask] = true
	}
	lacks := slices.ContainsFunc(schema, func(s tdict.Spec) bool {
		_, listed := specs[s.Mask]
		return s.Optional && s.Mask == "" && !masks[s.Key] || s.Mask != "" && !listed
	})
	if !lacks {
		return schema, schema.Validate()
	}
	return jsonl.ChunkSchema(schema, jsonl.ReadOptions{})
}

// drivenSchema returns the schema of a file for rows with given columns: with the masks that the
// rows have.
func drivenSchema(columns tdict.Schema, r rows) tdict.Schema {
	if r.says != nil && r.says.Check(r.like) == nil {
		says := slices.DeleteFunc(slices.Clone(r.says), func(s tdict.Spec) bool { return !r.like.Has(s.Key) })
		for i, s := range says {
			if s.Mask != "" && !r.like.Has(s.Mask) {
				says[i].Mask, says[i].Optional = "", false
			}
		}
		return says
	}
	has := specsOf(tdict.SchemaOf(r.like))
	listed := specsOf(columns)
	var all tdict.Schema
	for _, s := range columns {
		mask, there := has[s.Mask]
		if !there {
			s.Mask, s.Optional = "", false
		}
		all = append(all, s)
		if _, known := listed[mask.Key]; there && !known {
			all, listed[mask.Key] = append(all, mask), mask
		}
	}
	return all
}

// whyNotDriven returns the reason why Arrow's types cannot hold a column, or "".
func whyNotDriven(s tdict.Spec) string {
	switch s.Kind {
	case tdict.KindTensor, tdict.KindRagged:
		if s.DType == tensor.BFloat16 || s.DType == tensor.Complex64 || s.DType == tensor.Complex128 {
			return s.DType.String()
		}
	case tdict.KindText, tdict.KindDict:
	default:
		return s.Kind.String()
	}
	return ""
}

// parseDriven yields the rows of a file of a form with a driver.
func (in *Input) parseDriven(ctx context.Context, progress func(n int)) iter.Seq2[*tdict.TensorDict, error] {
	d, err := in.Form.driver()
	if err != nil {
		return func(yield func(*tdict.TensorDict, error) bool) { yield(nil, err) }
	}
	opt := in.opt.driverOptions(in.Path)
	opt.Schema, opt.Progress = in.rows, progress
	if in.only != nil && *in.only != nil {
		opt.Schema = slices.DeleteFunc(slices.Clone(in.rows), func(s tdict.Spec) bool {
			return !slices.ContainsFunc(*in.only, func(key nestedkey.Key) bool { return key == s.Key || key.HasPrefix(s.Key) })
		})
	}
	if in.opt.raw {
		opt.Note = nil // Infer has called it
	}
	return d.Read(ctx, in.Path, opt)
}
