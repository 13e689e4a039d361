package session

import (
	"slices"

	"pitap/record"
	"pitap/record/scan"
)

// queue is the messages that wait for their turn: of pi, and of the commands that sent them.
type queue struct {
	waiting []*Command  // accepted, and neither delivered nor dropped
	lists   [2][]uint64 // hashes of the texts of the latest queue_update: steering, followUp
	fresh   []uint64    // texts that were put in and whose command has no response yet
	taken   []uint64    // texts that were taken out and have not come as a message
}

const maxQueue = 10_000

// add takes a command that was accepted into the queue.
func (q *queue) add(c *Command) {
	// pi shows the queue with the message before it answers; the text there is the one after templates were filled in.
	if i := slices.Index(q.fresh, c.text); i >= 0 {
		q.fresh = slices.Delete(q.fresh, i, i+1)
	} else if len(q.fresh) > 0 {
		c.text = q.fresh[0]
		q.fresh = q.fresh[1:]
	}
	if len(q.waiting) < maxQueue {
		q.waiting = append(q.waiting, c)
	}
}

// queueUpdate takes the queue as pi shows it.
func (s *Session) queueUpdate(r *Record) {
	q := &s.queue
	for i, name := range [2]string{"steering", "followUp"} {
		old := q.lists[i]
		var list []uint64
		for e := scan.WalkOver(r.get(name)); e.Next() && len(list) < maxQueue; {
			s.scratch, _ = scan.Unquote(s.scratch[:0], e.Value)
			list = append(list, hash(s.scratch))
		}
		switch {
		case len(list) > len(old):
			q.fresh = cut(append(q.fresh, list[len(old):]...))
		case len(list) < len(old):
			q.taken = cut(append(q.taken, old[:len(old)-len(list)]...))
		}
		q.lists[i] = list
	}
}

// cut forgets the oldest of many.
func cut(list []uint64) []uint64 { return list[max(0, len(list)-maxQueue):] }

// delivered takes a user's message that goes to the model: perhaps it has waited in the queue.
func (s *Session) delivered(r *Record, content []byte) {
	q := &s.queue
	if len(q.waiting) == 0 {
		q.taken = nil
		return
	}
	s.scratch, _ = scan.Unquote(s.scratch[:0], textOf(content))
	text := hash(s.scratch)
	at := slices.IndexFunc(q.waiting, func(c *Command) bool { return c.text == text })
	if i := slices.Index(q.taken, text); i >= 0 {
		q.taken = slices.Delete(q.taken, i, i+1)
	} else if at < 0 && len(q.taken) > 0 { // the text was changed on the way
		at = slices.IndexFunc(q.waiting, func(c *Command) bool { return c.text == q.taken[0] })
		q.taken = q.taken[1:]
	}
	if at < 0 {
		return
	}
	q.waiting[at].Delivered = r.at()
	q.waiting = slices.Delete(q.waiting, at, at+1)
}

// drop takes what empties the queue: clear_queue, another session.
func (q *queue) drop(by *Moment, success bool) {
	if !success {
		return
	}
	for _, c := range q.waiting {
		c.Dropped = by
	}
	q.waiting, q.lists, q.fresh, q.taken = nil, [2][]uint64{}, nil, nil
}

// concludeQueue finds messages that were queued and never delivered.
func (s *Session) concludeQueue(f *findings, t int64) {
	if s.missing.agent || s.run != nil {
		return
	}
	for _, c := range s.queue.waiting {
		if s.stop(t)-c.Queued.T >= slowAnswer {
			f.add("run/queued", place{n: c.N, from: record.Client}, "", "%s (entry %d) was queued and never came to the model: a queue waits for a run, and none came after it", c.words(), c.N)
		}
	}
}
