package view

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
)

// A visit is one request that is being answered.
type visit struct {
	*Server
	w       http.ResponseWriter
	r       *http.Request
	out     *http.ResponseController
	path    string // of the page: "/" and a name, also if StripPrefix took the slash
	query   url.Values
	set     *shelf.Set     // the dataset that the address names; nil if it names none of several
	version *shelf.Version // of set; nil before open
	body    *bufio.Writer  // nil before the first byte of the page
}

// parse reads the query of the address.
func (v *visit) parse() error {
	query, err := url.ParseQuery(v.r.URL.RawQuery)
	if err != nil {
		return fail(http.StatusBadRequest, "The address cannot be read", err.Error())
	}
	v.query = query
	// Forms have the key in this form, as they change the ends of lines.
	if key, err := url.QueryUnescape(query.Get("escaped")); err == nil && query.Has("escaped") {
		query.Set("k", key)
		query.Del("escaped")
	}
	name := query.Get("d")
	if v.set = v.shelf.Set(name); v.set == nil && name != "" {
		return fail(http.StatusNotFound, "There is no such dataset", fmt.Sprintf("got d=%q", name))
	}
	if len(v.shelf.Sets) == 1 {
		v.set = v.shelf.Sets[0]
	}
	if err := nestedkey.Key(query.Get("k")).Check(); err != nil {
		return fail(http.StatusBadRequest, "The key cannot be read", err.Error())
	}
	return nil
}

// number returns a whole number of the query, or otherwise if it has none.
func (v *visit) number(name string, otherwise int) (int, error) {
	text := strings.TrimSpace(v.query.Get(name))
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.NewReplacer(",", "", "−", "-").Replace(text))
	if err != nil {
		return 0, fail(http.StatusBadRequest, "The address cannot be read", fmt.Sprintf("%s: got %q, want a whole number", name, text))
	}
	return n, nil
}

// float returns a number of the query, or otherwise if it has none.
func (v *visit) float(name string, otherwise float64) (float64, error) {
	text := strings.TrimSpace(v.query.Get(name))
	if text == "" {
		return otherwise, nil
	}
	x, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-").Replace(text), 64)
	if err != nil || x-x != 0 {
		return 0, fail(http.StatusBadRequest, "The address cannot be read", fmt.Sprintf("%s: got %q, want a finite number", name, text))
	}
	return x, nil
}

// open takes the version that the address names. The visit holds it until finish.
func (v *visit) open() error {
	if v.set == nil {
		return fail(http.StatusNotFound, "There is no such page", "the address names no dataset")
	}
	select {
	case <-v.set.Open():
	case <-time.After(v.patience):
		return errOpening
	}
	version, err := v.set.Acquire(v.r.Context(), v.query.Get("v"))
	switch {
	case errors.Is(err, shelf.ErrReplaced):
		return &pageError{
			code: http.StatusGone, title: v.set.Name + " was replaced",
			why:  "The version that this address names is not open any more.",
			todo: []todo{{"Show the version that is there now", v.elsewhere("v", "")}},
		}
	case err != nil && v.r.Context().Err() == nil:
		return v.unopened(v.set, err)
	}
	v.version = version
	return err
}

// node opens the dataset, and returns the entry that the address names; the dataset itself if it
// has no k.
func (v *visit) node() (*shelf.Node, error) {
	if err := v.open(); err != nil {
		return nil, err
	}
	if !v.query.Has("k") {
		return v.version.Index.Root(), nil
	}
	n, ok := v.version.Index.Find(nestedkey.Key(v.query.Get("k")))
	if !ok {
		return nil, v.missing(v.query.Get("k"))
	}
	return n, nil
}

// to returns the address of a page of the dataset, with names and values of its query. A value ""
// is left out.
func (v *visit) to(page string, query ...string) string {
	q := url.Values{}
	if len(v.shelf.Sets) > 1 && v.set != nil {
		q.Set("d", v.set.Name)
	}
	if v.version != nil && v.version.ID != "" {
		q.Set("v", v.version.ID)
	}
	for i := 0; i+1 < len(query); i += 2 {
		if query[i+1] != "" {
			q.Set(query[i], query[i+1])
		}
	}
	return address(page, q)
}

