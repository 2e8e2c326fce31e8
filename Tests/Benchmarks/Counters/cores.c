#ifdef __linux__
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#endif
#include "Counters.h"

void keep_on_one_core(bool on_one_core) {
#ifdef __linux__
  // The cores that the process had before: it may have been started on some of the machine's.
  static cpu_set_t all;
  static bool has_all = false;
  if (!has_all) has_all = sched_getaffinity(0, sizeof(all), &all) == 0;
  if (!has_all) return;
  cpu_set_t cores = all;
  if (on_one_core) {
    CPU_ZERO(&cores);
    CPU_SET(sched_getcpu(), &cores);
  }
  DIR *threads = opendir("/proc/self/task");
  if (!threads) return;
  for (struct dirent *entry; (entry = readdir(threads));) {
    int thread = atoi(entry->d_name);
    if (thread > 0) sched_setaffinity(thread, sizeof(cores), &cores);
  }
  closedir(threads);
#else
  (void)on_one_core;
#endif
}
