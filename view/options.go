package view

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// ErrSource is returned for sources that cannot be shown.
var ErrSource = errors.New("bad source")

// A Source is one dataset: a Path, which is opened and followed, or a Dict.
type Source struct {
	// Name is in titles and addresses; "" means the last part of Path. Characters that cannot be
	// seen are written as escapes of Go. If several sources have one name, all but the first get a
	// number: visits, visits-2.
	Name string
	// Path is a directory or a file of package memmap. It is opened when somebody looks at it. With
	// Dict, it is the file that Dict was read from: errors name it without its directories.
	Path string
	// Dict is a dictionary that the program has opened. It must not change, nor be closed before
	// [Server.Close] has returned.
	Dict *tdict.TensorDict
	// Form is the form of the file that Dict was read from, such as "safetensors".
	Form string
	// Schema says which leaves of Dict have masks. For a dataset under Path, the schema that was
	// saved with it says so.
	Schema tdict.Schema
	// Metadata of the file from which Dict was read. The page lists them.
	Metadata map[string]string
}

// Options are the options of [Handler]. Zero values are defaults.
type Options struct {
	Sources []Source
	// Idle is how long a dataset stays open after the last look; 0 means a minute. When the last
	// dataset is closed, the handler collects garbage and gives memory back to the system.
	Idle time.Duration
	// MaxRead bounds the bytes of a leaf that are read to describe it; 0 means 32 MiB. Of larger
	// leaves a sample of 4 MiB is read, unless somebody asks for all.
	MaxRead int64
	// MaxRequests is the number of requests that are worked on at a time; 0 means 16. Up to ten
	// times MaxRequests wait, and further requests are answered with 503.
	MaxRequests int
	// MaxStreams is the number of streams of events that are open at a time; 0 means 64. A page
	// that gets no stream does not change.
	MaxStreams int
}

// check returns the sources with their names, and o with its defaults.
func (o Options) check() (Options, []shelf.Source, error) {
	for _, n := range []int64{int64(o.Idle), o.MaxRead, int64(o.MaxRequests), int64(o.MaxStreams)} {
		if n < 0 {
			return o, nil, fmt.Errorf("view: %w: got the limit %d, want 0 or more", ErrSource, n)
		}
	}
	defaultTo(&o.Idle, time.Minute)
	defaultTo(&o.MaxRead, 32<<20)
	defaultTo(&o.MaxRequests, 16)
	defaultTo(&o.MaxStreams, 64)
	if len(o.Sources) == 0 {
		return o, nil, fmt.Errorf("view: %w: got no source, want one or more", ErrSource)
	}
	named := map[string]bool{}
	var sources []shelf.Source
	for i, source := range o.Sources {
		if source.Path == "" && source.Dict == nil {
			return o, nil, fmt.Errorf("view: %w: source %d: want a Path or a Dict", ErrSource, i)
		}
		name := source.Name
		if name == "" && source.Path != "" {
			if abs, err := filepath.Abs(source.Path); err == nil {
				name = filepath.Base(abs)
			}
		}
		if name == "" {
			name = "dataset"
		}
		source.Name = unused(named, text.ShowRunes(name, 100).String())
		sources = append(sources, shelf.Source(source))
	}
	return o, sources, nil
}

func defaultTo[T comparable](x *T, value T) {
	var zero T
	if *x == zero {
		*x = value
	}
}

// unused returns name, with a number if it is taken, and notes that it is taken.
func unused(named map[string]bool, name string) string {
	free := name
	for n := 2; named[free]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	named[free] = true
	return free
}
