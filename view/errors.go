package view

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// errOpening is returned while the dataset is being opened.
var errOpening = errors.New("the dataset is being opened")

// A pageError is an error with a page.
type pageError struct {
	code   int
	title  string
	key    string // of the leaf that the title is about
	why    string
	detail string // the error of the library, in full
	todo   []todo
}

// A todo is an advice to a person: a link, or a command.
type todo struct{ Text, Link string }

func (e *pageError) Error() string { return fmt.Sprintf("%d %s: %s", e.code, e.title, e.why) }

// fail returns a pageError.
func fail(code int, title, why string) error { return &pageError{code: code, title: title, why: why} }

// missing is the error for a key that the dataset lacks.
func (v *visit) missing(key string) error {
	return &pageError{
		code: http.StatusNotFound, key: key, title: "is no key of " + v.set.Name,
		why:  fmt.Sprintf("It has %s, and none has this key.", plural(v.version.Index.Root().Leaves, "leaf", "leaves")),
		todo: []todo{{"Search for it", v.to("search", "q", key)}, {"All leaves of " + v.set.Name, v.to("")}},
	}
}

// unopened is the error for a dataset that cannot be opened.
func (v *visit) unopened(set *shelf.Set, err error) *pageError {
	command := "See what is damaged: tdict verify " + givenName(set)
	if strings.Contains(err.Error(), "SkipPickled") { // nothing is damaged
		command = "See the rest: tdict view " + givenName(set) + " --skip-unsupported"
	}
	return &pageError{
		code: http.StatusInternalServerError, title: set.Name + " cannot be opened", detail: v.told(set, err),
		why:  v.unopenedWhy(err),
		todo: []todo{{command, ""}, {"Try again", v.elsewhere("v", "")}},
	}
}

// given returns the dataset as a command would take it, without the directories around it.
func (v *visit) given() string { return givenName(v.set) }

func givenName(set *shelf.Set) string {
	if set.Path == "" {
		return set.Name
	}
	return plain(filepath.Base(filepath.Clean(set.Path)))
}

// unopenedWhy says in a sentence why a dataset cannot be opened.
func (v *visit) unopenedWhy(err error) string {
	if errors.Is(err, shelf.ErrClosed) {
		return "The server is being closed."
	}
	return "A file of it is missing or damaged, or it was saved in a form that cannot be shown."
}

// unread is the error for a leaf that cannot be read.
func (v *visit) unread(n *shelf.Node, err error) error {
	if _, ok := errors.AsType[*pageError](err); ok || gone(err) {
		return err
	}
	e := &pageError{
		code: http.StatusInternalServerError, key: string(n.Key), title: "cannot be read", detail: v.told(v.set, err),
		why: v.reason(err) + " " + others(v.version.Index.Root().Leaves-1),
	}
	if errors.Is(err, memmap.ErrReplaced) {
		e.todo = []todo{{"Show the version that is there now", v.elsewhere("v", "")}, {"Back to all leaves of " + v.set.Name, v.to("")}}
		return e
	}
	e.todo = []todo{
		{"See what else is damaged: tdict verify " + v.given(), ""},
		{"If a program is saving the dataset now, try again", v.elsewhere("v", "")},
		{"Back to all leaves of " + v.set.Name, v.to("")},
	}
	return e
}

// reason says in a sentence why a leaf cannot be read.
func (v *visit) reason(err error) string {
	switch {
	case errors.Is(err, memmap.ErrFault):
		return "Its file was cut after the dataset was opened, or a disk failed."
	case errors.Is(err, memmap.ErrCorrupt):
		return "Its file is damaged, or was cut after the dataset was opened."
	case errors.Is(err, memmap.ErrReplaced):
		return "The dataset was replaced before the leaf was first read."
	case errors.Is(err, memmap.ErrClosed), errors.Is(err, shelf.ErrClosed):
		return "The dataset was closed."
	}
	return "The library refuses it."
}

func others(n int) string {
	switch n {
	case 0:
		return "There is no other leaf."
	case 1:
		return "The other leaf is not affected."
	}
	return "The other " + text.Count(n) + " leaves are not affected."
}

// An errorData is the data of the template of errors.
type errorData struct {
	Frame  frame
	Key    text.Text
	HasKey bool
	Title  text.Text
	Why    string
	Detail text.Text
	Todo   []todo
}

// errorPage writes an error: a page, or the end of a page that has begun.
func (v *visit) errorPage(err error) error {
	var e *pageError
	if !errors.As(err, &e) {
		e = &pageError{code: http.StatusInternalServerError, title: "This page cannot be shown", detail: v.told(v.set, err), why: "The server goes on."}
		if errors.Is(err, context.DeadlineExceeded) {
			e.why = "It took too long."
		}
	}
	data := errorData{
		Key: text.ShowRunes(e.key, 64), HasKey: e.key != "" || e.title == "cannot be read", Title: text.Show(e.title, 300),
		Why: plain(e.why), Detail: text.Show(e.detail, 4000), Todo: e.todo,
	}
	if e.detail == "" {
		data.Detail = text.Text{}
	}
	if v.body != nil {
		return v.exec("broken", data)
	}
	data.Frame = v.frame("", nil)
	data.Frame.Title = plain(e.title)
	if data.HasKey {
		data.Frame.Title = text.ShowRunes(e.key, 64).String() + " " + plain(e.title)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(e.code)
	return v.exec("error", data)
}

// openingPage says that the dataset is being opened, and ends when it is open.
func (v *visit) openingPage() error {
	f := v.frame("", nil)
	f.Title = "Opening " + v.set.Name
	if err := v.exec("opening", f); err != nil {
		return err
	}
	if err := v.flush(); err != nil {
		return err
	}
	select {
	case <-v.set.Open():
		return v.exec("opened", v.elsewhere("", ""))
	case <-v.r.Context().Done():
		return context.Cause(v.r.Context())
	}
}
