#if os(Linux)
  /// Where stalls are told.
  enum StallSource: Hashable, Sendable {
    /// What the service manager offers, and what it wants to have written there.
    case serviceManager(path: String, writing: [UInt8])
    /// A pressure file, on which the triggers are our own.
    case file(String)

    /// Opens it. It fails where there is no such file, or the process may not set triggers there.
    func inputs(at time: Duration) throws(SystemError) -> [any PressureInput] {
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
