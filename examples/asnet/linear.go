package main

import (
	"math"

	"github.com/go-tensordict/tensordict/tensor"
)

// linear returns x w + b:
//
//	x [B A I], w [I O], b [O] -> [B A O]
func linear(x, w, b *tensor.Tensor) *tensor.Tensor {
	xs, ws, bs := values(x), values(w), values(b)
	inputs, outputs := w.Shape()[0], w.Shape()[1]
	var y []float64
	for row := range len(xs) / inputs {
		for o := range outputs {
			sum := bs[o]
			for i := range inputs {
				sum += xs[row*inputs+i] * ws[i*outputs+o]
			}
			y = append(y, sum)
		}
	}
	return tensor.Must(tensor.From(y, x.Shape()[0], x.Shape()[1], outputs))
}

// linearGradient returns the gradients of linear, given that of its result:
//
//	g [B A O], x [B A I], w [I O] -> dx [B A I], dw [I O], db [O]
func linearGradient(g, x, w *tensor.Tensor) (dx, dw, db *tensor.Tensor) {
	dx, dw, db = zeros(x.Shape()...), zeros(w.Shape()...), zeros(w.Shape()[1])
	xs, ws, dxs, dws, dbs := values(x), values(w), values(dx), values(dw), values(db)
	inputs, outputs := w.Shape()[0], w.Shape()[1]
	for n, d := range values(g) {
		row, o := n/outputs, n%outputs
		dbs[o] += d
		for i := range inputs {
			dxs[row*inputs+i] += d * ws[i*outputs+o]
			dws[i*outputs+o] += d * xs[row*inputs+i]
		}
	}
	return dx, dw, db
}

// elu is the activation: never below -1.
func elu(x float64) float64 {
	if x > 0 {
		return x
	}
	return math.Expm1(x)
}

// eluSlope returns the slope of elu where it is y.
func eluSlope(y float64) float64 { return 1 + min(y, 0) }

// values returns the elements of a tensor, which may be written.
func values(t *tensor.Tensor) []float64 { return tensor.Must(tensor.Of[float64](t)) }

func zeros(shape ...int) *tensor.Tensor { return tensor.Must(tensor.New(tensor.Float64, shape...)) }
