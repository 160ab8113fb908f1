package loader

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// Concat returns a source of the rows of several, one source after the other, which must have the
// same keys, kinds, dtypes and shapes:
//
//	sources of N0, N1... rows -> N0 + N1 + ... rows
//
// It returns [ErrSource] if there is none, one is nil, or the schemas that they describe differ.
// Sources that do not describe themselves are compared when a batch has rows of several.
func Concat(sources ...Source) (Source, error) {
	err := checkSources(sources)
	if err == nil {
		err = checkSchemas(sources)
	}
	if err != nil {
		return nil, fmt.Errorf("concat: %w", err)
	}
	return newConcat(sources), nil
}

// checkSchemas returns an error if sources describe different schemas.
func checkSchemas(sources []Source) error {
	first, known := "", -1
	for i, src := range sources {
		about, err := describe(src)
		switch {
		case err != nil:
			return fmt.Errorf("source %d: %w", i, err)
		case about.Schema == "":
		case known < 0:
			first, known = about.Schema, i
		case about.Schema != first:
			return fmt.Errorf("%w: rows of source %d have %s, those of source %d %s",
				ErrSource, i, besides(about.Schema, first), known, besides(first, about.Schema))
		}
	}
	return nil
}

// besides returns the lines of a schema that another one has not.
func besides(schema, other string) string {
	all := strings.Split(other, "\n")
	more := slices.DeleteFunc(strings.Split(schema, "\n"), func(line string) bool { return slices.Contains(all, line) })
	if len(more) == 0 {
		return "nothing besides"
	}
	return strings.Join(more, ", ")
}

// checkSources returns an error if there are no sources or one is nil.
func checkSources(sources []Source) error {
	if len(sources) == 0 {
		return fmt.Errorf("%w: got no sources", ErrSource)
	}
	for i, src := range sources {
		if src == nil {
			return fmt.Errorf("%w: source %d is nil", ErrSource, i)
		}
		if n := src.Len(); n < 0 {
			return fmt.Errorf("%w: source %d has %d rows", ErrSource, i, n)
		}
	}
	return nil
}

// A concat is several sources, one after the other, which had so many rows when it was made.
type concat struct {
	parts  []Source
	starts []int // the first row of each part, and the number of all rows
}

func newConcat(parts []Source) *concat {
	c := &concat{append([]Source(nil), parts...), make([]int, 1, len(parts)+1)}
	for i, part := range parts {
		c.starts = append(c.starts, c.starts[i]+part.Len())
	}
	return c
}

// Len implements [Source].
func (c *concat) Len() int { return c.starts[len(c.parts)] }

// part returns the part that a row is in.
func (c *concat) part(row int) int { return sort.SearchInts(c.starts, row+1) - 1 }

// Fetch implements [Source].
func (c *concat) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	if err := checkFetch(ctx, rows, c.Len()); err != nil {
		return nil, err
	}
	if i := c.part(rows[0]); c.holds(i, rows) {
		return c.parts[i].Fetch(ctx, c.within(i, rows), dst)
	}
	parts, order, err := c.fetchParts(ctx, rows)
	if err != nil {
		return nil, err
	}
	all, err := shapeops.Cat(parts, 0)
	if err != nil {
		return nil, err
	}
	d, err := newDict(all)
	if err != nil {
		return nil, err
	}
	return d.Fetch(ctx, order, dst)
}

// holds reports whether all rows are of part i.
func (c *concat) holds(i int, rows []int) bool {
	return !slices.ContainsFunc(rows, func(row int) bool { return row < c.starts[i] || row >= c.starts[i+1] })
}

// within returns what rows of part i are called there.
func (c *concat) within(i int, rows []int) []int {
	within := make([]int, len(rows))
	for k, row := range rows {
		within[k] = row - c.starts[i]
	}
	return within
}

// fetchParts returns the rows part by part, and where in them each is.
func (c *concat) fetchParts(ctx context.Context, rows []int) (fetched []*tdict.TensorDict, order []int, err error) {
	order = make([]int, len(rows))
	done := 0
	for _, s := range c.deal(rows) {
		td, err := c.parts[s.part].Fetch(ctx, s.rows, nil)
		if td, err = checkRows(td, err, len(s.rows)); err != nil {
			return nil, nil, fmt.Errorf("source %d: %w", s.part, err)
		}
		for k, to := range s.to {
			order[to] = done + k
		}
		done += len(s.rows)
		fetched = append(fetched, td)
	}
	return fetched, order, nil
}

