// Counts the allocations of the process between a start and a stop and its preemptions, keeps its threads on one core,
// and keeps the optimizer from removing what is measured.

#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  /// The number of allocated blocks.
  int64_t allocations;
  /// The number of allocated blocks less that of freed blocks.
  int64_t liveBlocks;
  /// The number of allocated bytes less that of freed bytes, as the allocator rounds them.
  int64_t liveBytes;
} AllocationCount;

/// Whether allocations can be counted here: with glibc, and without a sanitizer, which has an allocator of its own.
bool allocation_counting_is_available(void);

/// Counts from zero, on all threads.
void allocation_counting_start(void);

/// Stops counting.
AllocationCount allocation_counting_stop(void);

/// The number of times that the system has preempted a thread of this process.
int64_t preemption_count(void);

/// Keeps all threads of the process on the core of the calling thread, or lets them run on all cores again.
///
/// Threads that start later inherit the cores of the thread that starts them. Does nothing on systems other than Linux.
void keep_on_one_core(bool on_one_core);

/// Uses a word in a way that the optimizer cannot see.
void use_word(intptr_t word);

#endif
