package record

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

// The index is a skippable frame:
//
//	magic 0x184D2A50 | size | "pitapidx" | row | row | ... | sum
//
// Numbers are little-endian; sum is the low half of the XXH64 of all that is between size and sum. A row describes one
// frame with content. The seek table behind it is that of the zstd seekable format (contrib/seekable_format in the zstd
// repository), without checksums; the index is one of its frames, of content size 0.
const (
	indexName   = "pitapidx"
	rowSize     = 56
	seekMagic   = 0x8F92EAB1
	seekFooter  = 9
	maxIndexRow = 1 << 22 // 4 TiB of content; a file that claims more is read without its index
)

// FrameInfo says what a frame of a capture holds.
type FrameInfo struct {
	Off    int64 // of the frame in the file, in bytes
	Size   int64 // of the frame, in bytes
	Raw    int64 // of its content, in bytes
	First  int64 // number of its first entry; 0 when it holds none
	Count  int64 // its entries
	T0, T1 int64 // least and greatest t of its entries
}

// add counts an entry of the frame.
func (r *FrameInfo) add(e *Entry) {
	if r.Count == 0 {
		r.First, r.T0, r.T1 = e.N, e.T, e.T
	}
	r.Count++
	r.T0, r.T1 = min(r.T0, e.T), max(r.T1, e.T)
}

func appendIndex(dst []byte, rows []FrameInfo) []byte {
	body := []byte(indexName)
	for _, r := range rows {
		for _, v := range [7]int64{r.Off, r.Size, r.Raw, r.First, r.Count, r.T0, r.T1} {
			body = binary.LittleEndian.AppendUint64(body, uint64(v))
		}
	}
	body = binary.LittleEndian.AppendUint32(body, uint32(xxhash.Sum64(body)))
	dst = binary.LittleEndian.AppendUint32(dst, skippableMagic)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	return append(dst, body...)
}

// appendSeekTable appends the seek table of the frames in rows and a skippable frame of indexSize bytes behind them.
// Frames of 4 GiB or more have no place in it: then there is no seek table.
func appendSeekTable(dst []byte, rows []FrameInfo, indexSize int) []byte {
	table := binary.LittleEndian.AppendUint32(nil, seekTableMagic)
	table = binary.LittleEndian.AppendUint32(table, uint32((len(rows)+1)*8+seekFooter))
	for _, r := range rows {
		if r.Size>>32 != 0 || r.Raw>>32 != 0 {
			return dst
		}
		table = binary.LittleEndian.AppendUint32(table, uint32(r.Size))
		table = binary.LittleEndian.AppendUint32(table, uint32(r.Raw))
	}
	table = binary.LittleEndian.AppendUint32(table, uint32(indexSize))
	table = binary.LittleEndian.AppendUint32(table, 0)
	table = binary.LittleEndian.AppendUint32(table, uint32(len(rows)+1))
	table = append(table, 0)
	table = binary.LittleEndian.AppendUint32(table, seekMagic)
	return append(dst, table...)
}

// ReadIndex reads the index at the end of a capture of size bytes. A capture that was cut has none: the error says so.
// What it says is checked for sense, not against the frames; readers of a frame check that.
func ReadIndex(src io.ReaderAt, size int64) ([]FrameInfo, error) {
	indexAt, indexSize, err := findIndex(src, size)
	if err != nil {
		return nil, err
	}
	body := make([]byte, indexSize-8)
	if n, err := readAt(src, body, indexAt+8, size); err != nil || n < len(body) {
		return nil, fmt.Errorf("index at byte %d: cut short", indexAt)
	}
	rows := body[:len(body)-4]
	if uint32(xxhash.Sum64(rows)) != binary.LittleEndian.Uint32(body[len(rows):]) {
		return nil, fmt.Errorf("index at byte %d: checksum mismatch", indexAt)
	}
	rows = rows[len(indexName):]
	infos := make([]FrameInfo, 0, len(rows)/rowSize)
	var end, entry int64
	for ; len(rows) > 0; rows = rows[rowSize:] {
		var v [7]int64
		for i := range v {
			v[i] = int64(binary.LittleEndian.Uint64(rows[i*8:]))
		}
		f := FrameInfo{v[0], v[1], v[2], v[3], v[4], v[5], v[6]}
		if f.Off != end || f.Size <= 0 || f.Size > indexAt-f.Off || f.Raw < 0 || f.Count < 0 || (f.Count > 0 && f.First <= entry) {
			return nil, fmt.Errorf("index at byte %d: row %d makes no sense", indexAt, len(infos))
		}
		end = f.Off + f.Size
		if f.Count > 0 {
			entry = f.First + f.Count - 1
		}
		infos = append(infos, f)
	}
	if end != indexAt {
		return nil, fmt.Errorf("index at byte %d: speaks of %d bytes before it", indexAt, end)
	}
	return infos, nil
}

