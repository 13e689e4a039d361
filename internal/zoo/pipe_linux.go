package zoo

import "golang.org/x/sys/unix"

func pipeSize(_ *agent, arg string) error {
	n := ints(arg)
	_, err := unix.FcntlInt(uintptr(n[0]), unix.F_SETPIPE_SZ, n[1])
	return err
}
