package main

import (
	"fmt"
	"io"
	"math"

	"github.com/go-tensordict/tensordict/tdict"
)

// tolerance is what the gradient of a weight and the central difference may differ by, relative to
// the greater one, or to the floor if both are less: what is smaller, rounding of the loss hides. A
// nudge of a weight must not change which entry of a pool is the greatest, where the loss has a
// kink: random weights rarely bring two entries so close.
const (
	tolerance = 1e-6
	floor     = 1e-4
	nudge     = 1e-5
)

// checkGradient prints how well the gradient agrees with finite differences, and returns an error
// if that is not well enough.
func (n *network) checkGradient(w io.Writer, l lesson) error {
	worst := n.worstDifference(l)
	if !(worst < tolerance) { // or NaN
		return fmt.Errorf("wrong gradient: got a relative difference of %.1e, want less than %.0e", worst, tolerance)
	}
	fmt.Fprintf(w, "gradient of %d weights: largest relative difference to finite differences %.1e, below %.0e\n",
		count(n.weights), worst, tolerance)
	return nil
}

// worstDifference returns the largest relative difference between the gradient of a weight and the
// central difference of the loss, over all weights. Entries of a pool that tie do no harm: here
// they are vectors of actions that read the same, and so tie whatever the weights are.
func (n *network) worstDifference(l lesson) (worst float64) {
	grads := n.gradient(l)
	for key, t := range n.weights.Tensors() {
		weights, analytic := values(t), values(at(grads, key))
		for i := range weights {
			numeric := n.slope(l, &weights[i])
			greater := max(math.Abs(analytic[i]), math.Abs(numeric), floor)
			worst = max(worst, math.Abs(analytic[i]-numeric)/greater)
		}
	}
	return worst
}

// slope returns the central difference of the loss by a weight.
func (n *network) slope(l lesson, weight *float64) float64 {
	was := *weight
	*weight = was + nudge
	above, _ := n.loss(l)
	*weight = was - nudge
	below, _ := n.loss(l)
	*weight = was
	return (above - below) / (2 * nudge)
}

// count returns the number of elements.
func count(td *tdict.TensorDict) (n int) {
	for _, t := range td.Tensors() {
		n += t.Shape().Size()
	}
	return n
}
