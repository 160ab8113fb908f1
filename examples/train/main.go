// Train shows package loader at work: a classifier of digits that are shifted at random, stopped in
// the middle of an epoch and resumed, and a model that puts visits of patients in order, trained on
// batches of whole patients.
//
//	go run ./examples/train
package main

import (
	"context"
	"log"
)

func main() {
	log.SetFlags(0)
	check(digits(context.Background()))
	check(ranking(context.Background()))
}

func check(err error) {
	if err != nil {
		log.Fatal("train: ", err)
	}
}
