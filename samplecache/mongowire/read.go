package mongowire

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// readView returns the view of the generation published last, or of the generation of the cursor.
// The generation is open until the reply is written.
func (s *Server) readView(ctx context.Context, r *request, c *cursor) (view, error) {
	st := s.store.Load()
	if st == nil {
		return listed(c), nil
	}
	g, err := s.lend(ctx, r, st.cache, c.generation)
	if errors.Is(err, samplecache.ErrEmpty) {
		return listed(c), nil
	}
	if err != nil {
		return nil, err
	}
	c.generation = g.ID()
	r.after = append(r.after, func() {
		s.readers.end(r.conn)
		_ = g.Close() // it was only read
	})
	return (&pages{s: s, st: st, g: g}).documents(c), nil
}

// lend opens a generation for a reply, 0 for the one published last. Call s.readers.end afterwards.
func (s *Server) lend(ctx context.Context, r *request, c *samplecache.Cache, generation uint64) (*samplecache.Generation, error) {
	for {
		var g *samplecache.Generation
		var err error
		if generation == 0 {
			g, err = c.Latest(ctx)
		} else {
			g, err = c.At(ctx, generation)
		}
		if err != nil || s.readers.begin(r.conn, g.ID()) {
			return g, err
		}
		_ = g.Close() // it was only read
		if generation > 0 {
			return nil, samplecache.ErrGenerationGone
		}
	}
}

// readers are the connections whose replies lend the memory of a generation. Safe for concurrent
// use.
type readers struct {
	mu     sync.Mutex
	of     map[*conn]uint64
	oldest uint64 // producers may wait for the ones before
}

// begin reports whether a connection may lend a generation now.
func (rs *readers) begin(c *conn, generation uint64) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if generation < rs.oldest {
		return false
	}
	rs.of[c] = generation
	return true
}

func (rs *readers) end(c *conn) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.of, c)
}

// endBefore disconnects the clients that still take a reply of a generation before another one, so
// that producers do not wait for them.
func (rs *readers) endBefore(generation uint64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.oldest = generation
	for c, of := range rs.of {
		if of < generation {
			_ = c.Conn.Close()
		}
	}
}

// release lets go of generations that producers may wait for, now that latest is published:
// retired ones that this server holds, but for one less than MaxHeld.
func (s *Server) release(config samplecache.Config, latest uint64) {
	kept := uint64(max(config.Retain, 0)) + uint64(max(config.MaxHeld-1, 0))
	if latest > kept {
		s.readers.endBefore(latest - kept)
	}
}

// pages are the documents of a generation.
type pages struct {
	s  *Server
	st *store
	g  *samplecache.Generation

	row  int // of sample
	td   *tdict.TensorDict
	sums []uint32 // of its leaves
	leaf int      // of file
	file *file
}

// A file is the file that torch.save would write.
type file struct {
	head, tail []byte
	x          *tensor.Tensor // uint8 [N]
}

// A page is a chunk of a sample of a generation.
type page struct {
	row int
	chunk
}

// documents yields the documents of the rows that can match a query, from the cursor's next one on.
func (p *pages) documents(c *cursor) view {
	ids, known := c.q.filter.ids()
	rows := p.g.Len()
	if known {
		first, _ := slices.BinarySearch(ids, 0)
		after, _ := slices.BinarySearch(ids, int64(rows))
		ids, rows = ids[first:after], after-first
	}
	of := len(p.st.pages)
	return func(yield func(document) bool) {
		for i := c.next; i < rows*of; i++ {
			at := i
			if c.q.descending {
				at = rows*of - 1 - i
			}
			row := at / of
			if known {
				row = int(ids[row])
			}
			if !yield(p.document(page{row, p.st.pages[at%of]})) {
				return
			}
		}
	}
}

// document returns the document of a page.
func (p *pages) document(at page) document {
	d := bson.D{{"_id", p.id(at)}, {"id", at.row}, {"chunk_id", at.number}, {"kind", string(p.st.leaves[at.leaf].key)}}
	if at.chunk == p.st.pages[len(p.st.pages)-1] {
		d = append(d, bson.E{"telomere", true})
	}
	return document{d, func(r *rope) error { return p.lend(r, at) }}
}

// id returns the _id of a page. They rise from page to page, and from generation to generation.
func (p *pages) id(at page) (id bson.ID) {
	binary.BigEndian.PutUint32(id[:], uint32(p.g.ID()))
	binary.BigEndian.PutUint32(id[4:], uint32(at.row))
	binary.BigEndian.PutUint16(id[8:], uint16(at.leaf))
	binary.BigEndian.PutUint16(id[10:], uint16(at.number))
	return id
}

// lend adds the bytes of a page as the field chunk.
func (p *pages) lend(r *rope, at page) error {
	f, err := p.open(at)
	if err != nil {
		return err
	}
	size := p.s.opt.ChunkBytes
	from := at.number * size
	to := min(from+size, p.st.leaves[at.leaf].layout.Size())
	field := le.AppendUint32(bson.AppendName(nil, bson.Binary, "chunk"), uint32(to-from))
	r.add(append(field, 0))
	f.lend(r, from, to)
	return nil
}

// lend adds some bytes of a file.
func (f *file) lend(r *rope, from, to int) {
	n := f.x.Size()
	clamp := func(i, start, size int) int { return min(max(i-start, 0), size) }
	r.add(f.head[clamp(from, 0, len(f.head)):clamp(to, 0, len(f.head))])
	r.lend(f.x, clamp(from, len(f.head), n), clamp(to, len(f.head), n))
	r.add(f.tail[clamp(from, len(f.head)+n, len(f.tail)):clamp(to, len(f.head)+n, len(f.tail))])
}

// open returns the file of a page. Mostly it is the file of the page before.
func (p *pages) open(at page) (*file, error) {
	if p.file != nil && p.row == at.row && p.leaf == at.leaf {
		return p.file, nil
	}
	if p.td == nil || p.row != at.row {
		td, err := p.sample(at.row)
		if err != nil {
			return nil, err
		}
		info, err := p.g.Info(at.row)
		if err != nil {
			return nil, err
		}
		p.td, p.row, p.sums = td, at.row, info.Sums
	}
	x, err := p.td.Tensor(p.st.leaves[at.leaf].key)
	if err == nil {
		x, err = x.Reshape(x.Size())
	}
	if err == nil {
		x, err = x.Reinterpret(tensor.Uint8)
	}
	if err != nil {
		return nil, err
	}
	l := p.st.leaves[at.leaf].layout
	p.file, p.leaf = &file{l.Head(), l.Tail(p.sums[at.leaf]), x}, at.leaf
	return p.file, nil
}

// sample returns a row: a view of the engine's memory if the engine lends it, otherwise a copy.
func (p *pages) sample(row int) (*tdict.TensorDict, error) {
	td, err := p.g.Slice(row, row+1)
	if errors.Is(err, errors.ErrUnsupported) {
		td, err = p.g.Fetch(p.s.life, []int{row}, nil)
	}
	return td, err
}
