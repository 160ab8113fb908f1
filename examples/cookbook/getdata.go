package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"image"
	"image/png"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tensorclass"
	"github.com/go-tensordict/tensordict/tensor"
)

var getDataIn = []task{
	{"From a CSV file", fromCSV},
	{"From a SQL query", fromSQL},
	{"From images in a folder", fromImages},
	{"From a NumPy file", fromNumPy},
	{"Stream a socket into a growing dataset", fromSocket},
}

func fromCSV() {
	opt := forms.Options{Select: forms.Selection{Keys: []nestedkey.Key{"id", "day", "sex", "chol"}}}
	opt.Open.Hints = csv.Hints{Categories: map[nestedkey.Key]bool{"sex": true}}
	check(forms.Convert(ctx, "from-csv", []string{"visits.csv"}, opt))

	ds, err := memmap.Open("from-csv")
	check(err)
	defer ds.Close()
	fmt.Println(ds.Schema().Head(ds.TensorDict, 3))
}

// A visit is a row of the query.
type visit struct {
	ID, Day int64
	Bili    float64
	Chol    *float64 `td:"chol,mask=chol_mask"`
}

func fromSQL() {
	db, err := sql.Open("visits", "")
	check(err)
	defer db.Close()

	rows, err := db.Query("SELECT id, day, bili, chol FROM visits")
	check(err)
	schema, err := tensorclass.SchemaFor[visit]()
	check(err)
	w, err := memmap.NewWriter("from-sql", nil, memmap.WriterOptions{Schema: schema})
	check(err)
	for rows.Next() {
		var v visit
		check(rows.Scan(&v.ID, &v.Day, &v.Bili, &v.Chol)) // Chol is a *float64: nil for NULL
		check(tensorclass.AppendRows(w, []visit{v}))
	}
	check(rows.Err())
	check(w.Finish())

	ds := open("from-sql")
	defer ds.Close()
	fmt.Println(ds.Schema().Head(ds.TensorDict, 3))
}

func fromImages() {
	makeImages(20)

	files, err := filepath.Glob("images/*/*.png")
	check(err)
	src, err := loader.FromRows(len(files), func(_ context.Context, i int) (*tdict.TensorDict, error) {
		return decode(files[i])
	})
	check(err)
	l, err := loader.New(src, loader.Options{Batch: 64, Workers: runtime.NumCPU()})
	check(err)
	check(memmap.SaveRows(ctx, "from-images", l.Batches(ctx), memmap.SaveOptions{}))

	ds, err := memmap.Open("from-images")
	check(err)
	defer ds.Close()
	fmt.Println(ds)
}

// decode returns an image. The name of its directory is its label.
func decode(path string) (*tdict.TensorDict, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	img, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	gray, ok := img.(*image.Gray)
	if !ok {
		return nil, fmt.Errorf("%s: got %T, want *image.Gray", path, img)
	}
	pixels, err := tensor.From(gray.Pix, gray.Rect.Dy(), gray.Rect.Dx())
	if err != nil {
		return nil, err
	}
	label, err := strconv.ParseInt(filepath.Base(filepath.Dir(path)), 10, 64)
	if err != nil {
		return nil, err
	}
	return tdict.FromValues(nil, tdict.Values{"image": pixels, "label": label})
}

// makeImages writes some digits to images/LABEL/NUMBER.png.
func makeImages(n int) {
	ds := open("digits")
	defer ds.Close()
	for i := range n {
		digit, err := ds.Index(ix.At(i))
		check(err)
		pixels, err := tdict.Slice[uint8](digit, "image")
		check(err)
		label, err := tdict.Item[int64](digit, "meta/label")
		check(err)
		dir := filepath.Join("images", strconv.FormatInt(label, 10))
		check(os.MkdirAll(dir, 0o777))
		var text bytes.Buffer
		check(png.Encode(&text, &image.Gray{Pix: pixels, Stride: 8, Rect: image.Rect(0, 0, 8, 8)}))
		check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.png", i)), text.Bytes(), 0o666))
	}
}

func fromNumPy() {
	digits := open("digits")
	check(npy.SaveDict("digits.npz", digits))
	check(digits.Close())

	arrays, err := npy.OpenDictWith("digits.npz", npy.DictOptions{BatchDims: 1}) // mapped
	check(err)
	defer arrays.Close()
	check(memmap.Save("from-numpy", arrays))
	fmt.Println(arrays.Head(3))
}

func fromSocket() {
	address, schema := sendVisits()

	conn, err := net.Dial("tcp", address)
	check(err)
	w, err := memmap.NewWriter("from-socket", nil, memmap.WriterOptions{Schema: schema})
	check(err)
	for chunk, err := range jsonl.Read(ctx, conn, schema, jsonl.ReadOptions{Rows: 500}) {
		check(err)
		check(w.Append(chunk))
		check(w.Commit()) // readers see these rows from here on
		fmt.Println(w.Committed(), "rows")
	}
	check(w.Finish())
}

// sendVisits listens, and sends visits as lines of JSON to the first that connects.
func sendVisits() (address string, schema tdict.Schema) {
	ds := open("visits")
	visits, err := ds.Select("id", "day", "bili")
	check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() {
		conn, err := listener.Accept()
		check(err)
		one := func(yield func(*tdict.TensorDict, error) bool) { yield(visits, nil) }
		check(jsonl.Write(ctx, conn, tdict.SchemaOf(visits), one, jsonl.WriteOptions{}))
		check(conn.Close())
		check(listener.Close())
		check(ds.Close())
	}()
	return listener.Addr().String(), tdict.SchemaOf(visits)
}
