/* system_calls.h — what becomes of a system call of a program under test that no function of the C library stands for:
 * one by inline assembly, by syscall(2), or within the C library (dispatch.c). docs/threads-under-test.md has the same
 * lists.
 *
 * Simulated  answered as the function of that name is.
 * Waits      as it is; one that would block is a wait of the thread.
 * Passed     as it is: it changes nothing but the process, or only asks.
 * Noted      as it is, and put back after the run.
 * Stays      as it is; what it changes stays, so the next run has another process.
 * Marked     as it is, and the run is uncontrolled.
 * Refused    by name.
 *
 * These are all calls of Linux 6.1 for x86-64. A newer one is marked by its number. */
#ifndef RAD_LAB_PROGRAMS_SYSTEM_CALLS_H
#define RAD_LAB_PROGRAMS_SYSTEM_CALLS_H

/* clang-format off */
#define RAD_CALLS_SIMULATED(CALL) \
    CALL(alarm) CALL(clock_gettime) CALL(clock_nanosleep) CALL(epoll_pwait) CALL(epoll_pwait2) CALL(epoll_wait) \
    CALL(exit_group) CALL(futex) CALL(getcpu) CALL(getitimer) CALL(getpid) CALL(getppid) CALL(getrandom) \
    CALL(gettid) CALL(gettimeofday) CALL(kill) CALL(nanosleep) CALL(pause) CALL(poll) CALL(ppoll) CALL(pselect6) \
    CALL(rt_sigprocmask) CALL(sched_getaffinity) CALL(sched_setaffinity) CALL(sched_yield) CALL(select) \
    CALL(setitimer) CALL(signalfd) CALL(signalfd4) CALL(tgkill) CALL(time) CALL(timerfd_create) \
    CALL(timerfd_gettime) CALL(timerfd_settime) CALL(times) CALL(tkill)

#define RAD_CALLS_WAITING(CALL) \
    CALL(accept) CALL(accept4) CALL(read) CALL(readv) CALL(recvfrom) CALL(recvmmsg) CALL(recvmsg) CALL(sendmmsg) \
    CALL(sendmsg) CALL(sendto) CALL(write) CALL(writev)

#define RAD_CALLS_PASSED(CALL) \
    CALL(_sysctl) CALL(access) CALL(afs_syscall) CALL(arch_prctl) CALL(bind) CALL(brk) CALL(capget) \
    CALL(clock_getres) CALL(connect) CALL(copy_file_range) CALL(create_module) CALL(dup) CALL(epoll_create) \
    CALL(epoll_create1) CALL(epoll_ctl) CALL(epoll_ctl_old) CALL(epoll_wait_old) CALL(eventfd) CALL(eventfd2) \
    CALL(faccessat) CALL(faccessat2) CALL(fadvise64) CALL(fallocate) CALL(fcntl) CALL(fdatasync) CALL(fgetxattr) \
    CALL(flistxattr) CALL(flock) CALL(fstat) CALL(fstatfs) CALL(fsync) CALL(ftruncate) CALL(get_kernel_syms) \
    CALL(get_mempolicy) CALL(get_robust_list) CALL(get_thread_area) CALL(getcwd) CALL(getdents) CALL(getdents64) \
    CALL(getegid) CALL(geteuid) CALL(getgid) CALL(getgroups) CALL(getpeername) CALL(getpgid) CALL(getpgrp) \
    CALL(getpmsg) CALL(getpriority) CALL(getresgid) CALL(getresuid) CALL(getrlimit) CALL(getrusage) CALL(getsid) \
    CALL(getsockname) CALL(getsockopt) CALL(getuid) CALL(getxattr) CALL(inotify_add_watch) CALL(inotify_rm_watch) \
    CALL(ioctl) CALL(ioprio_get) CALL(kcmp) CALL(lgetxattr) CALL(listen) CALL(listxattr) CALL(llistxattr) \
    CALL(lookup_dcookie) CALL(lseek) CALL(lstat) CALL(membarrier) CALL(memfd_create) CALL(memfd_secret) \
    CALL(mincore) CALL(msync) CALL(name_to_handle_at) CALL(newfstatat) CALL(nfsservctl) CALL(open) CALL(openat) \
    CALL(openat2) CALL(pipe) CALL(pipe2) CALL(pread64) CALL(preadv) CALL(preadv2) CALL(putpmsg) CALL(pwrite64) \
    CALL(pwritev) CALL(pwritev2) CALL(query_module) CALL(readahead) CALL(readlink) CALL(readlinkat) \
    CALL(restart_syscall) CALL(rseq) CALL(rt_sigpending) CALL(rt_sigreturn) CALL(sched_get_priority_max) \
    CALL(sched_get_priority_min) CALL(sched_getattr) CALL(sched_getparam) CALL(sched_getscheduler) \
    CALL(sched_rr_get_interval) CALL(security) CALL(sendfile) CALL(set_robust_list) CALL(set_tid_address) \
    CALL(setsockopt) CALL(shutdown) CALL(socket) CALL(socketpair) CALL(splice) CALL(stat) CALL(statfs) CALL(statx) \
    CALL(sync) CALL(sync_file_range) CALL(syncfs) CALL(sysfs) CALL(sysinfo) CALL(tee) CALL(tuxcall) CALL(uname) \
    CALL(uselib) CALL(ustat) CALL(vmsplice) CALL(vserver)

