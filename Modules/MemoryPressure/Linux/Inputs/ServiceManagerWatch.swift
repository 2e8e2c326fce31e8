#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// What the service manager says should be watched.
  ///
  /// It names a file, a named pipe or a socket, and what to write to it first. `/dev/null` stands for nothing at all.
  enum ServiceManagerWatch: Hashable, Sendable {
    /// It says nothing, or nothing that makes sense.
    case unset
    /// Memory is not to be watched.
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

    /// Opens what is to be watched; nil when it is nothing that can be.
    static func input(
      path: String,
      writing bytes: [UInt8],
      at time: Duration
    ) throws(SystemError) -> (any PressureInput)? {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      switch status.st_mode & S_IFMT {
      case S_IFIFO: return try StreamInput.pipe(path: path, writing: bytes)
      case S_IFSOCK: return try StreamInput.socket(path: path, writing: bytes)
      // Without a trigger a pressure file is in error from the start, and stays so.
      case S_IFREG where bytes.isEmpty: return nil
      case S_IFREG: return try StallInput(path: path, setting: bytes, at: time)
      default: return nil
      }
    }
  }
#endif
