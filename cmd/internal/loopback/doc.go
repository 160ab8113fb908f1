// Package loopback serves a handler over HTTP/1.1 to the browser of one user, on a loopback
// address.
//
//	server, err := loopback.Listen(loopback.Options{Name: "tdict view"})
//	fmt.Println(server.Link()) // http://127.0.0.1:41973/?token=...
//	err = server.Serve(ctx, handler)
//
// Other users of the machine, and pages of other sites in the same browser, reach a loopback
// address too. A request gets to the handler only if all of this holds:
//
//   - It has the token of this server as a cookie. The link has the token in its query; a redirect
//     makes it a cookie, so that no address, and no history, keeps it. The cookie is HttpOnly and
//     SameSite=Strict. Browsers send cookies to all ports of a host, so its name has the port.
//   - Its Host is this server: 127.0.0.1, localhost or [::1], with the port. A name that was made
//     to point to 127.0.0.1 (DNS rebinding) is another host.
//   - Its Origin, if any, is this server, and Sec-Fetch-Site, if any, is same-origin or none.
//     SameSite does not look at ports, so it would let in pages of other ports.
//   - Its method is GET or HEAD, and it has no body.
//
// Others get a page that says why. Other servers of the machine that the user visits at 127.0.0.1
// also get the cookie, as browsers do not separate ports: a user must trust them.
//
// # Limits
//
// Headers have at most 32 kB and must arrive within 5 seconds. A connection without a request is
// closed after 10 seconds. At most 256 connections are open; more wait until the kernel's queue is
// full. There is no time limit for an answer, since streams have none: the handler sets deadlines
// for its writes, with http.ResponseController.
//
// Safe for concurrent use.
package loopback
