#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// A system call that has failed.
  struct SystemFailure: Error, Hashable {
    let call: String
    let code: CInt

    /// Whether the process was out of descriptors or memory, so that a later attempt may succeed.
    var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN].contains(self.code) }

    var reason: String { strerror(self.code).map { String(cString: $0) } ?? "error \(self.code)" }
  }
#endif
