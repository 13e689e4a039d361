//go:build unix

package proxy

// Say writes a line to a descriptor if it takes it without waiting.
func Say(fd int, line string) {
	o := newOutput(fd)
	o.write([]byte(line))
	if o.original >= 0 {
		closeEnd(o.fd)
	}
}
