package view_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// A service serves the pages of a dictionary below a prefix, behind its own authentication.
func ExampleHandler() {
	td := tdict.New(4)
	if err := td.Set("age", tensor.Vector(31.5, 40, 40, 58)); err != nil {
		fmt.Println(err)
		return
	}
	pages, err := view.Handler(view.Options{Sources: []view.Source{{Name: "people", Dict: td}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pages.Close()
	mux := http.NewServeMux()
	mux.Handle("/data/", http.StripPrefix("/data", pages))

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/data/leaf?k=age", nil))
	fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
