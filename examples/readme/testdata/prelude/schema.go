// What the fences of docs/schema.md use without declaring it.
package fence

import (
	"context"

	"github.com/go-tensordict/tensordict/tdict"
)

var (
	ctx    context.Context
	td     *tdict.TensorDict
	wrong  tdict.Value
	people tdict.Schema
)
