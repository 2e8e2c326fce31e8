#if os(Linux)
  internal import OperationEventLoop

  /// A place that reports stalls.
  enum StallSource: Hashable, Sendable {
    /// The path that the service manager names, and the bytes that it wants written there.
    case serviceManager(path: String, writing: [UInt8])
    /// A pressure file, on which this module sets its own triggers.
    case file(String)

    /// Opens the source. Throws if the file does not exist or the process may not set triggers there.
    func inputs(at time: Duration) throws(SystemFailure) -> [any PressureInput] {
      switch self {
      case .serviceManager(let path, let bytes):
        let input = try ServiceManagerWatch.input(path: path, writing: bytes, at: time)
        return [input].compactMap { $0 }
      case .file(let path):
        let warning = try StallInput(path: path, .warning, at: time)
        return [warning] + [try? StallInput(path: path, .critical, at: time)].compactMap { $0 }
      }
    }
  }
#endif
