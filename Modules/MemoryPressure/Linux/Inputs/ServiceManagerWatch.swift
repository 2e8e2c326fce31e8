#if os(Linux)
  internal import OperationEventLoop
  internal import OperationPlatform

  /// The watch that the service manager requests.
  ///
  /// Its variables name a file, a named pipe or a socket, and the bytes to write to it first. `/dev/null` turns
  /// watching off.
  enum ServiceManagerWatch: Hashable, Sendable {
    /// The variables are missing or invalid.
    case unset
    /// Nothing is to be watched.
    case off
    case path(String, writing: [UInt8])

    init(environment: [String: String]) {
      guard let path = environment[LinuxMemoryPaths.watchVariable], path.hasPrefix("/") else {
        self = .unset
        return
      }
      guard path != "/dev/null" else {
        self = .off
        return
      }
      let text = environment[LinuxMemoryPaths.writeVariable] ?? ""
      guard let bytes = Base64.decode(text) else {
        self = .unset
        return
      }
      self = .path(path, writing: bytes)
    }

    /// Opens the file, pipe or socket; nil if it cannot be watched.
    static func input(
      path: String,
      writing bytes: [UInt8],
      at time: Duration
    ) throws(SystemFailure) -> (any PressureInput)? {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      switch status.st_mode & S_IFMT {
      case S_IFIFO: return try StreamInput.pipe(path: path, writing: bytes)
      case S_IFSOCK: return try StreamInput.socket(path: path, writing: bytes)
      // Without a trigger, a pressure file reports an error at once and forever.
      case S_IFREG where bytes.isEmpty: return nil
      case S_IFREG: return try StallInput(path: path, setting: bytes, at: time)
      default: return nil
      }
    }
  }
#endif
