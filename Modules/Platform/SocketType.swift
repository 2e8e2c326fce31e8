/// Socket types and flags, whose constants have different types in different C libraries.
package enum SocketType {
  #if canImport(Darwin)
    package static let stream = CInt(SOCK_STREAM)
  #elseif canImport(Glibc)
    package static let stream = CInt(SOCK_STREAM.rawValue)
    package static let datagram = CInt(SOCK_DGRAM.rawValue)
    package static let raw = CInt(SOCK_RAW.rawValue)
    package static let closeOnExec = CInt(SOCK_CLOEXEC.rawValue)
    package static let nonblocking = CInt(SOCK_NONBLOCK.rawValue)
  #elseif canImport(Musl) || canImport(Android)
    package static let stream = CInt(SOCK_STREAM)
    package static let datagram = CInt(SOCK_DGRAM)
    package static let raw = CInt(SOCK_RAW)
    package static let closeOnExec = CInt(SOCK_CLOEXEC)
    package static let nonblocking = CInt(SOCK_NONBLOCK)
  #endif
}
