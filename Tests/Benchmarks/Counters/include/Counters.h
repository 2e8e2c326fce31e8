// Counts what the process allocates while it is told to and how often it is interrupted, and keeps the optimizer from
// dropping what is measured.

#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  /// How many blocks were allocated.
  int64_t allocations;
  /// How many more blocks were allocated than freed.
  int64_t liveBlocks;
  /// How many more bytes were allocated than freed, as the allocator rounds them.
  int64_t liveBytes;
} AllocationCount;

/// Whether allocations can be counted here: with glibc, and without a sanitizer, which has an allocator of its own.
bool allocation_counting_is_available(void);

/// Counts from zero, on all threads.
void allocation_counting_start(void);

/// Stops counting.
AllocationCount allocation_counting_stop(void);

/// How often the system has taken a processor from a thread of this process that was not done with it.
int64_t preemption_count(void);

/// Uses a word in a way that the optimizer cannot see.
void use_word(intptr_t word);

#endif
