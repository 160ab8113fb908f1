package nestedkey

import "cmp"

// Compare orders keys part by part, each by the bytes of its text. A key comes before the keys
// nested in it. Compare returns -1, 0 or +1, as [cmp.Compare] does, and allocates nothing.
func Compare(a, b Key) int {
	for a != "" && b != "" {
		x, nx := head(a)
		y, ny := head(b)
		if x != y {
			return cmp.Compare(x, y)
		}
		a, b = a[nx:], b[ny:]
	}
	return cmp.Compare(len(a), len(b))
}

// head returns the first byte of k's text, and the number of bytes that spell it. It returns -1 for
// the separator, which is less than any byte.
func head(k Key) (value, width int) {
	switch {
	case k[0] == '/':
		return -1, 1
	case k[0] == '~' && len(k) > 1 && k[1] == '1':
		return '/', 2
	case k[0] == '~' && len(k) > 1 && k[1] == '0':
		return '~', 2
	}
	return int(k[0]), 1
}
