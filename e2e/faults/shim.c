/*
* Makes calls on files fail, for tests: loaded with LD_PRELOAD, it intercepts calls between a program and libc.
 *
* The program controls it by opening paths that do not exist:
 *
 *   /__fault__/root/DIRECTORY       only what is in /DIRECTORY counts from now on; nothing is armed
 *   /__fault__/arm/KIND/N/TIMES     the first call that KIND can hit, from the Nth call on, fails; TIMES in all
 *   /__fault__/arm/KIND/N/TIMES/CALL  the same, but the first that fails is a call of this name
 *   /__fault__/off                  nothing fails any more
 *   /__fault__/status               changes nothing
 *
 * A program that does not know of it is given FAULT_ROOT (a directory) and FAULT_ARM (KIND/N/TIMES) instead,
 * which hold from its start on.
 *
 * Each path reads as JSON: how many calls were seen since the last arming, of which name, and what was hit.
 *
 * Kinds: eio (any call), enospc (calls that need room), sync (fsync and fdatasync, with EIO), short (half of
 * the bytes are written, and said to be), torn (half of the bytes are written, and from then on every call
 * fails, as if the machine had died), die (the same, and nothing is written).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define CONTROL "/__fault__/"
#define PATH_BYTES 4096

enum kind { OFF, EIO_ONCE, ENOSPC_ONCE, SYNC, SHORT, TORN, DIE };
static const char *const KINDS[] = {"off", "eio", "enospc", "sync", "short", "torn", "die"};

/* The effect of a call, as far as kinds distinguish calls. */
enum effect { WRITES, GROWS, SYNCS, OTHER };

enum call { WRITE, PWRITE, WRITEV, PWRITEV, FSYNC, FDATASYNC, FTRUNCATE, OPEN, RENAME, UNLINK, MKDIR, CALLS };
static const char *const NAMES[CALLS] = {"write",     "pwrite", "writev", "pwritev", "fsync", "fdatasync",
                                         "ftruncate", "open",   "rename", "unlink",  "mkdir"};

/* What becomes of a call. */
enum fate { PASS, FAIL, HALF_THEN_FAIL, HALF };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_BYTES];
static volatile int armed;
static enum kind kind;
static long nth, times, seen, hits;
static long seen_by_call[CALLS];
/* The call that is hit first; CALLS for any. */
static enum call first_call = CALLS;
static int dead;
static char hit_call[16], hit_path[PATH_BYTES];

static int is_below_root(const char *path) {
  size_t length = strlen(root);
  return length > 0 && strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int can_hit(enum call call, enum effect effect) {
  if (hits == 0 && first_call != CALLS && call != first_call) return 0;
  switch (kind) {
  case ENOSPC_ONCE:
    return effect == WRITES || effect == GROWS;
  case SYNC:
    return effect == SYNCS;
  case SHORT:
    return effect == WRITES;
  default:
    return 1;
  }
}

/* Sets errno for a call that is to fail. `path` is absolute. */
static enum fate decide(enum call call, enum effect effect, const char *path) {
  if (!is_below_root(path)) return PASS;
  enum fate fate = PASS;
  pthread_mutex_lock(&lock);
  if (armed) {
    seen++;
    seen_by_call[call]++;
    if (dead) fate = FAIL;
    else if (seen >= nth && hits < times && can_hit(call, effect)) {
      if (hits++ == 0) {
        snprintf(hit_call, sizeof hit_call, "%s", NAMES[call]);
        snprintf(hit_path, sizeof hit_path, "%s", path);
      }
      dead = kind == TORN || kind == DIE;
      if (kind == SHORT) fate = HALF;
      else fate = kind == TORN && effect == WRITES ? HALF_THEN_FAIL : FAIL;
    }
  }
  pthread_mutex_unlock(&lock);
  errno = kind == ENOSPC_ONCE ? ENOSPC : EIO;
  return fate;
}

static enum fate decide_fd(enum call call, enum effect effect, int fd) {
  if (!armed) return PASS;
  char link[64], path[PATH_BYTES];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length < 0) return PASS;
  path[length] = 0;
  return decide(call, effect, path);
}

