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

// Concat returns a source of the rows of several sources, one source after the other:
//
//	sources of N0, N1... rows -> N0 + N1 + ... rows
//
// The sources must have the same keys, kinds, dtypes and shapes. Concat returns [ErrSource] if
// there are no sources, if one is nil, or if their schemas differ. A source that does not describe
// its schema is compared only when a batch has rows of that source and of another one. If they
// differ, Fetch then returns the error of shapeops.Cat.
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

// checkSchemas returns an error if the described schemas differ.
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
			return fmt.Errorf("%w: source %d %s", ErrSource, i, unlike(about.Schema, first, known))
		}
	}
	return nil
}

// unlike returns how a schema differs from the schema of source i.
func unlike(schema, other string, i int) string {
	more, missing := onlyIn(schema, other), onlyIn(other, schema)
	switch {
	case more == "":
		return fmt.Sprintf("lacks %s, which source %d has", missing, i)
	case missing == "":
		return fmt.Sprintf("has %s, which source %d lacks", more, i)
	}
	return fmt.Sprintf("has %s, but source %d has %s", more, i, missing)
}

// onlyIn returns the lines of a schema that other does not have.
func onlyIn(schema, other string) string {
	all := strings.Split(other, "\n")
	more := slices.DeleteFunc(strings.Split(schema, "\n"), func(line string) bool { return slices.Contains(all, line) })
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

// A concat is several sources, one after the other. starts holds their lengths at its creation.
type concat struct {
	parts  []Source
	starts []int // the first row of each part, and the total number of rows
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

// part returns the index of the part that contains a row.
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

// holds reports whether part i contains all rows.
func (c *concat) holds(i int, rows []int) bool {
	return !slices.ContainsFunc(rows, func(row int) bool { return row < c.starts[i] || row >= c.starts[i+1] })
}

// within converts rows to row numbers of part i.
func (c *concat) within(i int, rows []int) []int {
	within := make([]int, len(rows))
	for k, row := range rows {
		within[k] = row - c.starts[i]
	}
	return within
}

// fetchParts fetches the rows part by part. The i-th of rows is row order[i] of all that was
// fetched.
func (c *concat) fetchParts(ctx context.Context, rows []int) (fetched []*tdict.TensorDict, order []int, err error) {
	order = make([]int, len(rows))
	done := 0
	for _, s := range c.divide(rows) {
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

// A portion is the rows to fetch from one part, and their positions in the result.
type portion struct {
	part     int
	rows, to []int
}

// divide returns the portion of each part that contains some of the rows, in the order of the
// parts. The rows of a portion ascend.
func (c *concat) divide(rows []int) (portions []portion) {
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
		portions = append(portions, portion{part, within[start:stop], to[start:stop]})
		start = stop
	}
	return portions
}

// Slice implements [Slicer], for rows of one part that is a Slicer.
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

// Prefetch implements [Prefetcher]. It skips parts that are not Prefetchers.
func (c *concat) Prefetch(rows ...int) error {
	if err := checkExist(rows, c.Len()); err != nil {
		return err
	}
	for _, s := range c.divide(rows) {
		if p, ok := c.parts[s.part].(Prefetcher); ok {
			if err := p.Prefetch(s.rows...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Describe implements [Describer]. RowBytes is the average over all rows.
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

// joinVersions returns the versions of sources as one, or "" if all are empty.
func joinVersions(versions []string) string {
	if !slices.ContainsFunc(versions, func(v string) bool { return v != "" }) {
		return ""
	}
	return strings.Join(versions, " + ")
}

// joinSchemas returns the schemas of sources as one, or "" if one is unknown.
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

// snapshots takes a snapshot of each source. It returns the snapshots' sources, and a Snapshot
// without a Source, which has all versions and releases all snapshots.
func snapshots(sources []Source) (parts []Source, all Snapshot, err error) {
	var each []Snapshot
	var versions []string
	release := func() (err error) {
		for _, s := range each {
			err = cmp.Or(err, s.release())
		}
		return err
	}
	defer func() { // runs even if a source panics
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
