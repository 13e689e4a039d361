//go:build !unix

package main

import "pitap/record"

// parent would watch the process in front of pitap; here no descriptor is handed on for that.
type parent struct{}

func takeParent(func(string) string) *parent  { return nil }
func dropParent()                             {}
func (p *parent) watch(int, *record.Recorder) {}
func (p *parent) close()                      {}
