// What the fences of docs/feed.md use without declaring it.
package fence

import (
	"context"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/memmap"
)

var (
	ctx context.Context
	ds  *memmap.Dataset
	opt feed.Options
)
