package view

import (
	"encoding/json"
	"time"

	"github.com/itchyny/gojq"
)

func durationOf(ns int64) time.Duration { return time.Duration(ns) }

// marshal writes what a query gave as JSON.
func marshal(v any) ([]byte, error) {
	if b, err := gojq.Marshal(v); err == nil {
		return b, nil
	}
	return json.Marshal(v)
}
