package tui

import "github.com/gdamore/tcell/v2"

// calm is the screen that tview gets: it is not cleared before each drawing, as every cell that is cleared and written
// again is sent to the terminal again, changed or not.
type calm struct{ tcell.Screen }

// Clear does nothing: Draw covers the whole screen.
func (calm) Clear() {}

// canvas is what is drawn on; what differs from the screen is brought there in the end.
type canvas struct{ cells tcell.CellBuffer }

// begin empties the canvas.
func (c *canvas) begin(w, h int, st tcell.Style) {
	c.cells.Resize(w, h)
	c.cells.Fill(' ', st)
}

func (c *canvas) set(x, y int, r rune, st tcell.Style) { c.cells.Put(x, y, string(r), st) }

// show brings to the screen what is not there yet.
func (c *canvas) show(screen tcell.Screen) {
	w, h := c.cells.Size()
	for y := range h {
		for x := range w {
			s, st, _ := c.cells.Get(x, y)
			// A cell that is new since the terminal changed its size reads as a space, and is none.
			if there, as, _ := screen.Get(x, y); there != s || as != st || s == " " {
				screen.Put(x, y, s, st)
			}
		}
	}
}
