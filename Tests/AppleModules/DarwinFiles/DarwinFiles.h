// The members that the package uses have the same names on macOS.
#include <sys/stat.h>
#include <sys/statvfs.h>
