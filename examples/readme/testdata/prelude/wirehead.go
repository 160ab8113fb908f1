// What the fences of docs/wirehead.md use without declaring it.
package fence

import "context"

var ctx context.Context
