package tdparquet

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pq "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/pages"
)

// arrowSchemaKey is the key of Arrow's schema in the metadata of a file.
const arrowSchemaKey = "ARROW:schema"

// maxPage is the largest size of a page. Writers make pages of about a mebibyte.
const maxPage = math.MaxInt32

// A file is an opened file whose footer was checked.
type file struct {
	path   string
	r      *source
	end    int64 // of the pages, where the footer begins
	opt    Options
	most   int64 // bytes of memory
	mem    *allocator
	meta   *metadata.FileMetaData
	read   *pqarrow.FileReader
	schema *arrow.Schema
	groups []int // to read
}

// A source keeps the first error of a reader. The library keeps only the text of it. Safe for
// concurrent use.
type source struct {
	r  io.ReaderAt
	mu sync.Mutex
	is error
}

// ReadAt implements io.ReaderAt.
func (s *source) ReadAt(b []byte, at int64) (int, error) {
	n, err := s.r.ReadAt(b, at)
	if err != nil && err != io.EOF {
		s.mu.Lock()
		s.is = cmp.Or(s.is, err)
		s.mu.Unlock()
	}
	return n, err
}

// err returns the first error.
func (s *source) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.is
}

// damaged returns an error of the library as ErrCorrupt, unless the reader failed.
func (f *file) damaged(err error) error {
	if err == nil || errors.Is(err, ErrMemory) || errors.Is(err, ErrCorrupt) {
		return err
	}
	return cmp.Or(f.r.err(), corrupt("%v", err))
}

// open reads the footer of a file.
func open(path string, r io.ReaderAt, size int64, opt Options) (*file, error) {
	f := &file{path: path, r: &source{r: r}, opt: opt, most: columns.MemoryOf(opt.MaxMemory)}
	f.mem = &allocator{most: f.most}
	footer, err := f.footer(size)
	if err == nil {
		err = message.Try(func() error { return f.parse(footer, size) })
	}
	if err != nil {
		return nil, message.In(path, "footer", "", err)
	}
	if f.groups, err = columns.GroupsOf(opt.Groups, len(f.meta.RowGroups), "row group"); err != nil {
		return nil, message.In(path, "", "", err)
	}
	return f, nil
}

// footer returns the bytes of the footer, which are checked.
func (f *file) footer(size int64) ([]byte, error) {
	const magic = "PAR1"
	var ends [12]byte
	if size < int64(len(ends)) {
		return nil, corrupt("got %d bytes, want more", size)
	}
	if err := fileformat.ReadAt(f.r, ends[:4], 0); err != nil {
		return nil, err
	}
	if err := fileformat.ReadAt(f.r, ends[4:], size-8); err != nil {
		return nil, err
	}
	switch begin, end := string(ends[:4]), string(ends[8:]); {
	case begin == "PARE" || end == "PARE":
		return nil, unsupported("it is encrypted")
	case begin == "ARRO":
		return nil, corrupt("it is an Arrow file: tdarrow reads it")
	case begin != magic || end != magic:
		return nil, corrupt("it begins with %q and ends with %q, want %q", begin, end, magic)
	}
	n := int64(binary.LittleEndian.Uint32(ends[4:]))
	if f.end = size - 8 - n; f.end < 4 {
		return nil, corrupt("a footer of %d bytes in a file of %d", n, size)
	}
	if n > f.most/4 {
		return nil, fmt.Errorf("%w: a footer of %d bytes, for %d bytes of memory: raise MaxMemory", ErrMemory, n, f.most)
	}
	b := make([]byte, n)
	if err := fileformat.ReadAt(f.r, b, f.end); err != nil {
		return nil, err
	}
	return b, pages.CheckFooter(b, f.most)
}

// parse parses the footer.
func (f *file) parse(footer []byte, size int64) (err error) {
	if f.meta, err = metadata.NewFileMetaData(footer, nil); err != nil {
		return corrupt("%v", err)
	}
	f.meta.SetSourceFileSize(size)
	if err = f.checkGroups(); err != nil {
		return err
	}
	if err = checkArrowSchema(f.meta.KeyValueMetadata(), f.most); err != nil {
		return err
	}
	props := parquet.NewReaderProperties(f.mem)
	props.BufferedStreamEnabled, props.BufferSize = true, 1<<16
	props.MaxCompressedPageSize, props.MaxUncompressedPageSize = maxPage, maxPage // Scan has checked them
	read, err := pq.NewParquetReader(io.NewSectionReader(f.r, 0, size), pq.WithMetadata(f.meta), pq.WithReadProps(props))
	if err != nil {
		return corrupt("%v", err)
	}
	if f.read, err = pqarrow.NewFileReader(read, pqarrow.ArrowReadProperties{}, f.mem); err != nil {
		return corrupt("%v", err)
	}
	fields := make([]arrow.Field, len(f.read.Manifest.Fields))
	for i, field := range f.read.Manifest.Fields {
		fields[i] = *field.Field
		if origin := f.read.Manifest.OriginSchema; origin != nil {
			fields[i].Type = inSeconds(fields[i].Type, origin.Field(i).Type)
		}
	}
	kv := map[string]string{}
	for _, e := range f.meta.KeyValueMetadata() {
		if e.Value != nil && e.Key != arrowSchemaKey {
			kv[e.Key] = *e.Value
		}
	}
	meta := arrow.MetadataFrom(kv)
	f.schema = arrow.NewSchema(fields, &meta)
	return nil
}

