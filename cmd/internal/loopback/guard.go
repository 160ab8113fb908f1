package loopback

import (
	"crypto/subtle"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A refusal is a page that says why a request is refused, and what to do.
type refusal struct {
	Status int
	Title  string
	Why    string
	Do     string
}

// guard returns a handler that lets only requests of the user get to h.
func (s *Server) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if no := s.judge(r); no != nil {
			s.refuse(w, r, no)
		} else if r.URL.Query().Has("token") {
			s.enter(w, r)
		} else {
			h.ServeHTTP(w, r)
		}
	})
}

// judge returns why a request is refused, or nil. The order is important: a request that is foreign
// learns nothing about tokens.
func (s *Server) judge(r *http.Request) *refusal {
	open := "Copy the link that " + s.name + " has printed into the address bar."
	query := r.URL.Query()
	switch {
	case !s.isOwn(r.Host):
		return &refusal{403, "Unknown host", "This server answers as " + s.host + " or localhost:" + s.port + ", and as no other host or port. A tunnel must have port " + s.port + " at both ends.", open}
	case !s.sameOrigin(r):
		return &refusal{403, "A link of another page", "The request comes from a page of another server. Only pages of this server may make requests.", open}
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return &refusal{405, "Read only", "This server answers GET and HEAD, and changes nothing.", ""}
	case r.ContentLength != 0:
		return &refusal{400, "A request with a body", "This server reads no bodies of requests.", ""}
	case query.Has("token") && !s.isToken(query.Get("token")):
		return &refusal{403, "Another token", "The token in the address is not the token of this server. Each start has a new one.", open}
	case !query.Has("token") && !slices.ContainsFunc(r.CookiesNamed(s.cookie), func(c *http.Cookie) bool { return s.isToken(c.Value) }):
		return &refusal{403, "No token", "This server shows data only to who has its link, and this browser has no cookie of it.", open}
	}
	return nil
}

// isOwn reports whether a Host header names this server. Browsers leave port 80 out.
func (s *Server) isOwn(host string) bool {
	if s.port == "80" && !strings.HasSuffix(host, ":80") {
		host += ":80"
	}
	name, own := strings.CutSuffix(strings.ToLower(host), ":"+s.port)
	return own && (name == "127.0.0.1" || name == "localhost" || name == "[::1]")
}

// sameOrigin reports whether no page of another origin has made a request. Programs that are not
// browsers send neither header.
func (s *Server) sameOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host {
			return false
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// isToken compares in a time that does not tell how much of the text is right.
func (s *Server) isToken(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(s.token)) == 1
}

// enter makes the token of an address a cookie, and redirects to the address without the token.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	protect(w)
	http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	address := "http://" + r.Host + r.URL.EscapedPath() // has the host, since a path may begin with two slashes
	if rest := withoutToken(r.URL.RawQuery); rest != "" {
		address += "?" + rest
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// withoutToken returns a query without its tokens, otherwise as it is.
func withoutToken(query string) string {
	parts := slices.DeleteFunc(strings.Split(query, "&"), func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		return err == nil && name == "token"
	})
	return strings.Join(parts, "&")
}

// protect sets headers that keep a page of this package from everything.
func protect(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
<h1>{{.Title}}</h1>
<p>{{.Why}}</p>
{{with .Do}}<p>{{.}}</p>
{{end}}`))

// refuse writes a refusal. A client that does not read it, or does not send the body of its
// request, is not waited for.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, no *refusal) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(s.http.ReadHeaderTimeout)) // connections have deadlines
	if r.ContentLength != 0 {
		_ = control.SetReadDeadline(time.Now())
	}
	protect(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if no.Status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", "GET, HEAD")
	}
	w.WriteHeader(no.Status)
	_ = page.Execute(w, no) // a client that has gone is no error of the server
}
