// Package forms opens, converts, cuts and splits datasets in any form that this module knows.
package forms