// findIndex finds our index frame through the seek table at the end of the file.
func findIndex(src io.ReaderAt, size int64) (at, length int64, err error) {
	var foot [seekFooter]byte
	if n, err := readAt(src, foot[:], size-seekFooter, size); err != nil || size < seekFooter || n < seekFooter || binary.LittleEndian.Uint32(foot[5:]) != seekMagic {
		return 0, 0, fmt.Errorf("no seek table at the end")
	}
	frames := int64(binary.LittleEndian.Uint32(foot[:]))
	rows := int64(8)
	if foot[4]&0x80 != 0 {
		rows = 12
	}
	table := size - seekFooter - frames*rows
	if frames == 0 || frames > maxIndexRow || table < 8 {
		return 0, 0, fmt.Errorf("seek table of %d frames makes no sense", frames)
	}
	var last [4]byte // compressed size of the last frame in the table, which is the index
	if n, err := readAt(src, last[:], size-seekFooter-rows, size); err != nil || n < 4 {
		return 0, 0, fmt.Errorf("seek table: cut short")
	}
	length = int64(binary.LittleEndian.Uint32(last[:]))
	at = table - 8 - length
	var head [8 + len(indexName)]byte
	if at < 0 || length < int64(len(head))+4 || (length-8-int64(len(indexName))-4)%rowSize != 0 {
		return 0, 0, fmt.Errorf("no index before the seek table")
	}
	if n, err := readAt(src, head[:], at, size); err != nil || n < len(head) ||
		binary.LittleEndian.Uint32(head[:]) != skippableMagic || int64(binary.LittleEndian.Uint32(head[4:])) != length-8 || string(head[8:]) != indexName {
		return 0, 0, fmt.Errorf("no index before the seek table")
	}
	return at, length, nil
}

// Index finds out what the frames of a capture of size bytes hold, by reading all of it: for captures without an index.
// It has no row for a frame that is damaged or not whole.
func Index(src Source, size int64) ([]FrameInfo, error) { return indexFrom(src, 0, size) }

// indexFrom is Index for the frames from off on.
func indexFrom(src Source, off, size int64) ([]FrameInfo, error) {
	r, err := readFrames(src, off, size)
	if err != nil {
		return nil, err
	}
	c := r.content.(*frameContent)
	var rows []FrameInfo
	var row FrameInfo // of the frame that is read
	c.passed = func(f span, raw int64) {
		if row.Off != f.start {
			row = FrameInfo{Off: f.start}
		}
		row.Size, row.Raw = f.end-f.start, raw
		rows = append(rows, row)
		row = FrameInfo{Off: -1}
	}
	for r.Next() {
		if row.Off != r.Unit() {
			row = FrameInfo{Off: r.Unit()}
		}
		row.add(r.Entry())
	}
	return rows, r.Err()
}

// readFrames returns a reader of the frames from off to end, for which the numbers that come before are not known.
func readFrames(src Source, off, end int64) (*Reader, error) {
	c, err := newFrameContent(src)
	if err != nil {
		return nil, err
	}
	r := NewReader(src, func() (int64, error) { return end, nil })
	r.content, r.limit = c, end
	if off > 0 {
		r.header = &Header{Pitap: Version}
		r.seek(off, -1)
	}
	return r, nil
}
