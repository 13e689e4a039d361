package record

// quick is walk for an entry of the form in which this package writes most of them,
// {"n":1,"t":2,"from":"agent","off":3,"msg":{...}}. It returns false, and has done nothing, for any other.
func (m *members) quick(line []byte) bool {
	at, ok := 0, true
	number := func(before string) (v int64) {
		if !ok || len(line)-at < len(before) || string(line[at:at+len(before)]) != before {
			ok = false
			return 0
		}
		at += len(before)
		v, n := digits(line[at:])
		ok = n == 1 || n > 1 && line[at] != '0'
		at += n
		return v
	}
	n, t := number(`{"n":`), number(`,"t":`)
	if !ok {
		return false
	}
	const from, off = `,"from":`, `,"off":`
	if len(line)-at < len(from)+len(`"stderr"`) || string(line[at:at+len(from)]) != from {
		return false
	}
	at += len(from)
	name := 0
	switch line[at+1] {
	case 'a':
		name = len(`"agent"`)
	case 'c':
		name = len(`"client"`)
	default:
		return false
	}
	stream := token{line[at : at+name], at}
	at += name
	o := number(off)
	const msg = `,"msg":`
	if !ok || len(line)-at < len(msg) || string(line[at:at+len(msg)]) != msg || !m.lastMember(line, at+len(msg)) {
		return false
	}
	m.n, m.t, m.off, m.hasOff, m.from = n, t, o, true, stream
	return true
}
