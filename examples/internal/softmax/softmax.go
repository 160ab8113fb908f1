// Package softmax is a linear classifier: the smallest model for the examples.
package softmax

import (
	"math"
	"slices"
)

// A Model gives each class a score that is linear in the inputs. Not safe for concurrent use.
type Model struct {
	Weights [][]float32 // [classes][inputs]
	Bias    []float32   // [classes]
	Rate    float32     // learning rate
}

// New returns an untrained model.
func New(classes, inputs int) *Model {
	m := &Model{make([][]float32, classes), make([]float32, classes), 0.5}
	for c := range m.Weights {
		m.Weights[c] = make([]float32, inputs)
	}
	return m
}

// scores returns the probability of each class.
func (m *Model) scores(input []float32) []float32 {
	p := make([]float32, len(m.Bias))
	top := float32(math.Inf(-1))
	for c := range p {
		p[c] = m.Bias[c]
		for i, v := range input {
			p[c] += m.Weights[c][i] * v
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

// Predict returns the most probable class of an input.
func (m *Model) Predict(input []float32) int {
	best, p := 0, m.scores(input)
	for c := range p {
		if p[c] > p[best] {
			best = c
		}
	}
	return best
}

// Equal reports whether m and x are the same model, bit for bit except for the sign of zeros.
func (m *Model) Equal(x *Model) bool {
	return slices.Equal(m.Bias, x.Bias) && slices.EqualFunc(m.Weights, x.Weights, slices.Equal[[]float32])
}

// Accuracy returns the share of inputs whose label m predicts. The inputs are concatenated.
func (m *Model) Accuracy(inputs []float32, labels []int64) float64 {
	right, width := 0, len(m.Weights[0])
	for n, label := range labels {
		if m.Predict(inputs[n*width:(n+1)*width]) == int(label) {
			right++
		}
	}
	return float64(right) / float64(len(labels))
}

// Train takes a step of gradient descent on a batch of inputs, which are concatenated, and returns
// the sum of their losses.
func (m *Model) Train(inputs []float32, labels []int64) (loss float64) {
	width := len(m.Weights[0])
	grad := New(len(m.Bias), width)
	for n, label := range labels {
		input := inputs[n*width : (n+1)*width]
		p := m.scores(input)
		loss -= math.Log(float64(max(p[label], 1e-12)))
		p[label]--
		for c, d := range p {
			grad.Bias[c] += d
			for i, v := range input {
				grad.Weights[c][i] += d * v
			}
		}
	}
	m.step(grad, m.Rate/float32(len(labels)))
	return loss
}

// step moves m against a gradient.
func (m *Model) step(grad *Model, by float32) {
	for c := range m.Weights {
		m.Bias[c] -= by * grad.Bias[c]
		for i := range m.Weights[c] {
			m.Weights[c][i] -= by * grad.Weights[c][i]
		}
	}
}