#define RAD_CALLS_NOTED(CALL) \
    CALL(close) CALL(close_range) CALL(dup2) CALL(dup3) CALL(madvise) CALL(mmap) CALL(mprotect) CALL(mremap) \
    CALL(munmap) CALL(pkey_mprotect) CALL(remap_file_pages) CALL(rt_sigaction) CALL(sigaltstack)

#define RAD_CALLS_STAYING(CALL) \
    CALL(capset) CALL(chdir) CALL(chroot) CALL(fchdir) CALL(ioperm) CALL(iopl) CALL(ioprio_set) \
    CALL(landlock_add_rule) CALL(landlock_create_ruleset) CALL(landlock_restrict_self) CALL(mbind) \
    CALL(migrate_pages) CALL(mlock) CALL(mlock2) CALL(mlockall) CALL(modify_ldt) CALL(move_pages) CALL(munlock) \
    CALL(munlockall) CALL(personality) CALL(pkey_alloc) CALL(pkey_free) CALL(prctl) CALL(prlimit64) \
    CALL(sched_setattr) CALL(sched_setparam) CALL(sched_setscheduler) CALL(set_mempolicy) \
    CALL(set_mempolicy_home_node) CALL(set_thread_area) CALL(setpriority) CALL(setrlimit) CALL(shmat) CALL(shmdt) \
    CALL(umask) CALL(unshare)

#define RAD_CALLS_MARKED(CALL) \
    CALL(add_key) CALL(adjtimex) CALL(chmod) CALL(chown) CALL(clock_adjtime) CALL(creat) CALL(fanotify_init) \
    CALL(fanotify_mark) CALL(fchmod) CALL(fchmodat) CALL(fchown) CALL(fchownat) CALL(fremovexattr) CALL(fsetxattr) \
    CALL(futimesat) CALL(inotify_init) CALL(inotify_init1) CALL(keyctl) CALL(lchown) CALL(link) CALL(linkat) \
    CALL(lremovexattr) CALL(lsetxattr) CALL(mkdir) CALL(mkdirat) CALL(mknod) CALL(mknodat) CALL(mq_getsetattr) \
    CALL(mq_open) CALL(mq_unlink) CALL(msgctl) CALL(msgget) CALL(open_by_handle_at) CALL(perf_event_open) \
    CALL(process_madvise) CALL(process_mrelease) CALL(process_vm_readv) CALL(process_vm_writev) CALL(quotactl) \
    CALL(quotactl_fd) CALL(removexattr) CALL(rename) CALL(renameat) CALL(renameat2) CALL(request_key) CALL(rmdir) \
    CALL(semctl) CALL(semget) CALL(setxattr) CALL(shmctl) CALL(shmget) CALL(symlink) CALL(symlinkat) CALL(syslog) \
    CALL(truncate) CALL(unlink) CALL(unlinkat) CALL(utime) CALL(utimensat) CALL(utimes)

#define RAD_CALLS_REFUSED(CALL) \
    CALL(acct) CALL(bpf) CALL(clock_settime) CALL(clone) CALL(clone3) CALL(delete_module) CALL(execve) \
    CALL(execveat) CALL(exit) CALL(finit_module) CALL(fork) CALL(fsconfig) CALL(fsmount) CALL(fsopen) CALL(fspick) \
    CALL(futex_waitv) CALL(init_module) CALL(io_cancel) CALL(io_destroy) CALL(io_getevents) CALL(io_pgetevents) \
    CALL(io_setup) CALL(io_submit) CALL(io_uring_enter) CALL(io_uring_register) CALL(io_uring_setup) \
    CALL(kexec_file_load) CALL(kexec_load) CALL(mount) CALL(mount_setattr) CALL(move_mount) CALL(mq_notify) \
    CALL(mq_timedreceive) CALL(mq_timedsend) CALL(msgrcv) CALL(msgsnd) CALL(open_tree) CALL(pidfd_getfd) \
    CALL(pidfd_open) CALL(pidfd_send_signal) CALL(pivot_root) CALL(ptrace) CALL(reboot) CALL(rt_sigqueueinfo) \
    CALL(rt_sigsuspend) CALL(rt_sigtimedwait) CALL(rt_tgsigqueueinfo) CALL(seccomp) CALL(semop) CALL(semtimedop) \
    CALL(setdomainname) CALL(setfsgid) CALL(setfsuid) CALL(setgid) CALL(setgroups) CALL(sethostname) CALL(setns) \
    CALL(setpgid) CALL(setregid) CALL(setresgid) CALL(setresuid) CALL(setreuid) CALL(setsid) CALL(settimeofday) \
    CALL(setuid) CALL(swapoff) CALL(swapon) CALL(timer_create) CALL(timer_delete) \
    CALL(timer_getoverrun) CALL(timer_gettime) CALL(timer_settime) CALL(umount2) CALL(userfaultfd) CALL(vfork) \
    CALL(vhangup) CALL(wait4) CALL(waitid)
/* clang-format on */

#endif
