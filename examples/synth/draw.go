package main

import (
	"math"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	side   = 64 // voxels along each dim of a volume
	labels = 8  // the background is label 0
	blobs  = 40 // in a volume
)

// schema returns what a sample is like: which voxel belongs to what, and how bright it is.
func schema() *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"label": tensor.Must(tensor.NewMeta(tensor.Uint8, side, side, side)),
		"image": tensor.Must(tensor.NewMeta(tensor.Uint8, side, side, side)),
	}))
}

// draw writes a sample. It depends only on who draws it and on its number, so that a generator that
// was killed draws the same again.
func draw(sample *tdict.TensorDict, by int, number uint64) error {
	rng := rand.New(rand.NewPCG(uint64(by), number))
	label, err := sample.Tensor("label")
	if err != nil {
		return err
	}
	image, err := sample.Tensor("image")
	if err != nil {
		return err
	}
	if err := tensor.Write(label, func(label []uint8) { drawLabels(rng, label) }); err != nil {
		return err
	}
	of := make([]uint8, side*side*side)
	if err := tensor.Read(label, func(label []uint8) { copy(of, label) }); err != nil {
		return err
	}
	return tensor.Write(image, func(image []uint8) { drawImage(rng, of, image) })
}

// drawLabels fills a volume with ellipsoids, each with a label.
func drawLabels(rng *rand.Rand, label []uint8) {
	clear(label)
	for range blobs {
		var centre, radius [3]float64
		for dim := range 3 {
			centre[dim], radius[dim] = side*rng.Float64(), 4+side/6*rng.Float64()
		}
		fillEllipsoid(label, centre, radius, uint8(1+rng.IntN(labels-1)))
	}
}

// fillEllipsoid gives the voxels of an ellipsoid a label.
func fillEllipsoid(label []uint8, centre, radius [3]float64, with uint8) {
	for z := range side {
		for y := range side {
			dz, dy := (float64(z)-centre[0])/radius[0], (float64(y)-centre[1])/radius[1]
			left := 1 - dz*dz - dy*dy
			if left <= 0 {
				continue
			}
			half := radius[2] * math.Sqrt(left)
			from, to := max(0, int(math.Ceil(centre[2]-half))), min(side-1, int(centre[2]+half))
			row := label[(z*side+y)*side:][:side]
			for x := from; x <= to; x++ {
				row[x] = with
			}
		}
	}
}

// drawImage gives each voxel the brightness of its label, with noise, in an uneven light: a
// polynomial of the second degree in its place.
func drawImage(rng *rand.Rand, label, image []uint8) {
	var light [9]float64
	for i := range light {
		light[i] = 0.12 * (2*rng.Float64() - 1)
	}
	at := func(i int) float64 { return 2*float64(i)/(side-1) - 1 } // from -1 to 1
	for i, l := range label {
		x, y, z := at(i%side), at(i/side%side), at(i/side/side)
		bias := 1 + x*(light[0]+light[1]*x+light[2]*y) + y*(light[3]+light[4]*y+light[5]*z) + z*(light[6]+light[7]*z+light[8]*x)
		v := (20+28*float64(l))*bias + 5*rng.NormFloat64()
		image[i] = uint8(min(max(v, 0), 255))
	}
}
