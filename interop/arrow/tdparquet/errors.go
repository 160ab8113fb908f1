package tdparquet

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
)

// Options say how columns become entries, and which are read. The zero Options are valid. The
// fields are:
//
//	Schema    tdict.Schema      // of the chunks; nil: what InferFile returns
//	Keys      []nestedkey.Key   // entries to read, with all below them and their masks; nil: all
//	Groups    []int             // numbers of row groups to read, from 0; nil: all
//	Rows      int               // the most rows of a chunk; 0: a row group, or about 8 MiB
//	MaxMemory int64             // the most bytes of a batch in memory; 0: 1 GiB
//	Skip      bool              // leave out columns that no dtype holds, such as decimals
//	Note      func(text string) // called with surprises, such as a column that is left out
//
// A corrected Schema has the masks, or says Optional: then an entry gets one. An entry is read as
// its type in the file: Categories, a fixed Shape for lists, and text for bytes can be changed, a
// dtype cannot. Its column has the last part of the key as its name, or the name in Columns.
type Options = columns.Options

// A ColumnError says where in a file an error is: Path, Part (such as "row group 3"), Column and
// Err.
type ColumnError = message.Error

// Errors about files.
var (
	// ErrCorrupt says that a file is damaged.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file has something that is not supported, such as encryption.
	ErrUnsupported = fileformat.ErrUnsupported
	// ErrMemory says that reading would take more memory than Options.MaxMemory.
	ErrMemory = columns.ErrMemory
	// ErrType says that a type of a column has no dtype, or a dtype no type of Arrow.
	ErrType = columns.ErrType
	// ErrNull says that a value is missing in an entry that has no mask for it.
	ErrNull = columns.ErrNull
)

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// groupName returns the name of a row group in errors.
func groupName(g int) string { return fmt.Sprintf("row group %d", g) }
