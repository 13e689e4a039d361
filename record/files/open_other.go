//go:build !unix

package files

// openFlags are none here; what was opened is compared with what was looked at.
const openFlags = 0