// A share is the rows that are fetched of one part, and where in the result they come.
type share struct {
	part     int
	rows, to []int
}

// deal gives each part that has some of the rows its share, ascending, in the order of the parts.
func (c *concat) deal(rows []int) (shares []share) {
	to, within := make([]int, len(rows)), make([]int, len(rows))
	for i := range to {
		to[i] = i
	}
	slices.SortFunc(to, func(a, b int) int { return cmp.Compare(rows[a], rows[b]) })
	for start := 0; start < len(to); {
		part, stop := c.part(rows[to[start]]), start
		for ; stop < len(to) && rows[to[stop]] < c.starts[part+1]; stop++ {
			within[stop] = rows[to[stop]] - c.starts[part]
		}
		shares = append(shares, share{part, within[start:stop], to[start:stop]})
		start = stop
	}
	return shares
}

// Slice implements [Slicer]: for rows of one part that is a Slicer.
func (c *concat) Slice(start, stop int) (*tdict.TensorDict, error) {
	i := c.part(start)
	if i < 0 || i >= len(c.parts) || stop > c.starts[i+1] {
		return nil, errApart
	}
	s, ok := c.parts[i].(Slicer)
	if !ok {
		return nil, errApart
	}
	return s.Slice(start-c.starts[i], stop-c.starts[i])
}

// Prefetch implements [Prefetcher], for parts that do.
func (c *concat) Prefetch(rows ...int) error {
	if err := checkExist(rows, c.Len()); err != nil {
		return err
	}
	for _, s := range c.deal(rows) {
		if p, ok := c.parts[s.part].(Prefetcher); ok {
			if err := p.Prefetch(s.rows...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Describe implements [Describer]: the bytes are those of the average row.
func (c *concat) Describe() (Description, error) {
	var schemas, versions []string
	bytes, unknown := 0., false
	for i, part := range c.parts {
		about, err := describe(part)
		if err != nil {
			return Description{}, fmt.Errorf("source %d: %w", i, err)
		}
		if n := c.starts[i+1] - c.starts[i]; n > 0 {
			bytes, unknown = bytes+float64(about.RowBytes)*float64(n), unknown || about.RowBytes == 0
		}
		if !slices.Contains(schemas, about.Schema) {
			schemas = append(schemas, about.Schema)
		}
		versions = append(versions, about.Version)
	}
	if unknown {
		bytes = 0
	}
	return Description{perRow(bytes, c.Len()), joinSchemas(schemas, "\n+\n"), joinVersions(versions)}, nil
}

// joinVersions returns versions that go together as one, "" if there is none.
func joinVersions(versions []string) string {
	if !slices.ContainsFunc(versions, func(v string) bool { return v != "" }) {
		return ""
	}
	return strings.Join(versions, " + ")
}

// joinSchemas returns schemas that go together as one, "" if one is not known.
func joinSchemas(schemas []string, with string) string {
	if slices.Contains(schemas, "") {
		return ""
	}
	return strings.Join(schemas, with)
}

// Snapshot implements [Snapshotter].
func (c *concat) Snapshot() (Snapshot, error) {
	parts, all, err := snapshots(c.parts)
	if err != nil {
		return Snapshot{}, err
	}
	all.Source = newConcat(parts)
	return all, nil
}

// snapshots returns what sources are at present, and a snapshot of nothing that has their versions
// and releases all.
func snapshots(sources []Source) (parts []Source, all Snapshot, err error) {
	var each []Snapshot
	var versions []string
	release := func() (err error) {
		for _, s := range each {
			err = cmp.Or(err, s.release())
		}
		return err
	}
	defer func() { // also if a source panics
		if len(each) < len(sources) {
			err = cmp.Or(err, release())
		}
	}()
	for i, src := range sources {
		now, err := snapshot(src)
		if err != nil {
			return nil, Snapshot{}, fmt.Errorf("source %d: %w", i, err)
		}
		each, parts, versions = append(each, now), append(parts, now.Source), append(versions, strconv.Quote(now.Version))
	}
	return parts, Snapshot{Version: strings.Join(versions, " "), Release: release}, nil
}
