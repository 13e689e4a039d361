//go:build unix && race

package zoo

// Raced tells whether this program was built with -race.
const Raced = true
