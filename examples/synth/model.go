package main

// A model guesses the label of a voxel from how bright it is: the label that such voxels had most
// often so far.
type model struct {
	seen   [256][labels]int
	guess  [256]uint8
	right  int
	voxels int
}

// train guesses the voxels of a batch, and then learns from what they are.
func (m *model) train(image, label []uint8) {
	for i, v := range image {
		l := label[i]
		if m.guess[v] == l {
			m.right++
		}
		m.seen[v][l]++
	}
	m.voxels += len(image)
	for v, seen := range m.seen {
		for l, n := range seen {
			if n > seen[m.guess[v]] {
				m.guess[v] = uint8(l)
			}
		}
	}
}

// accuracy returns the share of voxels that were guessed right before they were learned from.
func (m *model) accuracy() float64 { return float64(m.right) / float64(max(m.voxels, 1)) }
