#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// A call of the system that failed.
  struct SystemFailure: Error, Hashable {
    let call: String
    let code: CInt

    /// Whether something is short that may be there again in a moment: descriptors or memory.
    var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN].contains(self.code) }

    var reason: String { strerror(self.code).map { String(cString: $0) } ?? "error \(self.code)" }
  }
#endif
