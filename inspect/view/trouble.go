package view

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"pitap/inspect/text"
	"pitap/record"
)

// trouble says what the file is that can't be read as a capture: in a word or two, and in a
// sentence.
func (s *Store) trouble() (word, said string) {
	err, size := s.err, s.capture.Size()
	var damage record.Damage
	cause := strings.TrimPrefix(err.Error(), record.ErrNoCapture.Error()+": ")
	switch {
	case errors.Is(err, record.ErrVersion):
		return "newer", "A newer pitap wrote this: " + strings.TrimPrefix(err.Error(), record.ErrVersion.Error()+": ") + "."
	case errors.As(err, &damage) && !s.reader.plain:
		return "damaged", fmt.Sprintf("The beginning of this file is damaged, and with it the header of the capture: at byte %s, %s.", text.Count(damage.Off), damage.Cause)
	case errors.Is(err, record.ErrNoCapture):
		return "no capture", "This file is not a capture: " + cause + "."
	case errors.Is(err, io.ErrUnexpectedEOF) && size == 0:
		return "empty", "The file is empty: not even the header of a capture was written."
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "cut", "The file stops within the header of a capture: there is no entry in it."
	}
	return "broken", "The file can't be read: " + cause + "."
}