// checkGroups checks the row groups in the footer, and removes the parts that are not used.
func (f *file) checkGroups() error {
	total := int64(0)
	for g, group := range f.meta.RowGroups {
		if group.NumRows < 0 || group.NumRows > math.MaxInt64-total {
			return corrupt("row group %d has %d rows", g, group.NumRows)
		}
		if total += group.NumRows; len(group.Columns) != f.meta.Schema.NumColumns() {
			return corrupt("row group %d has %d columns, and the schema %d", g, len(group.Columns), f.meta.Schema.NumColumns())
		}
		for i, c := range group.Columns {
			switch {
			case c.CryptoMetadata != nil:
				return unsupported("column %q is encrypted", f.meta.Schema.Column(i).Path())
			case c.MetaData == nil:
				return corrupt("row group %d has no metadata of column %q", g, f.meta.Schema.Column(i).Path())
			case c.FilePath != nil:
				return unsupported("column %q is in another file", f.meta.Schema.Column(i).Path())
			}
			switch codec := c.MetaData.Codec; {
			case codec < 0 || codec >= pages.Codecs:
				return unsupported("compression %d of column %q", codec, f.meta.Schema.Column(i).Path())
			case compress.Compression(codec) != compress.Codecs.Uncompressed:
				c.MetaData.Codec += pages.Codecs
			}
			c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = nil, nil, nil, nil
		}
	}
	return nil
}

// checkArrowSchema checks the schema of Arrow that is stored with a file.
func checkArrowSchema(kv metadata.KeyValueMetadata, most int64) error {
	stored := kv.FindValue(arrowSchemaKey)
	if stored == nil {
		return nil
	}
	encoding := base64.StdEncoding
	if len(*stored)%4 != 0 {
		encoding = base64.RawStdEncoding
	}
	b, err := encoding.DecodeString(*stored)
	if err == nil {
		_, err = message.NewStream(bytes.NewReader(b), message.Options{MaxMemory: most})
	}
	if err != nil {
		return fmt.Errorf("the schema of Arrow: %w", err)
	}
	return nil
}

// leaves calls fn with the numbers of the columns of Parquet that a field has.
func leaves(field *pqarrow.SchemaField, fn func(leaf *pqarrow.SchemaField)) {
	if len(field.Children) == 0 {
		fn(field)
	}
	for i := range field.Children {
		leaves(&field.Children[i], fn)
	}
}

// scan scans the pages of a column in a row group.
func (f *file) scan(g, column int) (facts pages.Facts, err error) {
	c, d := f.meta.RowGroups[g].Columns[column].MetaData, f.meta.Schema.Column(column)
	chunk := pages.Chunk{
		Start: c.DataPageOffset, Size: c.TotalCompressedSize, Values: c.NumValues, Codec: compress.Compression(c.Codec % pages.Codecs),
		Type: d.PhysicalType(), Width: d.TypeLength(), MaxDef: d.MaxDefinitionLevel(), MaxRep: d.MaxRepetitionLevel(),
	}
	if at := c.DictionaryPageOffset; at != nil && *at > 0 && *at < chunk.Start {
		chunk.Start = *at
	}
	switch {
	case chunk.Start < 4 || chunk.Size < 0 || chunk.Start > f.end || chunk.Size > f.end-chunk.Start:
		return facts, corrupt("%d bytes at %d, and the pages end at %d", chunk.Size, chunk.Start, f.end)
	case c.NumValues < 0 || d.MaxRepetitionLevel() == 0 && c.NumValues != f.meta.RowGroups[g].NumRows:
		return facts, corrupt("%d values, and the row group has %d rows", c.NumValues, f.meta.RowGroups[g].NumRows)
	}
	if f.meta.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		chunk.Size = min(chunk.Size+100, f.end-chunk.Start) // as the library does, since they left out headers
	}
	return pages.Scan(f.r, chunk, f.most)
}
