// Delays the jobs of tasks at random, so that they run in other orders than they do on an idle machine.
//
// Loaded into a test process before its libraries, this sets the hook of Swift's runtime that receives each job on its
// way to the global executor. A part of the jobs is kept for a random time and handed on by a thread of its own. That is
// what a busy machine does as well: a job has no promise of when it runs, or that it runs before a later one.
//
// Three environment variables: TASK_DELAY_PERCENT of the jobs, up to TASK_DELAY_MICROSECONDS, chosen with
// TASK_DELAY_SEED. At the end of the process the number of delayed jobs is written to standard error, but not by the
// programs that it has started: tests compare what those write.

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SWIFT __attribute__((swiftcall))

typedef SWIFT void (*Enqueue)(void *job);
typedef SWIFT void (*Hook)(void *job, Enqueue enqueue);

typedef struct {
  uint64_t due;
  void *job;
  Enqueue enqueue;
} Delayed;

enum { CAPACITY = 4096, NANOSECONDS = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Guarded by the lock.
static Delayed delayed[CAPACITY];
static size_t count;
static uint64_t randomState;
static unsigned long total;

// Set before any job comes.
static uint64_t percent, longest;

static uint64_t setting(const char *name, uint64_t standard) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : standard;
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// The generator xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
static uint64_t next(void) {
  randomState ^= randomState << 13;
  randomState ^= randomState >> 7;
  randomState ^= randomState << 17;
  return randomState;
}

static SWIFT void enqueue(void *job, Enqueue original) {
  pthread_mutex_lock(&lock);
  bool isDelayed = count < CAPACITY && next() % 100 < percent;
  if (isDelayed) {
    delayed[count++] = (Delayed){now() + next() % (longest + 1) * NANOSECONDS, job, original};
    total++;
  }
  pthread_mutex_unlock(&lock);
  if (!isDelayed) original(job);
}

// Removes a job that is due. Returns false if there is none.
static bool take(Delayed *taken) {
  bool isFound = false;
  pthread_mutex_lock(&lock);
  uint64_t date = now();
  for (size_t index = 0; index < count && !isFound; index++) {
    if (delayed[index].due > date) continue;
    *taken = delayed[index];
    delayed[index] = delayed[--count];
    isFound = true;
  }
  pthread_mutex_unlock(&lock);
  return isFound;
}

static void *enqueueDue(void *unused) {
  for (;;) {
    Delayed due;
    while (take(&due)) due.enqueue(due.job);
    usleep(100);
  }
  return unused;
}

static void report(void) {
  pthread_mutex_lock(&lock);
  fprintf(stderr, "delayed jobs: %lu\n", total);
  pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void start(void) {
  // The programs that tests start load this as well. Not all of them have Swift's concurrency.
  Hook *hook = dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook");
  if (!hook) return;
  percent = setting("TASK_DELAY_PERCENT", 40);
  longest = setting("TASK_DELAY_MICROSECONDS", 2000);
  // Seeds that are close have sequences that are not.
  randomState = (setting("TASK_DELAY_SEED", 1) + 1) * 0x9E3779B97F4A7C15;
  pthread_t thread;
  if (pthread_create(&thread, NULL, enqueueDue, NULL) != 0) abort();
  *hook = enqueue;
  if (!getenv("TASK_DELAY_REPORTED")) atexit(report);
  // Inherited by the programs that tests start.
  if (setenv("TASK_DELAY_REPORTED", "1", 1) != 0) abort();
}
