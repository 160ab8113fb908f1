//go:build nounsafe

package cast

// Uninit returns n bytes of new memory, aligned for every element type.
func Uninit(n int) []byte { return make([]byte, n, (n+7)&^7) }
