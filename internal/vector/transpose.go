package vector

// Transpose transposes items of width bytes: rows of x become columns of dst. It transposes blocks
// of 8 rows of 32 bytes, n of them one below the other in x and side by side in dst. from and to
// are the distances between rows of x and of dst in bytes.
//
// Transpose has no counterpart in plain Go: it returns false and does nothing if there is no kernel
// for the width. It panics if dst or x is too short.
func Transpose(width int, dst, x []byte, to, from, n int) bool {
	if width >= len(kernels.transpose) || kernels.transpose[width] == nil || n == 0 {
		return false
	}
	_ = x[(8*n-1)*from : (8*n-1)*from+32]
	_ = dst[(32/width-1)*to : (32/width-1)*to+8*width*n]
	kernels.transpose[width](dst, x, to, from, n)
	return true
}
