/*
 * Records what a program does to the files of a directory, for tests: loaded with LD_PRELOAD, it intercepts the calls
 * between the program and libc that change files, and writes each that succeeded into a log, in their order.
 *
 * RECORD_ROOT is the directory, RECORD_LOG the log. A record is a head, a path and data. A sync is in the log before the
 * program knows that it has succeeded, so whatever the program says afterwards comes later than the record.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <stdio.h>

#define PATH_BYTES 4096

/* power/recording.ts has the same. */
enum kind { WRITE, SYNC, TRUNCATE, CREATE, RENAME, UNLINK, MKDIR };

struct head {
  uint32_t kind, path_bytes;
  uint64_t offset, data_bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_BYTES];
static int log_fd = -1;

__attribute__((constructor)) static void begin(void) {
  const char *directory = getenv("RECORD_ROOT"), *path = getenv("RECORD_LOG");
  if (directory == NULL || path == NULL) return;
  snprintf(root, sizeof root, "%s/", directory);
  log_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below_root(const char *path) {
  return log_fd >= 0 && (strncmp(path, root, strlen(root)) == 0 || strncmp(path, root, strlen(root) - 1) == 0);
}

/* One call, so that no reader of the log sees half of a record. */
static void record(enum kind kind, const char *path, uint64_t offset, const struct iovec *pieces, int count, size_t bytes) {
  struct head head = {kind, (uint32_t)strlen(path), offset, bytes};
  struct iovec all[16] = {{&head, sizeof head}, {(void *)path, strlen(path)}};
  int used = 2;
  for (int i = 0; i < count && bytes > 0; i++) {
    if (used == 16) abort();
    size_t some = pieces[i].iov_len < bytes ? pieces[i].iov_len : bytes;
    all[used++] = (struct iovec){pieces[i].iov_base, some};
    bytes -= some;
  }
  size_t total = 0;
  for (int i = 0; i < used; i++) total += all[i].iov_len;
  if (syscall(SYS_writev, log_fd, all, used) != (long)total) abort();
}

static int find_path(int fd, char *path) {
  if (log_fd < 0) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_BYTES - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below_root(path);
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
  if (!(flags & O_CREAT) || !is_below_root(path)) return (int)syscall(SYS_openat, folder, path, flags, mode);
  pthread_mutex_lock(&lock);
  int is_new = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
  int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
  if (fd >= 0 && is_new) record(CREATE, path, 0, NULL, 0, 0);
  else if (fd >= 0 && (flags & O_TRUNC)) record(TRUNCATE, path, 0, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  return fd;
}

#define OPEN_BODY(folder)                                                                                    \
  va_list list;                                                                                              \
  va_start(list, flags);                                                                                     \
  mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;                                  \
  va_end(list);                                                                                              \
  return open_at(folder, path, flags, mode);

int open(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD) }
int open64(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD) }
int openat(int folder, const char *path, int flags, ...) { OPEN_BODY(folder) }
int openat64(int folder, const char *path, int flags, ...) { OPEN_BODY(folder) }

/* `call` writes `pieces`, at `at` or where the file is. */
#define WRITE_BODY(pieces, count, at, call)                                                                  \
  char path[PATH_BYTES];                                                                                     \
  if (!find_path(fd, path)) return call;                                                                     \
  pthread_mutex_lock(&lock);                                                                                 \
  ssize_t written = call;                                                                                    \
  if (written > 0) record(WRITE, path, (uint64_t)(at), pieces, count, (size_t)written);                      \
  pthread_mutex_unlock(&lock);                                                                               \
  return written;
#define HERE (syscall(SYS_lseek, fd, 0L, SEEK_CUR) - written)

ssize_t write(int fd, const void *data, size_t size) {
  struct iovec piece = {(void *)data, size};
  WRITE_BODY(&piece, 1, HERE, syscall(SYS_write, fd, data, size))
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  struct iovec piece = {(void *)data, size};
  WRITE_BODY(&piece, 1, at, syscall(SYS_pwrite64, fd, data, size, at))
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  WRITE_BODY(pieces, count, HERE, syscall(SYS_writev, fd, pieces, count))
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t at) {
  WRITE_BODY(pieces, count, at, syscall(SYS_pwritev, fd, pieces, count, at, 0L))
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t at) { return pwritev64(fd, pieces, count, at); }

/* `call` changes the file of `fd`. */
#define FILE_BODY(kind, offset, call)                                                                        \
  char path[PATH_BYTES];                                                                                     \
  if (!find_path(fd, path)) return (int)(call);                                                              \
  pthread_mutex_lock(&lock);                                                                                 \
  int result = (int)(call);                                                                                  \
  if (result == 0) record(kind, path, (uint64_t)(offset), NULL, 0, 0);                                       \
  pthread_mutex_unlock(&lock);                                                                               \
  return result;

int fsync(int fd) { FILE_BODY(SYNC, 0, syscall(SYS_fsync, fd)) }
int fdatasync(int fd) { FILE_BODY(SYNC, 0, syscall(SYS_fdatasync, fd)) }
int ftruncate64(int fd, off64_t size) { FILE_BODY(TRUNCATE, size, syscall(SYS_ftruncate, fd, size)) }
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

/* `call` changes the directory of `path`. */
#define NAME_BODY(kind, path, pieces, count, bytes, call)                                                    \
  if (!is_below_root(path)) return (int)(call);                                                              \
  pthread_mutex_lock(&lock);                                                                                 \
  int result = (int)(call);                                                                                  \
  if (result == 0) record(kind, path, 0, pieces, count, bytes);                                              \
  pthread_mutex_unlock(&lock);                                                                               \
  return result;

int rename(const char *from, const char *to) {
  struct iovec piece = {(void *)to, strlen(to)};
  NAME_BODY(RENAME, from, &piece, 1, strlen(to), syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0))
}
int unlink(const char *path) { NAME_BODY(UNLINK, path, NULL, 0, 0, syscall(SYS_unlinkat, AT_FDCWD, path, 0)) }
int mkdir(const char *path, mode_t mode) {
  NAME_BODY(MKDIR, path, NULL, 0, 0, syscall(SYS_mkdirat, AT_FDCWD, path, mode))
}
