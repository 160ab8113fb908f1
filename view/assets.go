package view

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"path"
	"strings"
)

// The fonts are cut from Inter 3.19 (Regular and SemiBold) and JetBrains Mono 2.242 (Regular), of
// Debian's fonts-inter and fonts-jetbrains-mono, by fonttools' pyftsubset with brotli:
//
//	pyftsubset Inter-Regular.otf --flavor=woff2 --no-hinting --layout-features=kern,tnum,zero \
//	  --unicodes=U+0020-007E,U+00A0-00FF,U+2010-2015,U+2018-201A,U+201C-201E,U+2022,U+2026 \
//	  --unicodes+=U+2030,U+2039,U+203A,U+20AC,U+2190-2193,U+2212,U+2260,U+2264,U+2265
//
//go:embed assets
var assetFiles embed.FS

// An asset is a file that never changes under its name, which has a hash of the content.
type asset struct {
	content []byte
	kind    string
}

// assetNames has the name with hash of each asset.
var assetNames = map[string]string{}

// assetsByName has the assets by their names with hash.
var assetsByName = func() map[string]asset {
	all := map[string]asset{}
	add := func(name string, content []byte) {
		sum := sha256.Sum256(content)
		ext := path.Ext(name)
		hashed := strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:5]) + ext
		kind := mime.TypeByExtension(ext)
		if ext == ".woff2" {
			kind = "font/woff2"
		}
		assetNames[name], all[hashed] = hashed, asset{content, kind}
	}
	files, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		panic(err) // the files are in the binary
	}
	var css []byte
	for _, f := range files {
		content, err := assetFiles.ReadFile("assets/" + f.Name())
		if err != nil {
			panic(err)
		}
		if f.Name() == "view.css" {
			css = content
			continue
		}
		add(f.Name(), content)
	}
	for name, hashed := range assetNames { // the stylesheet names the fonts
		css = []byte(strings.ReplaceAll(string(css), "url("+name+")", "url("+hashed+")"))
	}
	add("view.css", []byte(squeezed.Replace(string(css))))
	return all
}()

// squeezed leaves out the spaces that a stylesheet is written with.
var squeezed = strings.NewReplacer("\n", "", "\t", "", " { ", "{", " {", "{", " }", "}", ": ", ":", "; ", ";", ", ", ",", " > ", ">", " + ", "+", ";}", "}")

// asset answers a request for an asset, and reports whether it is one.
func (v *visit) asset() bool {
	a, ok := assetsByName[strings.TrimPrefix(v.r.URL.Path, "/")]
	if !ok {
		return false
	}
	v.w.Header().Set("Content-Type", a.kind)
	v.w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = v.w.Write(a.content) // net/http drops the body of a HEAD
	return true
}
