package transpose

import "runtime"

// MaxWidth is the largest width of an item in bytes. Larger ones gain nothing.
const MaxWidth = 16

// A Side is the memory of a plane at one side. Items of a row are contiguous.
type Side struct {
	Bytes []byte
	At    int // byte of item (0, 0)
	Pitch int // bytes from a row to the next; may be negative
}

// row returns n bytes of a row from an item on, which is given by its number of bytes.
func (s Side) row(row, first, n int) []byte {
	at := s.At + row*s.Pitch + first
	return s.Bytes[at : at+n]
}

// A Plane is a transposition: item (i, j) of To is item (j, i) of From. The sides share no memory.
type Plane struct {
	To, From Side
	Rows     int // of To
	Cols     int // of To
	Width    int // bytes of an item, from 1 to MaxWidth
}

// Bytes of a tile at each side, and the distance between its rows in scratch memory. A distance
// that is constant needs no bounds checks, and one that is not a power of two keeps rows apart in
// the cache.
const (
	fromBytes, toBytes = 1024, 512
	fromPitch, toPitch = fromBytes + 64, toBytes + 64
)

// A scratch is the memory of a tile as it comes and as it goes. Each has as many rows as the other
// has items in a row, at most one an item of one byte.
type scratch struct {
	from [toBytes * fromPitch]byte
	to   [fromBytes * toPitch]byte
}

// scratches keeps the memory of tiles, for one a core. A sync.Pool would give 1.1 MB back at each
// collection of garbage.
var scratches = make(chan *scratch, runtime.GOMAXPROCS(0))

// aScratch returns memory from scratches, or new memory.
func aScratch() *scratch {
	select {
	case s := <-scratches:
		return s
	default:
		return new(scratch)
	}
}

// giveBack returns memory to scratches, if there is room.
func (s *scratch) giveBack() {
	select {
	case scratches <- s:
	default:
	}
}

// Copy copies the plane.
func (p Plane) Copy() {
	s := aScratch()
	defer s.giveBack()
	down, across := fromBytes/p.Width, toBytes/p.Width
	for i := 0; i < p.Rows; i += down {
		for j := 0; j < p.Cols; j += across {
			p.tile(s, i, min(down, p.Rows-i), j, min(across, p.Cols-j))
		}
	}
}

// tile copies one tile: rows of the destination from row top on, and columns from column left on.
func (p Plane) tile(s *scratch, top, rows, left, cols int) {
	n := rows * p.Width
	for j := range cols {
		copy(s.from[j*fromPitch:], p.From.row(left+j, top*p.Width, n))
	}
	s.turn(rows, cols, p.Width)
	n = cols * p.Width
	for i := range rows {
		copy(p.To.row(top+i, left*p.Width, n), s.to[i*toPitch:])
	}
}
