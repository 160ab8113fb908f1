package view_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// FuzzAddresses asks for any path and query: the answer is a whole page, a picture, JSON or an
// asset, never a failure of the server, and it has no markup from the address.
func FuzzAddresses(f *testing.F) {
	for _, path := range []string{"/", "/leaf", "/rows", "/row.json", "/pictures", "/picture", "/lines", "/search", "/keys", "/..", "//", "", "/view.css"} {
		f.Add(path, "k=image&index=0,2:5&row=1&from=3&as=list&q=a&layout=nhw&black=0&white=1e309&label=x&size=s")
		f.Add(path, "k=ragged/flat&x=line/float64&lo=1&hi=-1&f=1&v=&d=&part=rows&last=1&all=1&columns=all&leaf=99&escaped=%2561")
		f.Add(path, "k=a&a=lines&row=-9223372036854775808&from=9223372036854775807&index=::-1")
	}
	small := tdict.New(20)
	whole := kinds(f, 20)
	for _, key := range []string{"image", "line/float64", "ragged/flat", "text", "data/rows", "scalar/int64", "wide/complex64"} {
		v, err := whole.Get(nestedkey.Key(key))
		require.NoError(f, err)
		put(f, small, nestedkey.Key(key), v)
	}
	put(f, small, "scalar/int64_mask", tensor.Must(tensor.New(tensor.Bool, 20)))
	s := serve(f, view.Options{Sources: []view.Source{{Name: "d", Dict: small, Schema: maskedByName(small)}}})
	f.Fuzz(func(t *testing.T, path, query string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.Path, r.URL.RawQuery = path, query
		if path == "/events" {
			return // it ends with the request
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		require.NotEqual(t, http.StatusInternalServerError, w.Code, "%q %q: %s", path, query, words(w.Body.String()))
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") && w.Code != http.StatusSeeOther {
			require.True(t, strings.HasSuffix(strings.TrimSpace(w.Body.String()), ">"), "the page is whole")
			require.NotContains(t, w.Body.String(), "<script>")
			require.NotContains(t, w.Body.String(), "ends here")
		}
	})
}
