package view

import (
	"errors"
	"io"
	"strings"

	"pitap/record"
)

// trouble says what a file is that can't be read as a capture: in a word or two, and in a sentence.
func trouble(err error, size int64) (word, said string) {
	cause := strings.TrimSuffix(err.Error(), ": "+record.ErrNoCapture.Error())
	switch {
	case errors.Is(err, record.ErrVersion):
		return "newer", "A newer pitap wrote this: " + strings.TrimSuffix(err.Error(), ": "+record.ErrVersion.Error()) + "."
	case errors.Is(err, record.ErrNoCapture):
		return "no capture", "This file is not a capture: " + cause + "."
	case errors.Is(err, io.ErrUnexpectedEOF) && size == 0:
		return "empty", "The file is empty: not even the header of a capture was written."
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "cut", "The file stops within the header of a capture: there is no entry in it."
	}
	return "broken", "The file can't be read: " + cause + "."
}
