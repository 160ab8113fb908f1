package arith

// SetPieceBytes sets how much of a tensor is copied at once, and returns how much it was.
func SetPieceBytes(n int) (was int) {
	was, pieceBytes = pieceBytes, n
	return was
}
