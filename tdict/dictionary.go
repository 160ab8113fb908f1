package tdict

// A Dictionary is a *TensorDict or holds one, as a *memmap.Dataset does. Functions that take a
// Dictionary read or change that TensorDict itself, not a copy.
type Dictionary interface {
	// AsTensorDict returns the TensorDict; nil for a nil pointer.
	AsTensorDict() *TensorDict
}

// AsTensorDict returns td: a TensorDict is a [Dictionary].
func (td *TensorDict) AsTensorDict() *TensorDict { return td }

// Of returns the TensorDict of d, or nil if d is nil.
func Of(d Dictionary) *TensorDict {
	if d == nil {
		return nil
	}
	return d.AsTensorDict()
}
