package memmap

import (
	"context"
	"math"

	"github.com/go-tensordict/tensordict/tdict"
)

// Create makes a dictionary like prototype in the directory dir, with zeros for elements, and returns
// it open to be written: a dataset that need not fit into memory, nor be copied. The prototype tells
// keys, shapes and dtypes, and the values of Data and of unbatched tensors; elements of its tensors
// are not looked at, so that expanded zeros, which take no memory, will do:
//
//	zero := tensor.Must(tensor.New(tensor.Float32))
//	frames := tensor.Must(zero.Expand(1_000_000, 3, 64, 64)) // 49 GB that are not there
//
// Room for all of it is set aside first, so a full disk is an error, and not a fault later. Others
// see the dictionary, whole, once Create returns, and zeros in it where nothing was written yet. It
// replaces what is at dir as [SaveWith] does, whose errors it has. The leaves have no checksums
// before [Dataset.Flush] or [Dataset.Close].
func Create(dir string, prototype *tdict.TensorDict, opt SaveOptions) (*Dataset, error) {
	s := &saver{op: "create", ctx: context.Background(), dir: dir, opt: opt, reserve: true}
	at, err := s.save(prototype)
	if err != nil {
		return nil, err
	}
	return openAt(dir, at, OpenOptions{Writable: true, MaxEntries: math.MaxInt})
}
