/* Loaded into the agent before the C library: calls that sync a file take 10 ms more, as on a slow
 * disk. They block only the thread that calls. */

#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_10_ms(void) {
    struct timespec left = {0, 10 * 1000 * 1000};
    while (nanosleep(&left, &left) == -1 && errno == EINTR) {
    }
}

int fsync(int file) {
    wait_10_ms();
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    wait_10_ms();
    return (int)syscall(SYS_fdatasync, file);
}
