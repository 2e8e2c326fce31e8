// What the headers of macOS and of Linux declare alike. The names are listed one by one, so that a use of what only Linux has is
// an error.

@_exported public import var Glibc.AF_INET
@_exported public import var Glibc.CLOCK_MONOTONIC
@_exported public import var Glibc.EXIT_FAILURE
@_exported public import var Glibc.O_CREAT
@_exported public import var Glibc.O_TRUNC
@_exported public import var Glibc.O_WRONLY
@_exported public import enum Glibc.POSIXErrorCode
@_exported public import var Glibc.SOL_SOCKET
@_exported public import var Glibc.SO_RCVTIMEO
@_exported public import var Glibc.SO_SNDTIMEO
@_exported public import var Glibc.STDERR_FILENO
@_exported public import var Glibc.STDOUT_FILENO
@_exported public import func Glibc.clock_gettime
@_exported public import func Glibc.close
@_exported public import func Glibc.connect
@_exported public import var Glibc.errno
@_exported public import func Glibc.exit
@_exported public import func Glibc.fclose
@_exported public import func Glibc.fopen
@_exported public import func Glibc.fread
@_exported public import func Glibc.open
@_exported public import func Glibc.recv
@_exported public import func Glibc.send
@_exported public import func Glibc.setsockopt
@_exported public import struct Glibc.sockaddr
@_exported public import func Glibc.socket
@_exported public import typealias Glibc.socklen_t
@_exported public import func Glibc.strerror
@_exported public import struct Glibc.timespec
@_exported public import func Glibc.write
