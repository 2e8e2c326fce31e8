#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Where the kernel and the service manager tell of memory.
  ///
  /// The defaults are right unless the file systems are mounted elsewhere, or a test puts files of its own there.
  public struct LinuxMemoryPaths: Hashable, Sendable {
    /// Where the process file system is mounted.
    public var procRoot: String

    /// Where the unified hierarchy of control groups is mounted; nil to find it in `mountinfo`.
    public var cgroupRoot: String?

    /// The variables by which the service manager says what to watch: `MEMORY_PRESSURE_WATCH` and `MEMORY_PRESSURE_WRITE`.
    public var environment: [String: String]

    /// Creates paths.
    ///
    /// - Parameters:
    ///   - procRoot: Where the process file system is mounted.
    ///   - cgroupRoot: Where the unified hierarchy of control groups is mounted; nil to find it in `mountinfo`.
    ///   - environment: The variables of the service manager; nil for those of this process.
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
