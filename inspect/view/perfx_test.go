package view
import ("testing";"time";"os";"fmt";"runtime/pprof")
func TestPerfX(t *testing.T) {
	p := os.Getenv("PERFX")
	if p=="" { t.Skip() }
	if f:=os.Getenv("PROF"); f!="" { o,_:=os.Create(f); pprof.StartCPUProfile(o); defer pprof.StopCPUProfile() }
	for range 3 {
	t0:=time.Now()
	s, err := Open(p, nil)
	if err!=nil {t.Fatal(err)}
	fmt.Println("open", time.Since(t0), "frames", len(s.frames), "entries", s.count)
	t1:=time.Now()
	at, _ := s.First()
	for range 30 { s.Row(at); n, ok := s.Next(at); if !ok {break}; at=n }
	fmt.Println("first rows", time.Since(t1), "at", at)
	t1=time.Now()
	at, _ = s.Last()
	for range 30 { s.Row(at); n, ok := s.Prev(at); if !ok {break}; at=n }
	fmt.Println("last rows", time.Since(t1), "at", at)
	s.Close()
	}
}
