package dircache

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
)

// A word of the control file is 48 bits of content and, above them, the CRC-16 of these: so a byte
// that was changed by anything but this package shows. No word is zero.
const (
	wordBits = 48
	wordMax  = 1<<wordBits - 1
)

// crc16 has the CRC-16-CCITT of each byte.
var crc16 = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}()

// seal returns the word with a content of at most 48 bits.
func seal(v uint64) uint64 {
	crc := uint16(0xFFFF)
	for shift := wordBits - 8; shift >= 0; shift -= 8 {
		crc = crc<<8 ^ crc16[byte(crc>>8)^byte(v>>shift)]
	}
	return v&wordMax | uint64(crc)<<wordBits
}

// words are the words of a control file, for one call of [session.use]. Loading one that is damaged
// ends the call.
type words []atomic.Uint64

// A badWord is the panic of a load that ends a call of [session.use].
type badWord int

func (w words) load(at int) uint64 {
	v := w[at].Load()
	if seal(v) != v {
		panic(badWord(at))
	}
	return v & wordMax
}

func (w words) store(at int, v uint64) { w[at].Store(seal(v)) }

func (w words) cas(at int, old, v uint64) bool { return w[at].CompareAndSwap(seal(old), seal(v)) }

// raise stores v unless the word is that or more.
func (w words) raise(at int, v uint64) {
	for {
		old := w.load(at)
		if old >= v || w.cas(at, old, v) {
			return
		}
	}
}

// use calls fn with the words of the control file. A damaged word, and a file that was cut, is an
// error that says where; what fn has done before stays done.
func (s *session) use(fn func(w words)) (err error) {
	w, err := s.control.Words()
	if err != nil {
		return err
	}
	defer s.control.Release()
	defer func() {
		switch bad := recover().(type) {
		case nil:
		case badWord:
			err = s.fail(controlName, fmt.Errorf("%w: the word at byte %d is damaged", samplecache.ErrCorrupt, int(bad)*8))
		default:
			panic(bad)
		}
	}()
	err = mapping.Guard(func() { fn(w) })
	if errors.Is(err, mapping.ErrFault) {
		err = s.fail(controlName, fmt.Errorf("%w: the file was cut", samplecache.ErrCorrupt))
	}
	return err
}
