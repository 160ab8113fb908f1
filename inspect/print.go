package inspect

import (
	"io"

	"github.com/go-tensordict/tensordict/tdict"
)

// PrintOptions say what [Print] prints. The zero value is the default.
type PrintOptions struct {
	// Depth is how many levels of dictionaries are printed; 0 means all.
	Depth int
	// Sort prints the entries of each dictionary in the order of their names.
	Sort bool
	// Rows bounds the lines of entries; 0 means 40, and less than 0 all.
	Rows int
	// Bytes prints sizes in bytes, and not as 12.3 MB.
	Bytes bool
}

// Print writes td as a tree of keys.
func Print(w io.Writer, td *tdict.TensorDict, opt PrintOptions) error { return nil }
