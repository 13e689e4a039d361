//go:build !race

package record

const racing = false
