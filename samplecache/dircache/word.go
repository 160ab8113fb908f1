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
	v := w.at(at).Load()
	if seal(v) != v {
		panic(badWord(at))
	}
	return v & wordMax
}

func (w words) store(at int, v uint64) { w.at(at).Store(seal(v)) }

func (w words) cas(at int, old, v uint64) bool {
	return w.at(at).CompareAndSwap(seal(old), seal(v))
}

// at returns a word. One that there is not was worked out from another, which is damaged.
func (w words) at(i int) *atomic.Uint64 {
	if uint(i) >= uint(len(w)) {
		panic(badWord(i))
	}
	return &w[i]
}

// below loads a word that is at most most.
func (w words) below(at int, most uint64) int {
	v := w.load(at)
	if v > most {
		panic(badWord(at))
	}
	return int(v)
}

// check loads all words.
func (l *layout) check(w words) {
	for at := headerBytes / 8; at < l.end; at++ {
		w.load(at)
	}
}

// raise stores v unless the word is that or more.
func (w words) raise(at int, v uint64) {
	for {
		old := w.load(at)
		if old >= v || w.cas(at, old, v) {
			return
		}
	}
}

// useBoth is use of the words and of the records of a store, which may be cut as well.
func (s *session) useBoth(st store, fn func(w words)) (err error) {
	failed := s.use(func(w words) { err = mapping.Guard(func() { fn(w) }) })
	if err != nil {
		err = s.fail(st.name()+recordsSuffix, fmt.Errorf("%w: the file was cut", samplecache.ErrCorrupt))
	}
	return errors.Join(failed, err)
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
