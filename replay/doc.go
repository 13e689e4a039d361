// Package replay plays a capture as the agent: a client that is connected to an [Agent] gets the bytes that pi wrote when
// the capture was made, in answer to what it sends.
//
// A [Script] is a capture as a causal script: what the agent wrote, in recorded order, each record held until what
// caused it has come.
//
//   - Records of the client that change something (prompt, abort, set_model, ...), answers to dialogs, the end of stdin,
//     signals and the closing of stdout are gates: all behind one waits until the live client has sent its match. Any
//     recorded command that was not matched yet may match.
//   - Questions (get_state, ..., and lines that are no command) are waited for at their place for 250 ms at most. Asked
//     elsewhere, they get the latest answer that the script has passed, never one older than before, else the next.
//   - Records match by their type and content; ids, the order of members, and the folders of the session do not count.
//     What is sent is what was recorded, but for the id.
//   - What matches nothing is answered with an error at once, and is a miss in the [Report]. A gate that nothing comes
//     for ends the replay after four seconds. No client waits for ever.
//
// For tests of a client written in Go, connect it to an Agent by two pipes, see the example; Report.Failed tells, at the
// end, whether the client did what was recorded, also where it swallows errors. Time is that of package time, so that an
// Agent can be run in a testing/synctest bubble.
//
// A Script in memory may be played by any number of agents at once. Each Run has goroutines of its own, and ends them.
package replay
