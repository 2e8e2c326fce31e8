#if os(Linux)
  internal import OperationCore

  extension EventLoop {
    /// Warns that the thread cannot start.
    static func report(_ failure: SystemFailure) {
      OperationWarning(
        code: .noEventLoop,
        severity: .failure,
        message: """
          The thread that watches the system cannot start (\(failure.call): \(failure.reason)), so observers report no \
          changes. It is tried again from time to time. Raise the limits of the process.
          """
      ).report()
    }
  }

  extension OperationWarning.Code {
    fileprivate static let noEventLoop = Self(description: "noEventLoop")
  }
#endif
