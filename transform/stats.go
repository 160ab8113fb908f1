package transform

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Data returns the statistics as a value to store, for example with the data or the model:
// td.Set("stats", data), then memmap.Save. [StandardFrom] converts it back. It is a JSON object,
// which Python reads too; numbers are row-major:
//
//	{"transform": "standard",
//	 "leaves": {"labs": {"shape": [2], "mean": [3.5, 0.25], "std": [1.5, 1.0]},
//	            "days": {"shape": [], "mean": [30.0], "std": [12.5], "levels": 1}}}
//
// "levels" is, for a leaf that was ragged, the number of its dims between the batch shape of the
// dictionary and its columns: its levels, and further batch dims before them. Dense leaves have no
// "levels".
//
// Data returns tdict.ErrKind if a key is not UTF-8.
func (s *Standard) Data() (*tdict.Data, error) {
	var leaves []tdict.Field
	for key, mean := range s.Mean().Tensors() {
		std, err := s.std.Tensor(key)
		if err != nil {
			return nil, err
		}
		leaf, err := leafObject(mean, std, s.levels[key])
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, tdict.Field{Name: string(key), Value: leaf})
	}
	all, err := tdict.NewObject(leaves...)
	if err != nil {
		return nil, fmt.Errorf("standard: %w", err)
	}
	top, err := tdict.NewObject(tdict.Field{Name: "transform", Value: "standard"}, tdict.Field{Name: "leaves", Value: all})
	if err != nil {
		return nil, err
	}
	return tdict.NewData(top)
}

// leafObject returns the statistics of a leaf.
func leafObject(mean, std *tensor.Tensor, levels int) (*tdict.Object, error) {
	means, err := listOf(mean)
	if err != nil {
		return nil, err
	}
	stds, err := listOf(std)
	if err != nil {
		return nil, err
	}
	shape := make([]any, len(mean.Shape()))
	for i, size := range mean.Shape() {
		shape[i] = size
	}
	fields := []tdict.Field{{Name: "shape", Value: shape}, {Name: "mean", Value: means}, {Name: "std", Value: stds}}
	if levels > 0 {
		fields = append(fields, tdict.Field{Name: "levels", Value: levels})
	}
	return tdict.NewObject(fields...)
}

// listOf returns the elements of a tensor as a list.
func listOf(t *tensor.Tensor) ([]any, error) {
	list := make([]any, 0, t.Size())
	err := tensor.Read(t, func(s []float64) {
		for _, v := range s {
			list = append(list, v)
		}
	})
	return list, err
}

// StandardFrom returns the Standard whose [Standard.Data] is d, with exactly the same numbers. d
// must be the same for all rows. StandardFrom checks everything: it returns tdict.ErrKind if d does
// not have the form of Data, shapeops.ErrShape if the number of numbers does not fit a shape,
// [ErrNumber] if a number is not finite or a deviation is not positive, and, for keys, the errors
// of tdict.TensorDict.Set.
func StandardFrom(d *tdict.Data) (*Standard, error) {
	leaves, err := leavesOf(d)
	if err != nil {
		return nil, errtext.Named("standard from data", err)
	}
	s := &Standard{tdict.New(), tdict.New(), map[nestedkey.Key]int{}}
	for name, v := range leaves.All() {
		if err := s.read(nestedkey.Key(name), v); err != nil {
			return nil, errtext.Named("standard from data", err)
		}
	}
	return s.locked(), nil
}

// leavesOf returns the statistics of all leaves.
func leavesOf(d *tdict.Data) (*tdict.Object, error) {
	if d == nil {
		return nil, fmt.Errorf("%w: got nil", tdict.ErrKind)
	}
	value, _ := d.Uniform()
	top, err := as[*tdict.Object](value)
	if err != nil {
		return nil, err
	}
	if what, _ := top.Get("transform"); what != "standard" {
		return nil, fmt.Errorf(`%w: want "transform": "standard"`, tdict.ErrKind)
	}
	return fieldOf[*tdict.Object](top, "leaves")
}

// read adds the statistics of a leaf.
func (s *Standard) read(key nestedkey.Key, v any) error {
	mean, std, levels, err := readLeaf(v)
	if err != nil {
		return &tdict.KeyError{Key: key, Err: err}
	}
	return s.add(key, mean, std, levels)
}

// readLeaf reverses leafObject.
func readLeaf(v any) (mean, std *tensor.Tensor, levels int, err error) {
	o, err := as[*tdict.Object](v)
	if err != nil {
		return nil, nil, 0, err
	}
	sizes, err := numbersOf[int64](o, "shape")
	if err != nil {
		return nil, nil, 0, err
	}
	means, err := numbersOf[float64](o, "mean")
	if err != nil {
		return nil, nil, 0, err
	}
	stds, err := numbersOf[float64](o, "std")
	if err != nil {
		return nil, nil, 0, err
	}
	if levels, err = levelsOf(o); err != nil {
		return nil, nil, 0, err
	}
	mean, std, err = statisticsOf(sizes, means, stds)
	return mean, std, levels, err
}

// levelsOf returns the levels of a leaf. It returns 0 if the field is missing, as in the output of
// earlier versions.
func levelsOf(o *tdict.Object) (int, error) {
	if _, ok := o.Get("levels"); !ok {
		return 0, nil
	}
	n, err := fieldOf[int64](o, "levels")
	if err == nil && n < 0 {
		err = fmt.Errorf("levels: %w: got %d, want 0 or more", shapeops.ErrShape, n)
	}
	return int(n), err
}

// statisticsOf returns means and deviations as tensors, or an error if they are invalid.
func statisticsOf(sizes []int64, means, stds []float64) (mean, std *tensor.Tensor, err error) {
	shape := make(shapeops.Shape, len(sizes))
	for i, size := range sizes {
		shape[i] = int(size)
	}
	if mean, err = tensor.From(means, shape...); err != nil {
		return nil, nil, fmt.Errorf("mean: %w", err)
	}
	if std, err = tensor.From(stds, shape...); err != nil {
		return nil, nil, fmt.Errorf("std: %w", err)
	}
	for c := range means {
		if err := checkStatistics(means[c], stds[c]); err != nil {
			return nil, nil, fmt.Errorf("column %d: %w", c, err)
		}
	}
	return mean, std, nil
}

// as returns v as a T, or an error if it is not one.
func as[T any](v any) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, fmt.Errorf("%w: got %T, want %T", tdict.ErrKind, v, t)
	}
	return t, nil
}

// fieldOf returns a field of an object.
func fieldOf[T any](o *tdict.Object, name string) (T, error) {
	v, _ := o.Get(name)
	t, err := as[T](v)
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// numbersOf returns a field that is a list of numbers. Integers are converted if T is float64.
func numbersOf[T int64 | float64](o *tdict.Object, name string) ([]T, error) {
	list, err := fieldOf[[]any](o, name)
	if err != nil {
		return nil, err
	}
	numbers := make([]T, len(list))
	for i, v := range list {
		if n, ok := v.(int64); ok {
			v = T(n)
		}
		if numbers[i], err = as[T](v); err != nil {
			return nil, fmt.Errorf("%s: number %d: %w", name, i, err)
		}
	}
	return numbers, nil
}
