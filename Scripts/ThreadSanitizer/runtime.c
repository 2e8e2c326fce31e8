// What the thread sanitizer cannot see of Swift's runtime on Linux.
//
// The fast paths of `Mutex` are compiled into its callers and are seen; the slow ones live in libswiftSynchronization,
// which is not instrumented, so after a contended lock the sanitizer misses that the lock orders its owners. In the
// same way libswift_Concurrency says that a continuation was resumed, but not that the task noticed when it was resumed
// before it was awaited. The functions below stand in front of the runtime's own, call them, and say so.
//
// Nor does it see the counts of references, by which a value that is copied on write is known to be the only one: who has
// let go of the others has read them before.
//
// They are linked into the test binary of a sanitized build and nowhere else. Where a runtime does not have one of
// these functions, nobody calls ours.

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

// Resuming releases the task; who goes on has to acquire it, whether it was enqueued for that, found the continuation
// resumed when it came to await it, or while it went to sleep.
SWIFT_ASYNC static void go_on(CONTEXT continuation) {
  continuation->resume_parent = (SWIFT_ASYNC void (*)(CONTEXT))(continuation->flags >> bits_of_flags);
  void *task = swift_task_getCurrent ? swift_task_getCurrent() : NULL;
  if (task) __tsan_acquire(task);
  return continuation->resume_parent(continuation);
}

// Nobody but the task reads either field before it awaits, and the runtime only the lowest flags afterwards.
SWIFT_ASYNC void swift_continuation_await(struct continuation *continuation) {
  SWIFT_ASYNC void (*next)(struct continuation *) = dlsym(RTLD_NEXT, "swift_continuation_await");
  continuation->flags |= (uintptr_t)continuation->resume_parent << bits_of_flags;
  continuation->resume_parent = go_on;
  return next(continuation);
}

// MARK: References

static void (*next_release)(void *object);
static bool (*next_uniqueness)(const void *object);

// Other libraries' constructors come before ours.
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

// In generic code the standard library's own function asks.
SWIFT bool is_known_uniquely_referenced(void **object, const void *type) __asm__(IS_KNOWN_UNIQUELY_REFERENCED);

SWIFT bool is_known_uniquely_referenced(void **object, const void *type) {
  SWIFT bool (*next)(void **, const void *) = dlsym(RTLD_NEXT, IS_KNOWN_UNIQUELY_REFERENCED);
  bool unique = next(object, type);
  if (unique) __tsan_acquire(*object);
  return unique;
}
