// What the fences of docs/schema.md use without declaring it.
package fence

import "github.com/go-tensordict/tensordict/tdict"

var td *tdict.TensorDict