/* Takes an order and gives a file that says where things stand. */
static int obey(const char *order) {
  char name[16] = "", first[16] = "";
  pthread_mutex_lock(&lock);
  if (strncmp(order, "root/", 5) == 0) {
    armed = 0;
    snprintf(root, sizeof root, "%s", order + 4);
  } else if (strncmp(order, "arm/", 4) == 0) {
    sscanf(order + 4, "%15[a-z]/%ld/%ld/%15[a-z]", name, &nth, &times, first);
    kind = OFF;
    for (int i = 1; i <= DIE; i++)
      if (strcmp(name, KINDS[i]) == 0) kind = i;
    first_call = CALLS;
    for (int i = 0; i < CALLS; i++)
      if (strcmp(first, NAMES[i]) == 0) first_call = i;
    if (kind == OFF || (first[0] != 0 && first_call == CALLS)) abort();
    seen = hits = dead = 0;
    memset(seen_by_call, 0, sizeof seen_by_call);
    hit_call[0] = hit_path[0] = 0;
    armed = 1;
  } else if (strcmp(order, "off") == 0) {
    armed = dead = 0;
  } else if (strcmp(order, "status") != 0) {
    abort();
  }
  char text[PATH_BYTES + 1024];
  int length = snprintf(text, sizeof text, "{\"seen\":%ld,\"hits\":%ld,\"call\":\"%s\",\"path\":\"%s\",\"calls\":{", seen,
                        hits, hit_call, hit_path);
  for (int i = 0; i < CALLS; i++)
    length += snprintf(text + length, sizeof text - length, "%s\"%s\":%ld", i > 0 ? "," : "", NAMES[i], seen_by_call[i]);
  length += snprintf(text + length, sizeof text - length, "}}");
  pthread_mutex_unlock(&lock);
  int fd = memfd_create("fault", MFD_CLOEXEC);
  syscall(SYS_pwrite64, fd, text, (size_t)length, 0L);
  return fd;
}

__attribute__((constructor)) static void begin(void) {
  const char *directory = getenv("FAULT_ROOT"), *fault = getenv("FAULT_ARM");
  if (directory == NULL || fault == NULL) return;
  char order[PATH_BYTES];
  snprintf(order, sizeof order, "root%s", directory);
  close(obey(order));
  snprintf(order, sizeof order, "arm/%s", fault);
  close(obey(order));
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
  if (strncmp(path, CONTROL, strlen(CONTROL)) == 0) return obey(path + strlen(CONTROL));
  if (armed && decide(OPEN, flags & O_CREAT ? GROWS : OTHER, path) != PASS) return -1;
  return syscall(SYS_openat, folder, path, flags, mode);
}

static mode_t mode_in(int flags, va_list list) {
  return flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN_BODY(folder)                                                                                    \
  va_list list;                                                                                              \
  va_start(list, flags);                                                                                     \
  mode_t mode = mode_in(flags, list);                                                                        \
  va_end(list);                                                                                              \
  return open_at(folder, path, flags, mode);

int open(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD) }
int open64(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD) }
int openat(int folder, const char *path, int flags, ...) { OPEN_BODY(folder) }
int openat64(int folder, const char *path, int flags, ...) { OPEN_BODY(folder) }

/* `some` writes so many bytes of what the call was given. */
#define WRITE_BODY(call, length, some)                                                                       \
  size_t bytes = length;                                                                                     \
  enum fate fate = decide_fd(call, WRITES, fd);                                                              \
  int error = errno;                                                                                         \
  if (fate == FAIL) return -1;                                                                               \
  if (fate != PASS) bytes = (bytes + (fate == HALF)) / 2;                                                    \
  ssize_t written = some;                                                                                    \
  if (fate != HALF_THEN_FAIL) return written;                                                                \
  errno = error;                                                                                             \
  return -1;

ssize_t write(int fd, const void *data, size_t size) { WRITE_BODY(WRITE, size, syscall(SYS_write, fd, data, bytes)) }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  WRITE_BODY(PWRITE, size, syscall(SYS_pwrite64, fd, data, bytes, at))
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }

/* Half of several pieces is half of the first. */
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  WRITE_BODY(WRITEV, pieces[0].iov_len,
             fate == PASS ? syscall(SYS_writev, fd, pieces, count) : syscall(SYS_write, fd, pieces[0].iov_base, bytes))
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t at) {
  WRITE_BODY(PWRITEV, pieces[0].iov_len,
             fate == PASS ? syscall(SYS_pwritev, fd, pieces, count, at, 0L)
                          : syscall(SYS_pwrite64, fd, pieces[0].iov_base, bytes, at))
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t at) { return pwritev64(fd, pieces, count, at); }

#define PLAIN_BODY(fate, call) return (fate) == PASS ? (int)(call) : -1;

int fsync(int fd) { PLAIN_BODY(decide_fd(FSYNC, SYNCS, fd), syscall(SYS_fsync, fd)) }
int fdatasync(int fd) { PLAIN_BODY(decide_fd(FDATASYNC, SYNCS, fd), syscall(SYS_fdatasync, fd)) }
int ftruncate64(int fd, off64_t size) { PLAIN_BODY(decide_fd(FTRUNCATE, OTHER, fd), syscall(SYS_ftruncate, fd, size)) }
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int rename(const char *from, const char *to) {
  PLAIN_BODY(decide(RENAME, GROWS, to), syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0))
}
int unlink(const char *path) { PLAIN_BODY(decide(UNLINK, OTHER, path), syscall(SYS_unlinkat, AT_FDCWD, path, 0)) }
int mkdir(const char *path, mode_t mode) {
  PLAIN_BODY(decide(MKDIR, GROWS, path), syscall(SYS_mkdirat, AT_FDCWD, path, mode))
}
