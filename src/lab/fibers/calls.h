/* calls.h — what becomes of a system call of a program under test that no function of the C library stands for: one by
 * inline assembly, by syscall(2), or within the C library (gate.c). docs/threads-under-test.md has the same lists.
 *
 * Simulated  answered as the function of that name is.
 * Waits      as it is; one that would block is a wait of the thread.
 * Passed     as it is: it changes nothing but the process, or only asks.
 * Noted      as it is, and put back after the run.
 * Stays      as it is; what it changes stays, so the next run has another process.
 * Marked     as it is, and the run is uncontrolled.
 * Refused    by name.
 *
 * What is in no list is marked by its number. */
#ifndef RAD_LAB_FIBERS_CALLS_H
#define RAD_LAB_FIBERS_CALLS_H

/* clang-format off */
#define RAD_CALLS_SIMULATED(CALL) \
    CALL(futex) CALL(clock_gettime) CALL(nanosleep) CALL(sched_yield) CALL(getrandom) CALL(getpid) CALL(gettid) \
    CALL(getppid) CALL(rt_sigprocmask) CALL(kill) CALL(tkill) CALL(tgkill) CALL(exit_group) \
    CALL(getcpu) CALL(sched_getaffinity) CALL(sched_setaffinity) CALL(clock_nanosleep) CALL(gettimeofday) CALL(time) \
    CALL(poll) CALL(ppoll) CALL(select) CALL(pselect6) CALL(epoll_wait) CALL(epoll_pwait) CALL(epoll_pwait2)

#define RAD_CALLS_WAITING(CALL) \
    CALL(read) CALL(readv) CALL(recvfrom) CALL(recvmsg) CALL(accept) CALL(accept4) CALL(write) CALL(writev) \
    CALL(sendto) CALL(sendmsg)

#define RAD_CALLS_PASSED(CALL) \
    CALL(access) CALL(bind) CALL(brk) CALL(connect) CALL(copy_file_range) CALL(dup) CALL(epoll_create) \
    CALL(epoll_create1) CALL(epoll_ctl) CALL(eventfd) CALL(eventfd2) CALL(faccessat) CALL(faccessat2) \
    CALL(fadvise64) CALL(fallocate) CALL(fcntl) CALL(fdatasync) CALL(fgetxattr) CALL(flock) CALL(fstat) \
    CALL(fstatfs) CALL(fsync) CALL(ftruncate) CALL(getcwd) CALL(getdents) CALL(getdents64) \
    CALL(getegid) CALL(geteuid) CALL(getgid) CALL(getgroups) CALL(getpeername) CALL(getpgid) CALL(getpgrp) \
    CALL(getpriority) CALL(getresgid) CALL(getresuid) CALL(getrlimit) CALL(getrusage) CALL(getsid) \
    CALL(getsockname) CALL(getsockopt) CALL(getuid) CALL(getxattr) CALL(ioctl) CALL(lgetxattr) CALL(listen) \
    CALL(lseek) CALL(lstat) CALL(membarrier) CALL(memfd_create) CALL(mincore) CALL(msync) CALL(newfstatat) \
    CALL(open) CALL(openat) CALL(openat2) CALL(pipe) CALL(pipe2) CALL(pread64) CALL(preadv) CALL(preadv2) \
    CALL(pwrite64) CALL(pwritev) CALL(pwritev2) CALL(readahead) CALL(readlink) CALL(readlinkat) \
    CALL(restart_syscall) CALL(rseq) CALL(rt_sigpending) CALL(sched_get_priority_max) \
    CALL(sched_get_priority_min) CALL(sched_getparam) CALL(sched_getscheduler) \
    CALL(sendfile) CALL(set_robust_list) CALL(set_tid_address) CALL(setsockopt) CALL(shutdown) CALL(socket) \
    CALL(socketpair) CALL(splice) CALL(stat) CALL(statfs) CALL(statx) CALL(sync_file_range) CALL(sysinfo) \
    CALL(uname) CALL(arch_prctl) CALL(clock_getres) CALL(tee) CALL(vmsplice) CALL(sched_rr_get_interval) \
    CALL(timerfd_gettime) CALL(getitimer) CALL(get_mempolicy) CALL(inotify_add_watch) \
    CALL(inotify_rm_watch)

#define RAD_CALLS_NOTED(CALL) \
    CALL(close) CALL(close_range) CALL(dup2) CALL(dup3) CALL(madvise) CALL(mmap) CALL(mprotect) CALL(mremap) \
    CALL(munmap) CALL(rt_sigaction) CALL(sigaltstack)

#define RAD_CALLS_STAYING(CALL) \
    CALL(chdir) CALL(chroot) CALL(fchdir) CALL(mlock) CALL(mlock2) CALL(mlockall) CALL(munlock) CALL(munlockall) \
    CALL(personality) CALL(prctl) CALL(prlimit64) CALL(sched_setattr) \
    CALL(sched_setparam) CALL(sched_setscheduler) CALL(setpriority) CALL(setrlimit) CALL(shmat) CALL(shmdt) \
    CALL(umask) CALL(unshare)

#define RAD_CALLS_MARKED(CALL) \
    CALL(chmod) CALL(chown) CALL(creat) CALL(fchmod) CALL(fchmodat) CALL(fchown) CALL(fchownat) \
    CALL(inotify_init1) CALL(link) CALL(linkat) CALL(mkdir) CALL(mkdirat) CALL(mknod) CALL(mknodat) CALL(rename) \
    CALL(renameat) CALL(renameat2) CALL(rmdir) CALL(shmget) CALL(symlink) CALL(symlinkat) CALL(timerfd_create) \
    CALL(timerfd_settime) CALL(truncate) CALL(unlink) CALL(unlinkat) CALL(utimensat) CALL(inotify_init)

#define RAD_CALLS_REFUSED(CALL) \
    CALL(bpf) CALL(clone) CALL(clone3) CALL(execve) CALL(execveat) CALL(exit) CALL(fork) CALL(io_setup) \
    CALL(io_submit) CALL(io_uring_setup) CALL(mount) CALL(pidfd_open) CALL(ptrace) CALL(reboot) \
    CALL(rt_sigsuspend) CALL(rt_sigtimedwait) CALL(seccomp) CALL(setfsgid) CALL(setfsuid) CALL(setgid) \
    CALL(setgroups) CALL(setns) CALL(setpgid) CALL(setregid) CALL(setresgid) CALL(setresuid) CALL(setreuid) \
    CALL(setsid) CALL(setuid) CALL(signalfd) CALL(signalfd4) CALL(timer_create) CALL(userfaultfd) CALL(vfork) \
    CALL(wait4) CALL(waitid) CALL(alarm) CALL(setitimer) CALL(pause) CALL(rt_sigqueueinfo) \
    CALL(rt_tgsigqueueinfo) CALL(futex_waitv) CALL(semop) CALL(semtimedop) CALL(msgrcv) CALL(msgsnd)
/* clang-format on */

#endif
