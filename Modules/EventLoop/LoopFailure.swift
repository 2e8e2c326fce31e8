#if os(Linux)
  internal import OperationCore

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The system call and the error that kept a loop from starting its thread.
  package struct LoopFailure: Error, Hashable {
    package let call: String
    package let code: CInt

    func report() {
      let reason = strerror(self.code).map { String(cString: $0) } ?? "error \(self.code)"
      OperationWarning(
        code: .noEventLoop,
        severity: .failure,
        message: """
          The thread that watches the system cannot begin (\(self.call): \(reason)), so observers stay silent until it can, \
          which is tried again from time to time. Raise the limit of the process.
          """
      ).report()
    }
  }

  extension OperationWarning.Code {
    fileprivate static let noEventLoop = Self(description: "noEventLoop")
  }
#endif
