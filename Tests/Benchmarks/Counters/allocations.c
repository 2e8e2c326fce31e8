// Replaces the allocator of glibc for the whole process: a program's own definitions of these functions take precedence
// over those of a shared library.

#define _GNU_SOURCE
#include "Counters.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

#include <malloc.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static atomic_bool is_counting;
static atomic_llong allocations;
static atomic_llong live_blocks;
static atomic_llong live_bytes;

static inline bool counts(void) {
  return __builtin_expect(atomic_load_explicit(&is_counting, memory_order_relaxed), 0);
}

static inline void add(atomic_llong *count, long long difference) {
  atomic_fetch_add_explicit(count, difference, memory_order_relaxed);
}

static void *__attribute__((noinline)) count_allocation(void *block) {
  if (block == NULL) return block;
  add(&allocations, 1);
  add(&live_blocks, 1);
  add(&live_bytes, (long long)malloc_usable_size(block));
  return block;
}

static void __attribute__((noinline)) count_release(void *block) {
  if (block == NULL) return;
  add(&live_blocks, -1);
  add(&live_bytes, -(long long)malloc_usable_size(block));
}

void *malloc(size_t size) {
  void *block = __libc_malloc(size);
  return counts() ? count_allocation(block) : block;
}

void *calloc(size_t count, size_t size) {
  void *block = __libc_calloc(count, size);
  return counts() ? count_allocation(block) : block;
}

void *realloc(void *block, size_t size) {
  if (!counts()) return __libc_realloc(block, size);
  if (block == NULL) return count_allocation(__libc_realloc(block, size));
  long long before = (long long)malloc_usable_size(block);
  void *moved = __libc_realloc(block, size);
  if (moved == NULL) {
    // A size of zero frees the block. Otherwise the call has failed and changed nothing.
    if (size == 0) {
      add(&live_blocks, -1);
      add(&live_bytes, -before);
    }
    return moved;
  }
  add(&allocations, 1);
  add(&live_bytes, (long long)malloc_usable_size(moved) - before);
  return moved;
}

void *memalign(size_t alignment, size_t size) {
  void *block = __libc_memalign(alignment, size);
  return counts() ? count_allocation(block) : block;
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *block = memalign(alignment, size);
  if (block == NULL) return ENOMEM;
  *result = block;
  return 0;
}

void free(void *block) {
  if (counts()) count_release(block);
  __libc_free(block);
}

bool allocation_counting_is_available(void) {
  return true;
}

void allocation_counting_start(void) {
  atomic_store(&allocations, 0);
  atomic_store(&live_blocks, 0);
  atomic_store(&live_bytes, 0);
  atomic_store(&is_counting, true);
}

AllocationCount allocation_counting_stop(void) {
  atomic_store(&is_counting, false);
  AllocationCount count = {
    .allocations = atomic_load(&allocations),
    .liveBlocks = atomic_load(&live_blocks),
    .liveBytes = atomic_load(&live_bytes),
  };
  return count;
}

#else

bool allocation_counting_is_available(void) {
  return false;
}

void allocation_counting_start(void) {}

AllocationCount allocation_counting_stop(void) {
  AllocationCount none = {0, 0, 0};
  return none;
}

#endif
