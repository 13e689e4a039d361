package record

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// plainDecoder decodes what is whole, without asking for checksums.
var plainDecoder, _ = zstd.NewReader(nil, zstd.IgnoreChecksum(true), zstd.WithDecoderConcurrency(1))

var emptyFrame = compressed(nil)

// compressed makes one frame of data.
func compressed(data []byte, options ...zstd.EOption) []byte {
	enc, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))...)
	if err != nil {
		panic(err)
	}
	defer enc.Close()
	return enc.EncodeAll(data, nil)
}

// streamed makes one frame of data whose header does not tell its size.
func streamed(t testing.TB, data []byte, options ...zstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b, append(options, zstd.WithEncoderConcurrency(1))...)
	if err == nil {
		_, err = enc.Write(data)
	}
	if err == nil {
		err = enc.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
