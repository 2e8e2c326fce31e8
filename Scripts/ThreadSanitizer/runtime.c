// Reports to the thread sanitizer what it cannot see in Swift's runtime on Linux.
//
// The fast paths of `Mutex` are compiled into its callers, where the sanitizer sees them. The slow paths are in
// libswiftSynchronization, which is not instrumented, so after a contended lock the sanitizer misses that the lock orders
// its owners. In the same way libswift_Concurrency reports that a continuation was resumed, but not that a task has found
// its continuation resumed before it awaited it. The functions below replace those of the runtime, call them, and report
// the missing part.
//
// The sanitizer does not see reference counts either. A value that is copied on write may be changed when it has one
// reference: the threads that have released the others have read the value before.
//
// The functions are linked only into the test binary of a sanitized build. If the runtime does not have one of them, ours
// is never called.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SWIFT_ASYNC __attribute__((swiftasynccall))
#define SELF __attribute__((swift_context)) void *mutex

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define IS_KNOWN_UNIQUELY_REFERENCED "$ss25isKnownUniquelyReferencedySbxzRlzClF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);
__attribute__((weak)) SWIFT void *swift_task_getCurrent(void);

// MARK: Mutex

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
  SWIFT void (*next)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
  next(thread, mutex);
  __tsan_acquire(mutex);
}

SWIFT bool try_lock_slow(SELF) {
  SWIFT bool (*next)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
  bool locked = next(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}

SWIFT void unlock_slow(SELF) {
  SWIFT void (*next)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
  __tsan_release(mutex);
  next(mutex);
}

// MARK: Continuations

#define CONTEXT __attribute__((swift_async_context)) struct continuation *

struct continuation {
  void *parent;
  SWIFT_ASYNC void (*resume_parent)(CONTEXT);
  uintptr_t flags;
};

enum { bits_of_flags = 16 };

// Resuming a continuation releases the task. The code that continues has to acquire it, whether the task was enqueued,
// or has found the continuation resumed when it awaited it or while it was being suspended.
SWIFT_ASYNC static void go_on(CONTEXT continuation) {
  continuation->resume_parent = (SWIFT_ASYNC void (*)(CONTEXT))(continuation->flags >> bits_of_flags);
  void *task = swift_task_getCurrent ? swift_task_getCurrent() : NULL;
  if (task) __tsan_acquire(task);
  return continuation->resume_parent(continuation);
}

// Before the await only the task reads the two fields, and afterwards the runtime reads only the lowest flags.
SWIFT_ASYNC void swift_continuation_await(struct continuation *continuation) {
  SWIFT_ASYNC void (*next)(struct continuation *) = dlsym(RTLD_NEXT, "swift_continuation_await");
  continuation->flags |= (uintptr_t)continuation->resume_parent << bits_of_flags;
  continuation->resume_parent = go_on;
  return next(continuation);
}

// MARK: References

static void (*next_release)(void *object);
static bool (*next_uniqueness)(const void *object);

// The constructors of other libraries run before ours, so this is done at the first use.
static void find_reference_counting(void) {
  next_release = dlsym(RTLD_NEXT, "swift_release");
  next_uniqueness = dlsym(RTLD_NEXT, "swift_isUniquelyReferenced_nonNull_native");
}

void swift_release(void *object) {
  if (!next_release) find_reference_counting();
  if ((intptr_t)object > 0) __tsan_release(object);
  next_release(object);
}

bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
  if (!next_uniqueness) find_reference_counting();
  bool unique = next_uniqueness(object);
  if (unique) __tsan_acquire((void *)object);
  return unique;
}

// Generic code calls this function of the standard library.
SWIFT bool is_known_uniquely_referenced(void **object, const void *type) __asm__(IS_KNOWN_UNIQUELY_REFERENCED);

SWIFT bool is_known_uniquely_referenced(void **object, const void *type) {
  SWIFT bool (*next)(void **, const void *) = dlsym(RTLD_NEXT, IS_KNOWN_UNIQUELY_REFERENCED);
  bool unique = next(object, type);
  if (unique) __tsan_acquire(*object);
  return unique;
}
