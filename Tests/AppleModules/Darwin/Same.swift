@_exported public import var Glibc.CLOCK_MONOTONIC
@_exported public import var Glibc.EXIT_FAILURE
// What the headers of macOS and of Linux declare alike. The names are listed one by one, so that a use of what only Linux has is
// an error.
@_exported public import enum Glibc.POSIXErrorCode
@_exported public import var Glibc.STDERR_FILENO
@_exported public import var Glibc.STDOUT_FILENO
@_exported public import func Glibc.clock_gettime
@_exported public import func Glibc.exit
@_exported public import struct Glibc.timespec
@_exported public import func Glibc.write
