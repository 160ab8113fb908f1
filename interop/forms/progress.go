package forms

import (
	"io"
	"iter"
	"os"

	"github.com/go-tensordict/tensordict/tdict"
)

// A meter reports progress.
type meter struct {
	done, total int64
	progress    func(done, total int64)
}

func (m *meter) add(n int) {
	if m.done += int64(n); m.progress != nil {
		m.progress(m.done, m.total)
	}
}

// size returns the bytes that chunks reads, or 0 if the number is not known.
func (in *Input) size() int64 {
	if in.Dict != nil {
		return int64(in.Dict.ByteSize())
	}
	info, err := os.Stat(in.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// A counter reports how many bytes were read.
type counter struct {
	io.Reader
	progress func(n int)
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.progress(n)
	return n, err
}

// counted reports the size of each chunk after it was used.
func counted(chunks iter.Seq2[*tdict.TensorDict, error], progress func(n int)) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		for chunk, err := range chunks {
			if !yield(chunk, err) || err != nil {
				return
			}
			progress(chunk.ByteSize())
		}
	}
}
