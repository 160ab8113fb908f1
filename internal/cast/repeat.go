package cast

// Repeat fills b with copies of element. The length of b is a multiple of the length of element.
func Repeat(b, element []byte) {
	if len(b) == 0 {
		return
	}
	for _, v := range element {
		if v != 0 {
			for n := copy(b, element); n < len(b); n *= 2 {
				copy(b[n:], b[:n])
			}
			return
		}
	}
	clear(b)
}
