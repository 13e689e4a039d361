// Package faults holds the tests of what pitap promises when something breaks. In them the built program stands between a
// checking client and a checking agent: each sends a stream of numbered records that a seed determines, and compares every
// byte that it gets with what the other must have sent. Meanwhile processes are killed and stopped, disks fill, files
// vanish. See docs/promises.md.
//
//	go test ./internal/faults                      # the short form
//	PITAP_TEST_LONG=1 go test ./internal/faults    # the full form
//
// A test that fails says its seed; PITAP_TEST_SEED=N makes it the same again.
package faults
