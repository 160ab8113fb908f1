package sampler

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/splitmix"
)

// digest returns a checksum of a list as 16 hexadecimal digits. It represents the list in a
// description.
func digest[T int | int64](list []T) string {
	h := uint64(len(list))
	for _, x := range list {
		h = splitmix.Mix(h, uint64(x))
	}
	return fmt.Sprintf("%016x", h)
}
