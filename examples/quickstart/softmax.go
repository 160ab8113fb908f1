package main

import "math"

const (
	classes = 10
	pixels  = 64
	rate    = 0.5 // of learning
)

// A softmax is a linear classifier of images.
type softmax struct {
	weights [classes][pixels]float32
	bias    [classes]float32
}

// scores returns the model's probability of each class.
func (m *softmax) scores(image []float32) (p [classes]float32) {
	top := float32(math.Inf(-1))
	for c := range p {
		p[c] = m.bias[c]
		for i, v := range image {
			p[c] += m.weights[c][i] * v
		}
		top = max(top, p[c])
	}
	var sum float32
	for c := range p {
		p[c] = float32(math.Exp(float64(p[c] - top)))
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

// predict returns the most probable class.
func (m *softmax) predict(image []float32) int {
	best, p := 0, m.scores(image)
	for c := range p {
		if p[c] > p[best] {
			best = c
		}
	}
	return best
}

// train takes a step of gradient descent on one mini-batch, and returns its summed loss.
func (m *softmax) train(images []float32, labels []int64) (loss float64) {
	var grad softmax
	for n, label := range labels {
		image := images[n*pixels : (n+1)*pixels]
		p := m.scores(image)
		loss -= math.Log(float64(max(p[label], 1e-12)))
		p[label]--
		for c, d := range p {
			grad.bias[c] += d
			for i, v := range image {
				grad.weights[c][i] += d * v
			}
		}
	}
	step := rate / float32(len(labels))
	for c := range m.weights {
		m.bias[c] -= step * grad.bias[c]
		for i := range m.weights[c] {
			m.weights[c][i] -= step * grad.weights[c][i]
		}
	}
	return loss
}
