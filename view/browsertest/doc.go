// Package browsertest tests the pages of package view in a browser: Chromium, driven by chromedp.
// It is a separate module, so that no other module depends on chromedp.
//
//	go test -C view/browsertest .
//
// The tests skip if there is no browser. BROWSER_TEST is the path of one; otherwise chromium,
// chromium-browser and google-chrome are looked for in PATH. Screenshots of the pages are written
// to the directory BROWSER_TEST_SHOTS, if it is set.
package browsertest
