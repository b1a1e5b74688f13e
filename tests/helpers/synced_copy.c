/* Keeps beside a folder what of it would be left after a power loss.
 *
 * Loaded with LD_PRELOAD. Whenever a file of the folder SYNCED_FROM is synced, its content is
 * copied to the folder SYNCED_TO; what is written and not synced never gets there. A deleted file
 * is deleted there at once, and folders are made as they are needed. With SYNCED_LIES set, the first copies are made and syncs after that
 * count are ignored, as by a disk that lies.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static int copied_to(const char *path, char *target) {
    const char *from = getenv("SYNCED_FROM"), *to = getenv("SYNCED_TO");
    if (!from || !to || strncmp(path, from, strlen(from)) || path[strlen(from)] != '/') return 0;
    return snprintf(target, PATH_MAX, "%s%s", to, path + strlen(from)) < PATH_MAX;
}

static void make_folders(const char *target) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", target);
    for (char *end = folder + 1; (end = strchr(end, '/')); end++) {
        *end = 0;
        mkdir(folder, 0700);
        *end = '/';
    }
}

static void copy(int file) {
    static int synced = 0;
    char link[64], path[PATH_MAX], target[PATH_MAX], fresh[PATH_MAX + 24], part[65536];
    struct stat kind;
    const char *lies = getenv("SYNCED_LIES");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    if (!copied_to(path, target) || fstat(file, &kind) || !S_ISREG(kind.st_mode)) return;
    pthread_mutex_lock(&turn);
    synced += 1;
    if (!lies || synced <= atoi(lies)) {
        snprintf(fresh, sizeof fresh, "%s.%d.fresh", target, (int)getpid());
        make_folders(target);
        int source = open(path, O_RDONLY | O_CLOEXEC);
        int sink = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (source < 0 || sink < 0) abort();
        for (ssize_t count; (count = read(source, part, sizeof part)) > 0;)
            if (write(sink, part, (size_t)count) != count) abort();
        close(source);
        close(sink);
        if (rename(fresh, target)) abort();
    }
    pthread_mutex_unlock(&turn);
}

static int synced(const char *name, int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    int result = real(file);
    if (result == 0) copy(file);
    return result;
}

int fsync(int file) { return synced("fsync", file); }
int fdatasync(int file) { return synced("fdatasync", file); }

int unlink(const char *path) {
    int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
    char target[PATH_MAX];
    int result = real(path);
    if (result == 0 && copied_to(path, target)) real(target);
    return result;
}
