package arith

// SetPieceBytes sets how much of a tensor is copied at once, and returns how much it was.
func SetPieceBytes(n int) (was int) {
	was, pieceBytes = pieceBytes, n
	return was
}

// SetMinFold sets from how many elements on a fold goes to a second core.
func SetMinFold(n int) { minFold = n }
