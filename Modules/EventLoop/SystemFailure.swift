#if os(Linux)
  internal import OperationPlatform

  /// A system call that has failed.
  package struct SystemFailure: Error, Hashable {
    package let call: String
    package let code: CInt

    package init(call: String, code: CInt) {
      self.call = call
      self.code = code
    }

    /// Whether descriptors, memory or buffers had run out, so that a later attempt may succeed.
    package var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN].contains(self.code) }

    /// The description of the error code.
    package var reason: String { strerror(self.code).map { String(cString: $0) } ?? "error \(self.code)" }
  }
#endif
