#include "Counters.h"
#include <sys/resource.h>

int64_t preemption_count(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

void use_word(intptr_t word) {
  __asm__ volatile("" : : "r"(word) : "memory");
}
