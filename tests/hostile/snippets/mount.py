# expect: ran
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for call in (lambda: libc.mount(b"x", b".", b"tmpfs", 0, None), lambda: libc.umount2(b"..", 2),
             lambda: libc.unshare(0x10000000), lambda: libc.unshare(0x00020000), lambda: libc.chroot(b"."),
             lambda: libc.setns(0, 0), lambda: libc.pivot_root(b".", b".")):
    if call() == 0:
        print("ESCAPED")
