// Ranking trains on batches of whole groups of rows. From the labs of a patient's visits, a model
// learns the order of the visits, with a loss over the list of all visits of a patient (ListNet:
// Cao and others, 2007). Any error ends it: see Must.
//
//	go run ./examples/ranking
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

func main() {
	visits := tensor.Must(data.LabVisits())
	normalise := transform.Compose(tensor.Must(transform.FitStandard(visits, nil)), transform.FillNaN(0))
	patients := groups(visits)
	cut := patients.Firsts()[patients.Len()*4/5] // the visits of the last fifth of patients are held out
	train := byPatient(visits, ix.Range(0, cut), loader.Options{Transform: normalise, Sampler: sampler.Random(), Seed: 1})
	test := byPatient(visits, ix.Range(cut, ix.End), loader.Options{Transform: normalise})

	weights := make([]float64, len(data.Labs))
	for train.Epoch() < 30 {
		eachPatient(train, func(day []int32, labs []float32) { learn(weights, labs) })
	}
	var right, pairs int
	eachPatient(test, func(day []int32, labs []float32) {
		r, p := concordant(scores(weights, labs), day)
		right, pairs = right+r, pairs+p
	})
	fmt.Printf("%d batches of whole patients; of %d pairs of visits held out, %.1f %% are in the right order\n",
		train.Len(), pairs, 100*float64(right)/float64(pairs))
	for i, name := range data.Labs {
		fmt.Printf("%-8s %+.2f\n", name, weights[i])
	}
}

// groups returns the patients, as groups of visits.
func groups(visits *tdict.TensorDict) *sampler.Groups {
	return tensor.Must(sampler.NewGroups(tensor.Must(visits.Tensor("patient")), sampler.GroupOptions{}))
}

// byPatient returns a loader of batches of 16 whole patients.
func byPatient(visits *tdict.TensorDict, rows ix.Index, opt loader.Options) *loader.Loader {
	part := tensor.Must(visits.Index(rows))
	opt.Batching = tensor.Must(groups(part).Batches(sampler.GroupBatchOptions{Groups: 16}))
	return tensor.Must(loader.New(tensor.Must(loader.From(part)), opt))
}

// eachPatient calls fn with the visits of each patient of an epoch.
func eachPatient(l *loader.Loader, fn func(day []int32, labs []float32)) {
	for batch, err := range l.Batches(context.Background()) {
		check(err)
		day := tensor.Must(tdict.Slice[int32](batch, "day"))
		labs := tensor.Must(tdict.Slice[float32](batch, "labs"))
		splits := tensor.Must(tdict.Get[*tdict.Unbatched](batch, "splits"))
		at, width := tensor.Must(tensor.Of[int64](splits.Tensor())), int64(len(data.Labs))
		for g := range len(at) - 1 {
			fn(day[at[g]:at[g+1]], labs[at[g]*width:at[g+1]*width])
		}
	}
}

// scores returns the score of each visit.
func scores(weights []float64, labs []float32) []float64 {
	s := make([]float64, len(labs)/len(weights))
	for i, v := range labs {
		s[i/len(weights)] += weights[i%len(weights)] * float64(v)
	}
	return s
}

// learn takes a step: the scores of a patient's visits, as probabilities, move towards the
// probabilities of their positions in time.
func learn(weights []float64, labs []float32) {
	got := scores(weights, labs)
	want := make([]float64, len(got))
	for i := range want {
		want[i] = 3 * float64(i) / float64(len(want)) // visits are in the order of days
	}
	p, target := probabilities(got), probabilities(want)
	for i, v := range labs {
		visit := i / len(weights)
		weights[i%len(weights)] -= 0.02 * (p[visit] - target[visit]) * float64(v)
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

// concordant returns how many pairs of visits have scores in the right order, and the number of
// pairs.
func concordant(scores []float64, day []int32) (right, pairs int) {
	for i := range scores {
		for j := range i {
			pairs++
			if scores[j] < scores[i] == (day[j] < day[i]) {
				right++
			}
		}
	}
	return right, pairs
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
