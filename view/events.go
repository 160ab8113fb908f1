package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// An event tells the script of a change.
type event struct {
	Rows    string `json:"rows"` // as the page writes it
	N       int    `json:"n"`
	Size    string `json:"size"`
	Word    string `json:"word"`    // of the badge: growing, finished, cannot follow
	Growing bool   `json:"growing"` // rows may be appended
	At      string `json:"at"`      // of the last commit
	// Of a replacement: when, and how many rows there are now, in words.
	Replaced string `json:"replaced,omitempty"`
	Now      string `json:"now,omitempty"`
}

// events streams the changes of a dataset. The first event describes the current state.
func (v *visit) events() error {
	if err := v.open(); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/event-stream")
	if v.r.Method == http.MethodHead {
		return nil
	}
	select {
	case v.streams <- struct{}{}:
	default:
		return fail(http.StatusServiceUnavailable, "Too many pages are open", "close some; this one shows what it has")
	}
	defer func() { <-v.streams }()
	id := v.version.ID
	beat := time.NewTicker(15 * time.Second)
	defer beat.Stop()
	for {
		state, changed := v.set.State()
		if state.ID == "" { // the dataset was closed
			return nil
		}
		if err := v.send(v.event(state, id)); err != nil || state.ID != id {
			return nil // the browser is gone, or nothing more can happen to the version
		}
		if !v.await(changed, beat.C) {
			return nil
		}
	}
}

// await waits for a change, and reports false if the browser is gone. At each beat it writes, to
// find out.
func (v *visit) await(changed <-chan struct{}, beat <-chan time.Time) bool {
	for {
		select {
		case <-changed:
			return true
		case <-beat:
			if v.write(": still here\n\n") != nil {
				return false
			}
		case <-v.r.Context().Done():
			return false
		}
	}
}

// event describes a state to a page that shows the version id.
func (v *visit) event(state shelf.State, id string) event {
	e := event{Rows: text.Count(max(state.Rows, 0)), N: state.Rows, Size: text.Bytes(state.Size), Growing: state.Growing, At: clock(state.Commit)}
	switch {
	case state.ID != id:
		e.Replaced, e.Now = clock(state.Replaced), rows(state.Rows)
	case state.Failed != nil:
		e.Word = "cannot follow: " + text.Show(v.told(v.set, state.Failed), 200).String()
	case state.Growing:
		e.Word = "growing"
	case v.version.Growing():
		e.Word = "finished"
	}
	return e
}

// send sends an event.
func (v *visit) send(e event) error {
	encoded, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return v.write(fmt.Sprintf("data: %s\n\n", encoded))
}

// write sends some bytes at once. A browser that does not take them for ten seconds is gone.
func (v *visit) write(s string) error {
	_ = v.out.SetWriteDeadline(time.Now().Add(10 * time.Second)) // a recorder in a test has none
	if _, err := v.w.Write([]byte(s)); err != nil {
		return err
	}
	if err := v.out.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// keys answers with the list of keys.
func (v *visit) keys() error {
	f := v.frame("", nil)
	f.Title = "Keys"
	return v.exec("keys", f)
}
