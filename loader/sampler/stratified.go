package sampler

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/splitmix"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// StratifiedOptions say how often Stratified draws from each class. The zero value is the default.
type StratifiedOptions struct {
	Balanced bool // draw from all classes equally often; an epoch has as many draws as there are units
}

// Stratified returns a sampler of all units, each once, in an order in which every stretch has the
// classes in the proportions of the whole: for a class with c of the N units, the number of its
// units in any m consecutive positions differs by less than 2 from m*c/N. Units of one class are in
// random order.
//
//	labels [N] -> classes of equal labels
//
// With Balanced, classes take turns instead, in a random order that is the same throughout the
// epoch. Units of classes with fewer than N/C units, for C classes, are drawn repeatedly, as
// repetitions; units of larger classes are left out.
//
// Stratified returns tensor.ErrKind if labels is nil, tensor.ErrDType unless they are integers or
// bools, shapeops.ErrDim unless they have one dim, and tensor.ErrMeta if they have no elements. The
// sampler's Order returns [ErrUnits] unless there are as many units as labels. The sampler shares
// no memory with labels. It takes up to 16 bytes per unit; each order takes up to 8 more.
func Stratified(labels *tensor.Tensor, opt StratifiedOptions) (Sampler, error) {
	if err := checkLabels(labels); err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	groups, err := arith.GroupBy(labels)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	return newStratified(groups, opt)
}

// checkLabels returns an error unless labels are valid labels of units.
func checkLabels(labels *tensor.Tensor) error {
	switch {
	case labels == nil:
		return fmt.Errorf("%w: got nil", tensor.ErrKind)
	case !labels.DType().IsInteger() && labels.DType() != tensor.Bool:
		return fmt.Errorf("%w: got %v, want integers or bools", tensor.ErrDType, labels.DType())
	case len(labels.Shape()) != 1:
		return fmt.Errorf("%w: got shape %v, want one dim", shapeops.ErrDim, labels.Shape())
	case labels.Shape()[0] > math.MaxInt32:
		return fmt.Errorf("%w: got %d, want at most %d", ErrUnits, labels.Shape()[0], math.MaxInt32)
	}
	return nil
}

type stratified struct {
	balanced bool
	n        int
	classes  [][]int64 // units of each class, the smallest class first
	pattern  *interleave
	digest   string
}

func newStratified(groups *arith.Groups, opt StratifiedOptions) (Sampler, error) {
	rows, err := tensor.Of[int64](groups.Rows)
	if err != nil {
		return nil, err
	}
	of, err := tensor.Of[int64](groups.Of)
	if err != nil {
		return nil, err
	}
	s := &stratified{balanced: opt.Balanced, n: len(rows), digest: digest(of)}
	for _, size := range groups.Sizes() {
		s.classes, rows = append(s.classes, rows[:size]), rows[size:]
	}
	slices.SortStableFunc(s.classes, func(a, b []int64) int { return cmp.Compare(len(a), len(b)) })
	s.pattern = newInterleave(s.counts())
	return s, nil
}

// counts returns how often each class is drawn from, in proportion.
func (s *stratified) counts() []int {
	counts := make([]int, len(s.classes))
	for i, class := range s.classes {
		counts[i] = len(class)
		if s.balanced {
			counts[i] = 1
		}
	}
	return counts
}

// String implements [Sampler].
func (s *stratified) String() string {
	kind := "stratified"
	if s.balanced {
		kind = "stratified, balanced,"
	}
	return fmt.Sprintf("%s by %d labels of %d classes (sum %s)", kind, s.n, len(s.classes), s.digest)
}

// Order implements [Sampler]. Classes with equal counts in the pattern swap places at random. The
// pattern begins at a random position, unless Balanced is set.
func (s *stratified) Order(e Epoch) (Order, error) {
	if err := e.checkUnits(s.n, "labels"); err != nil {
		return nil, err
	}
	o := &stratifiedOrder{n: s.n, pattern: s.pattern, classes: make([]drawnClass, len(s.classes))}
	key := e.key()
	if !s.balanced {
		o.turn = below(len(s.pattern.slots), splitmix.Mix(key, 0))
	}
	for i, j := range s.places(splitmix.Mix(key, 1)) {
		o.classes[i] = s.draw(s.classes[j], splitmix.Mix(splitmix.Mix(key, 2), uint64(j)))
	}
	return o, nil
}

// places returns the class at each part of the pattern.
func (s *stratified) places(key uint64) []int {
	places := make([]int, 0, len(s.classes))
	for start, counts := 0, s.pattern.counts; start < len(counts); start = len(places) {
		stop := start
		for stop < len(counts) && counts[stop] == counts[start] {
			stop++
		}
		for _, i := range shuffled(stop-start, splitmix.Mix(key, uint64(start))) {
			places = append(places, start+i)
		}
	}
	return places
}

// A drawnClass is a class in an epoch. order holds indexes of units.
type drawnClass struct {
	units []int64
	order Order
}

// draw returns a class in an epoch: all its units in random order or, if there are more draws than
// units, one random order after the other.
func (s *stratified) draw(units []int64, key uint64) drawnClass {
	if !s.balanced {
		return drawnClass{units, permuted(len(units), key)}
	}
	draws := (s.n-1)/len(s.classes) + 1
	if draws <= len(units) {
		return drawnClass{units, permuted(len(units), key)}
	}
	order := make(listed, 0, draws)
	for k := 0; len(order) < draws; k++ {
		pass := shuffled(len(units), splitmix.Mix(key, uint64(k)))
		for _, i := range pass[:min(len(pass), draws-len(order))] {
			order = append(order, again(i, k, len(units)))
		}
	}
	return drawnClass{units, order}
}

// A stratifiedOrder is the [Order] of stratified. n is the number of units. Position p is position
// p + turn of the pattern.
type stratifiedOrder struct {
	n, turn int
	pattern *interleave
	classes []drawnClass
}

// Len implements [Order].
func (o *stratifiedOrder) Len() int { return o.n }

// AppendTo implements [Order].
func (o *stratifiedOrder) AppendTo(dst []int, start, stop int) []int {
	for p := start; p < stop; p++ {
		part, at := o.pattern.at(p + o.turn)
		class := &o.classes[part]
		if at >= class.order.Len() {
			at -= class.order.Len()
		}
		dst = class.order.AppendTo(dst, at, at+1)
		dst[len(dst)-1] = pick(class.units, dst[len(dst)-1], o.n)
	}
	return dst
}
