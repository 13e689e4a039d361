//go:build !unix

package pitest

import (
	"errors"
	"os"
)

func socketPair() (ours, theirs *os.File, err error) {
	return nil, nil, errors.ErrUnsupported
}
