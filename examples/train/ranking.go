package main

import (
	"context"
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// ranking trains a model that tells later visits of a patient from earlier ones by what was
// measured, with a loss over the list of a patient's visits (ListNet: Cao and others, 2007).
func ranking(ctx context.Context) error {
	visits, stats, err := normalised()
	if err != nil {
		return err
	}
	ids, err := tdict.Slice[int32](visits, "patient")
	if err != nil {
		return err
	}
	starts := sampler.GroupStarts(ids)
	cut := starts[len(starts)*4/5] // the others are held out
	train, err := byPatient(visits, ix.Range(0, cut), stats, loader.Options{Sampler: sampler.Random(), Seed: 1})
	if err != nil {
		return err
	}
	test, err := byPatient(visits, ix.Range(cut, ix.End), stats, loader.Options{})
	if err != nil {
		return err
	}
	weights := make([]float64, len(data.Labs))
	for train.Epoch() < 30 {
		if err := lists(ctx, train, func(day []int32, labs []float32) { learn(weights, day, labs) }); err != nil {
			return err
		}
	}
	var right, pairs int
	err = lists(ctx, test, func(day []int32, labs []float32) {
		r, p := concordant(weights, day, labs)
		right, pairs = right+r, pairs+p
	})
	fmt.Printf("%d batches of whole patients; of %d pairs of visits held out, %.1f %% are in the right order\n",
		train.Len(), pairs, 100*float64(right)/float64(pairs))
	for i, name := range data.Labs {
		fmt.Printf("%-8s %+.2f\n", name, weights[i])
	}
	return err
}

// normalised returns the visits, and what they are to be normalised by.
func normalised() (*tdict.TensorDict, transform.Transform, error) {
	visits, err := data.LabVisits()
	if err != nil {
		return nil, nil, err
	}
	stats, err := transform.FitStandard(visits, nil)
	if err != nil {
		return nil, nil, err
	}
	return visits, transform.Compose(stats, transform.FillNaN(0)), nil
}

// byPatient returns a loader of batches of 16 whole patients.
func byPatient(visits *tdict.TensorDict, rows ix.Index, t transform.Transform, opt loader.Options) (*loader.Loader, error) {
	part, err := visits.Index(rows)
	if err != nil {
		return nil, err
	}
	ids, err := part.Tensor("patient")
	if err != nil {
		return nil, err
	}
	patients, err := sampler.NewGroups(ids, sampler.GroupOptions{})
	if err != nil {
		return nil, err
	}
	if opt.Batching, err = patients.Batches(sampler.GroupBatchOptions{Groups: 16}); err != nil {
		return nil, err
	}
	src, err := loader.From(part)
	if err != nil {
		return nil, err
	}
	opt.Transform = t
	return loader.New(src, opt)
}

// lists calls fn with the visits of each patient of an epoch.
func lists(ctx context.Context, l *loader.Loader, fn func(day []int32, labs []float32)) error {
	for batch, err := range l.Batches(ctx) {
		if err != nil {
			return err
		}
		days, err := tdict.Slice[int32](batch, "day")
		if err != nil {
			return err
		}
		labs, err := tdict.Slice[float32](batch, "labs")
		if err != nil {
			return err
		}
		splits, err := tdict.Get[*tdict.Unbatched](batch, "splits")
		if err != nil {
			return err
		}
		at, width := tensor.Must(tensor.Of[int64](splits.Tensor())), int64(len(data.Labs))
		for g := range len(at) - 1 {
			fn(days[at[g]:at[g+1]], labs[at[g]*width:at[g+1]*width])
		}
	}
	return nil
}

// scores returns what the model makes of each visit.
func scores(weights []float64, labs []float32) []float64 {
	s := make([]float64, len(labs)/len(weights))
	for i, v := range labs {
		s[i/len(weights)] += weights[i%len(weights)] * float64(v)
	}
	return s
}

// learn takes a step: the scores of a patient's visits, as probabilities, are to be more like those
// of their places in time.
func learn(weights []float64, day []int32, labs []float32) {
	want := make([]float64, len(day))
	for i := range want {
		want[i] = 3 * float64(i) / float64(len(day)) // visits are in the order of days
	}
	got, target := probabilities(scores(weights, labs)), probabilities(want)
	for i, v := range labs {
		visit := i / len(weights)
		weights[i%len(weights)] -= 0.02 * (got[visit] - target[visit]) * float64(v)
	}
}

// probabilities returns the softmax of scores.
func probabilities(scores []float64) []float64 {
	p, sum := make([]float64, len(scores)), 0.
	for i, s := range scores {
		p[i] = math.Exp(s)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// concordant returns how many pairs of visits have scores in the right order, and how many there
// are.
func concordant(weights []float64, day []int32, labs []float32) (right, pairs int) {
	s := scores(weights, labs)
	for i := range s {
		for j := range i {
			pairs++
			if s[j] < s[i] == (day[j] < day[i]) {
				right++
			}
		}
	}
	return right, pairs
}
