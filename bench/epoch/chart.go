package main

import (
	"errors"
	"image/color"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	thickness = 6  // thickness of a bar
	margin    = 12 // around the chart
)

// drawSVG draws results as pairs of bars into an SVG file.
func drawSVG(path string, results []result) error {
	p, err := chart(results)
	if err != nil {
		return err
	}
	picture := vgsvg.New(640, 120+3.2*thickness*vg.Length(len(results)))
	p.Draw(draw.Crop(draw.New(picture), margin, -margin, margin, -margin))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = picture.WriteTo(f)
	return errors.Join(err, f.Close())
}

// chart returns a chart of bytes per second, with the first result at the top.
func chart(results []result) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "Epochs: bytes of rows in a second"
	p.X.Label.Text = "GB/s"
	p.X.Min = 0
	var names []string
	var ours, peers plotter.Values
	for _, r := range slices.Backward(results) {
		names = append(names, r.where+", "+r.name)
		ours = append(ours, perSecond(r.bytes, r.epoch)/1e9)
		peers = append(peers, perSecond(r.bytes, r.peer)/1e9)
	}
	p.Add(plotter.NewGrid())
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -.7, float64(len(results))+1 // room for the legend
	p.Legend.Top = true
	return p, errors.Join(
		addBars(p, "loader", ours, thickness/2., color.RGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff}),
		addBars(p, "bare loop; cold: plain reads", peers, -thickness/2., color.RGBA{R: 0xc7, G: 0xc7, B: 0xc7, A: 0xff}))
}

// addBars adds a bar for each value. offset is its distance above the position of the name.
func addBars(p *plot.Plot, name string, values plotter.Values, above vg.Length, c color.Color) error {
	bars, err := plotter.NewBarChart(values, thickness)
	if err != nil {
		return err
	}
	bars.Horizontal, bars.Offset, bars.Color, bars.LineStyle.Width = true, above, c, 0
	p.Add(bars)
	p.Legend.Add(name, bars)
	return nil
}
