package rpc

import (
	"bytes"

	"pitap/record/scan"
)

// LookAt is Look for a record whose members are known: m is what scan.ScanMembers noted of msg. It does not go over the
// bytes again.
func LookAt(from string, msg []byte, m *scan.Spans) (head Head) {
	if m.More {
		return Look(from, msg)
	}
	var typ, command, success, update, method []byte
	for i := range m.List {
		s := &m.List[i]
		key, value := msg[s.Key:s.KeyEnd], msg[s.Start:s.End]
		switch string(key) {
		case "type":
			typ = value
		case "id":
			head.ID = value
		case "command":
			command = value
		case "success":
			success = value
		case "assistantMessageEvent":
			update = value
		case "method":
			method = value
		default:
			if bytes.IndexByte(key, '\\') >= 0 {
				return Look(from, msg)
			}
		}
	}
	head.name(&Load().heads, from, typ, command, success, update, method)
	return head
}
