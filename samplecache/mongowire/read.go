package mongowire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

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
	st.recent.keep(ctx, st.cache, g.ID())
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
func (s *Server) release(st *store, latest uint64) {
	config := st.cache.Config()
	kept := uint64(max(config.Retain, 0)) + uint64(max(config.MaxHeld-1, 0))
	if latest > kept {
		s.readers.endBefore(latest - kept)
		st.recent.dropBefore(latest - kept)
	}
}

// idle is how long a recent holds a generation after the last find.
const idle = time.Second

// A recent holds the generation that was read last, which keeps its files open: opening them for
// each find takes as long as sending a small sample. Safe for concurrent use.
type recent struct {
	mu     sync.Mutex
	g      *samplecache.Generation // or nil
	timer  *time.Timer
	oldest uint64 // producers may wait for the ones before
}

// keep holds a generation until there is no find for a while, or a newer generation is read.
func (r *recent) keep(ctx context.Context, c *samplecache.Cache, id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case id < r.oldest:
		return
	case r.g != nil && r.g.ID() >= id:
		r.timer.Reset(idle)
		return
	}
	g, err := c.At(ctx, id)
	if err != nil {
		return // the next find maps it again
	}
	r.close()
	r.g, r.timer = g, time.AfterFunc(idle, r.drop)
}

// drop lets go of the generation.
func (r *recent) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.close()
}

// dropBefore lets go of the generation if it is older than another one.
func (r *recent) dropBefore(generation uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.oldest = generation
	if r.g != nil && r.g.ID() < generation {
		r.close()
	}
}

// close lets go of the generation. r.mu is held.
func (r *recent) close() {
	if r.g != nil {
		r.timer.Stop()
		_ = r.g.Close() // it was only read
		r.g = nil
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

// A page is a chunk of the file of a leaf of a sample.
type page struct{ row, leaf, chunk int }

// documents yields the documents of the rows that can match a query, after the last one of the
// cursor.
func (p *pages) documents(c *cursor) view {
	last, begun := c.after.(bson.ID)
	sign := 1
	if c.q.descending {
		sign = -1
	}
	return func(yield func(document) bool) {
		for row := range p.rows(c) {
			of := p.pagesOf(row)
			if c.q.descending {
				slices.Reverse(of)
			}
			for _, at := range of {
				id := p.id(at)
				if begun && bytes.Compare(id[:], last[:])*sign <= 0 {
					continue
				}
				if !yield(p.document(at)) {
					return
				}
			}
		}
	}
}

// rows yields the rows that can match a query, in its order, from the last one of the cursor on.
func (p *pages) rows(c *cursor) iter.Seq[int] {
	from, to := 0, p.g.Len()-1
	if last, begun := c.after.(bson.ID); begun {
		row := int(binary.BigEndian.Uint32(last[4:]))
		if c.q.descending {
			to = row
		} else {
			from = row
		}
	}
	ids, known := c.q.filter.ids()
	row := func(i int) int { return i }
	if known {
		first, _ := slices.BinarySearch(ids, int64(from))
		after, _ := slices.BinarySearch(ids, int64(to)+1)
		row = func(i int) int { return int(ids[i]) }
		from, to = first, after-1
	}
	return func(yield func(int) bool) {
		for i := from; i <= to; i++ {
			at := i
			if c.q.descending {
				at = to - (i - from)
			}
			if !yield(row(at)) {
				return
			}
		}
	}
}

// pagesOf returns the pages of a row.
func (p *pages) pagesOf(row int) (all []page) {
	for leaf, l := range p.st.leaves {
		for chunk := range l.chunks {
			all = append(all, page{row, leaf, chunk})
		}
	}
	return all
}

// document returns the document of a page.
func (p *pages) document(at page) document {
	l := p.st.leaves[at.leaf]
	d := bson.D{{"_id", p.id(at)}, {"id", at.row}, {"chunk_id", at.chunk}, {"kind", string(l.key)}}
	if at.leaf == len(p.st.leaves)-1 && at.chunk == l.chunks-1 {
		d = append(d, bson.E{"telomere", true})
	}
	return document{d, func(r *rope) error { return p.lend(r, at) }}
}

// id returns the _id of a page. They rise from page to page, and from generation to generation.
func (p *pages) id(at page) (id bson.ID) {
	binary.BigEndian.PutUint32(id[:], uint32(p.g.ID()))
	binary.BigEndian.PutUint32(id[4:], uint32(at.row))
	binary.BigEndian.PutUint16(id[8:], uint16(at.leaf))
	binary.BigEndian.PutUint16(id[10:], uint16(at.chunk))
	return id
}

// lend adds the bytes of a page as the field chunk.
func (p *pages) lend(r *rope, at page) error {
	f, err := p.open(at)
	if err != nil {
		return err
	}
	size := p.s.opt.ChunkBytes
	from := at.chunk * size
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
