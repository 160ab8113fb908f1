// What the fences of docs/missing.md use without declaring it.
package fence

import "github.com/go-tensordict/tensordict/tdict"

var td *tdict.TensorDict
