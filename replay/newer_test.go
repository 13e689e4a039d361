package replay

import "testing"

// A session of a pi that is newer than the vocabulary: what is not known is played as it was recorded, and waits for
// nobody for long.
func TestNewerPi(t *testing.T) {
	const (
		event   = `{"type":"brand_new_event","x":1}`
		request = `{"type":"extension_ui_request","id":"u","method":"hologram","title":"?"}`
		command = `{"id":"2","type":"brand_new_command","deep":{"a":[1]}}`
		answer  = `{"id":"2","type":"response","command":"brand_new_command","success":true,"data":{"n":1}}`
	)
	newer := fixture(
		"> "+hi, "< "+hiAnswer, "< "+event, "< "+started, "< "+request,
		`< {"type":"message_update","assistantMessageEvent":{"type":"smell_delta","delta":"ah"},"brandNew":true}`,
		"> "+command, "< "+answer, "< "+settled, eofNote, exitNote)
	const update = `{"type":"message_update","assistantMessageEvent":{"type":"smell_delta","delta":"ah"},"brandNew":true}`
	for _, test := range []struct {
		name    string
		send    []string
		want    []string
		skipped int
	}{
		{"as recorded", []string{hi, command}, []string{hiAnswer, event, started, request, update, answer, settled}, 0},
		{"other ids", []string{hi, `{"deep":{"a":[1]},"type":"brand_new_command","id":7}`},
			[]string{hiAnswer, event, started, request, update, `{"id":7,"type":"response","command":"brand_new_command","success":true,"data":{"n":1}}`, settled}, 0},
		{"not asked", []string{hi}, []string{hiAnswer, event, started, request, update, settled}, 1},
		{"an answer to an unknown request", []string{hi, `{"type":"extension_ui_response","id":"u","value":"x"}`, command},
			[]string{hiAnswer, event, started, request, update, answer, settled}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			converse(t, newer, nil, func(c *talk) {
				c.send(test.send...)
				c.expect(test.want...)
				if r := c.end(Complete, 0); r.Failed() || r.Skipped != test.skipped {
					t.Errorf("report: %s", r)
				}
			})
		})
	}
}