// of returns the address of a page about an entry, also one with the empty key.
func (v *visit) of(page string, n *shelf.Node, query ...string) string {
	if n.Depth == 0 {
		return v.to(page, query...)
	}
	link := v.to(page, query...)
	sep := "?"
	if strings.Contains(link, "?") {
		sep = "&"
	}
	return link + sep + "k=" + url.QueryEscape(string(n.Key))
}

// toSet returns the address of a page of one of several datasets.
func (v *visit) toSet(page string, set *shelf.Set, query ...string) string {
	other := visit{Server: v.Server, set: set}
	return other.to(page, query...)
}

// elsewhere returns the address of the page with one value of its query changed, or removed if the
// value is "".
func (v *visit) elsewhere(name, value string) string {
	q := url.Values{}
	for key, values := range v.query {
		q[key] = values
	}
	q.Set(name, value)
	if value == "" {
		q.Del(name)
	}
	return address(strings.TrimPrefix(v.path, "/"), q)
}

// fields returns the values of the query for the hidden fields of a form, without some of them. The
// key is escaped, as forms change the ends of lines.
func (v *visit) fields(without ...string) []pair {
	var all []pair
	for _, name := range slices.Sorted(maps.Keys(v.query)) {
		value := v.query.Get(name)
		switch {
		case slices.Contains(without, name):
		case name == "k":
			all = append(all, pair{"escaped", url.QueryEscape(value)})
		default:
			all = append(all, pair{name, value})
		}
	}
	return all
}

func address(page string, q url.Values) string {
	if page == "" {
		page = "./"
	}
	if len(q) == 0 {
		return page
	}
	return page + "?" + q.Encode()
}

// exec writes a template.
func (v *visit) exec(name string, data any) error {
	if v.body == nil {
		v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		v.body = bufio.NewWriterSize(v.w, 16<<10)
	}
	v.deadline() // the buffer may be full, long after the last flush
	return templates.ExecuteTemplate(v.body, name, data)
}

// flush sends what was written.
func (v *visit) flush() error {
	if err := v.body.Flush(); err != nil {
		return err
	}
	// A middleware that cannot flush sends the page at its end.
	if err := v.out.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// deadline gives the browser half a minute to take the next bytes.
func (v *visit) deadline() {
	_ = v.out.SetWriteDeadline(time.Now().Add(30 * time.Second)) // a recorder in a test has none
}

// finish ends the page, with an error if there is one, and ends the use of the version.
func (v *visit) finish(err error) {
	defer func() {
		if v.version != nil {
			v.version.Release()
		}
	}()
	if err != nil && gone(err) {
		return
	}
	if errors.Is(err, errOpening) {
		err = v.openingPage()
	}
	if err != nil {
		err = v.errorPage(err)
	}
	if err == nil && v.body != nil {
		_ = v.flush() // the browser is gone
	}
}

// gone reports whether an error says that the browser has given up.
func gone(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, http.ErrHandlerTimeout)
}

// told returns the text of an error of the library, with paths as the source gives them: without
// the directories around it.
func (v *visit) told(set *shelf.Set, err error) string {
	text := err.Error()
	var around []string
	if set != nil && set.Path != "" {
		if abs, err := filepath.Abs(set.Path); err == nil {
			around = append(around, filepath.Dir(abs))
		}
		around = append(around, filepath.Dir(set.Path))
	}
	for _, dir := range append(around, os.TempDir()) {
		prefix := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
		if dir == "." || len(prefix) == 1 {
			continue
		}
		quoted := strings.Trim(strconv.Quote(prefix), `"`)
		text = strings.NewReplacer(prefix, "", quoted, "").Replace(text)
	}
	return text
}
