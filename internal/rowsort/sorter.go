package rowsort

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// A Row is the number of a row and its key. The key is valid until the next iteration.
type Row struct {
	Key    Key
	Number int64
}

// A Sorter sorts rows by key, and rows of one key by number. What exceeds the memory is in files
// until Close. Not safe for concurrent use.
type Sorter struct {
	beside string // the temporary files are beside this path
	most   int    // bytes of rows in memory

	keys []byte
	rows []span
	temp *vfs.Temp
	runs int // number of files
}

// A span is a row in memory: its key is keys[from:to].
type span struct {
	from, to int
	number   int64
}

// rowBytes is the memory of a row besides its key.
const rowBytes = 24

// NewSorter returns a Sorter without rows, which keeps about most bytes in memory.
func NewSorter(beside string, most int) *Sorter { return &Sorter{beside: beside, most: most} }

// Add adds a row. It copies the key.
func (s *Sorter) Add(key Key, number int64) error {
	if len(s.rows) > 0 && len(s.keys)+len(key)+rowBytes*(len(s.rows)+1) > s.most {
		if err := s.spill(); err != nil {
			return err
		}
	}
	from := len(s.keys)
	s.keys = append(s.keys, key...)
	s.rows = append(s.rows, span{from, len(s.keys), number})
	return nil
}

// compare compares two rows.
func compare(a Key, i int64, b Key, j int64) int {
	return cmp.Or(bytes.Compare(a, b), cmp.Compare(i, j))
}

// arrange sorts the rows in memory.
func (s *Sorter) arrange() {
	slices.SortFunc(s.rows, func(a, b span) int {
		return compare(s.keys[a.from:a.to], a.number, s.keys[b.from:b.to], b.number)
	})
}

// spill writes the rows in memory to a file.
func (s *Sorter) spill() (err error) {
	if s.temp == nil {
		if s.temp, err = vfs.MakeTemp(vfs.OS, s.beside); err != nil {
			return err
		}
		if err = vfs.OS.Mkdir(s.temp.New(), 0o700); err != nil {
			return err
		}
	}
	s.arrange()
	file, err := vfs.OS.Create(s.run(s.runs), 0o600)
	if err != nil {
		return err
	}
	s.runs++
	w := bufio.NewWriterSize(file, 1<<20)
	var head [16]byte
	for _, row := range s.rows {
		binary.LittleEndian.PutUint64(head[:], uint64(row.to-row.from))
		binary.LittleEndian.PutUint64(head[8:], uint64(row.number))
		_, _ = w.Write(head[:]) // Flush returns the error
		_, _ = w.Write(s.keys[row.from:row.to])
	}
	s.keys, s.rows = s.keys[:0], s.rows[:0]
	return errors.Join(w.Flush(), file.Close())
}

// run returns the path of a file of rows.
func (s *Sorter) run(i int) string { return filepath.Join(s.temp.New(), strconv.Itoa(i)) }

// All returns the rows in order. Add must not be called any more. All may be called again.
func (s *Sorter) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		s.arrange()
		if s.runs == 0 {
			for _, row := range s.rows {
				if !yield(Row{s.keys[row.from:row.to], row.number}, nil) {
					return
				}
			}
			return
		}
		m, err := s.merge()
		defer m.close()
		for err == nil && len(m.heads) > 0 {
			if !yield(m.heads[0].row, nil) {
				return
			}
			err = m.next()
		}
		if err != nil {
			yield(Row{}, err)
		}
	}
}

// Close removes the files.
func (s *Sorter) Close() error {
	s.keys, s.rows = nil, nil
	if s.temp == nil {
		return nil
	}
	return s.temp.Remove()
}

// A merger merges sorted rows: a heap of the first row of each file, and of the memory.
type merger struct{ heads []*head }

// A head is the next row of a sorted source.
type head struct {
	row  Row
	next func() (Row, error) // io.EOF after the last row
	done func() error
}

// merge returns a merger of all files and the rows in memory.
func (s *Sorter) merge() (*merger, error) {
	m := &merger{}
	i := 0
	memory := func() (Row, error) {
		if i == len(s.rows) {
			return Row{}, io.EOF
		}
		row := s.rows[i]
		i++
		return Row{s.keys[row.from:row.to], row.number}, nil
	}
	sources := []*head{{next: memory, done: func() error { return nil }}}
	for run := range s.runs {
		file, err := os.Open(s.run(run))
		if err != nil {
			m.heads = sources
			return m, err
		}
		sources = append(sources, &head{next: reader(bufio.NewReaderSize(file, 1<<16)), done: file.Close})
	}
	for _, h := range sources {
		row, err := h.next()
		if err == io.EOF {
			if err = h.done(); err == nil {
				continue
			}
		}
		if err != nil {
			m.heads = sources // the caller closes all
			return m, err
		}
		h.row = row
		m.heads = append(m.heads, h)
	}
	heap.Init(m)
	return m, nil
}

// reader returns a function that reads the rows of a file.
func reader(r io.Reader) func() (Row, error) {
	var key []byte
	return func() (Row, error) {
		var head [16]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return Row{}, err
		}
		n := int(binary.LittleEndian.Uint64(head[:]))
		key = slices.Grow(key[:0], n)[:n]
		_, err := io.ReadFull(r, key)
		if err == io.EOF { // a row without its key is not the end
			err = io.ErrUnexpectedEOF
		}
		return Row{key, int64(binary.LittleEndian.Uint64(head[8:]))}, err
	}
}

// next goes to the next row.
func (m *merger) next() error {
	h := m.heads[0]
	row, err := h.next()
	switch err {
	case nil:
		h.row = row
		heap.Fix(m, 0)
	case io.EOF:
		heap.Pop(m)
		return h.done()
	}
	return err
}

// close closes the files.
func (m *merger) close() {
	for _, h := range m.heads {
		_ = h.done() // nothing was written
	}
}

// Len, Less, Swap, Push and Pop are heap.Interface.
func (m *merger) Len() int { return len(m.heads) }

func (m *merger) Less(i, j int) bool {
	a, b := m.heads[i].row, m.heads[j].row
	return compare(a.Key, a.Number, b.Key, b.Number) < 0
}

func (m *merger) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

func (m *merger) Push(x any) { m.heads = append(m.heads, x.(*head)) }

func (m *merger) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}

// A Group is all rows of one key.
type Group struct {
	Key     Key
	Numbers []int64
}

// Compare compares the key of g with another.
func (g *Group) Compare(key Key) int { return bytes.Compare(g.Key, key) }

// Groups yields the rows of each key together. A Group is valid until the next iteration.
func Groups(rows iter.Seq2[Row, error]) iter.Seq2[*Group, error] {
	return func(yield func(*Group, error) bool) {
		var g Group
		for row, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(g.Numbers) > 0 && g.Compare(row.Key) != 0 {
				if !yield(&g, nil) {
					return
				}
				g.Numbers = g.Numbers[:0]
			}
			g.Key = append(g.Key[:0], row.Key...)
			g.Numbers = append(g.Numbers, row.Number)
		}
		if len(g.Numbers) > 0 {
			yield(&g, nil)
		}
	}
}
