#if os(Linux)
  internal import OperationPlatform

  /// The paths and variables through which the kernel and the service manager report memory pressure.
  ///
  /// The defaults fit unless the file systems are mounted elsewhere, or a test uses its own files.
  public struct LinuxMemoryPaths: Hashable, Sendable {
    /// The mount point of the process file system.
    public var procRoot: String

    /// The mount point of the unified hierarchy of control groups; nil to find it in `mountinfo`.
    public var cgroupRoot: String?

    /// The variables of the service manager: `MEMORY_PRESSURE_WATCH` and `MEMORY_PRESSURE_WRITE`.
    public var environment: [String: String]

    /// Creates paths.
    ///
    /// - Parameters:
    ///   - procRoot: The mount point of the process file system.
    ///   - cgroupRoot: The mount point of the unified hierarchy of control groups; nil to find it in `mountinfo`.
    ///   - environment: The variables of the service manager; nil to use this process's.
    public init(procRoot: String = "/proc", cgroupRoot: String? = nil, environment: [String: String]? = nil) {
      self.procRoot = procRoot
      self.cgroupRoot = cgroupRoot
      self.environment = environment ?? Self.processEnvironment
    }

    private static var processEnvironment: [String: String] {
      var environment: [String: String] = [:]
      for name in [Self.watchVariable, Self.writeVariable] {
        guard let value = getenv(name) else { continue }
        environment[name] = String(cString: value)
      }
      return environment
    }

    static let watchVariable = "MEMORY_PRESSURE_WATCH"
    static let writeVariable = "MEMORY_PRESSURE_WRITE"
  }
#endif
