/// A report of a misuse of the library or of a failure of the system, with a remedy.
///
/// Warnings go to the reporter of the current task if `withReporter(_:operation:)` has set one, and otherwise to
/// ``reporter``. The default reporter prints to standard error: misuses and hints in debug builds only, and system
/// failures in all builds. `OperationTesting` records warnings as issues of the running test, but for hints.
public struct OperationWarning: Sendable, Hashable, CustomStringConvertible {
  /// The kind of a warning.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the kind.
    public let description: String

    /// A result was yielded after its run had returned.
    public static let yieldAfterReturn = Code(description: "yieldAfterReturn")

    /// Different operation types, or one operation with different state types, use the same path.
    public static let pathInUse = Code(description: "pathInUse")

    /// A store was requested with other modifiers than it was created with.
    ///
    /// Checked in debug builds only.
    public static let modifiersIgnored = Code(description: "modifiersIgnored")

    /// The closure of an operation has no effect, because its store was made with another one. Debug builds only.
    public static let closureIgnored = Code(description: "closureIgnored")

    /// A call would have made tasks wait for each other in a cycle.
    public static let taskCycle = Code(description: "taskCycle")

    /// A controller, handler or rule was attached to an operation with a different state type.
    public static let stateMismatch = Code(description: "stateMismatch")

    /// An argument was invalid, and was replaced or ignored.
    public static let invalidArgument = Code(description: "invalidArgument")

    /// Creates a code, for warnings of other modules.
    public init(description: String) {
      self.description = description
    }
  }

  /// Whether a warning reports an error in the program or a failure of the system.
  @nonexhaustive(warn)
  public enum Severity: Sendable, Hashable {
    /// What the program does is allowed, and rarely meant. `OperationTesting` makes no issue of it.
    case hint

    /// The program is wrong, and its author must change it.
    case misuse

    /// The system denies something that the program needs, so that a feature is degraded or unavailable.
    ///
    /// The operator of the system must act.
    case failure
  }

  /// The kind of the warning.
  public let code: Code

  /// Whether the warning reports an error in the program or a failure of the system.
  public let severity: Severity

  /// The description of the problem, with the values that caused it and a remedy.
  public let message: String

  /// Creates a warning.
  ///
  /// - Parameters:
  ///   - code: The kind of the warning.
  ///   - severity: Whether the warning reports an error in the program or a failure of the system.
  ///   - message: The description of the problem, with the values that caused it and a remedy.
  public init(code: Code, severity: Severity = .misuse, message: String) {
    self.code = code
    self.severity = severity
    self.message = message
  }

  /// The code and the message.
  public var description: String { "\(self.code): \(self.message)" }
}

extension OperationWarning {
  /// A function that receives warnings.
  public typealias Reporter = @Sendable (OperationWarning) -> Void

  private static let processReporter = Locked<Reporter>(OperationWarning.printByDefault)
  @TaskLocal private static var taskReporter: Reporter?

  /// The reporter of the process.
  public static var reporter: Reporter {
    get { self.processReporter.withLock { $0 } }
    set {
      self.processReporter.withLock { reporter, released in
        released.append(reporter)
        reporter = newValue
      }
    }
  }

  /// Runs `operation` with a reporter that receives its warnings and the warnings of tasks that it creates.
  public static func withReporter<R, E: Error>(
    _ reporter: @escaping Reporter,
    operation: () throws(E) -> R
  ) throws(E) -> R {
    try self.$taskReporter.withValue(reporter) { Result<R, E>(catching: operation) }.get()
  }

  /// Runs `operation` with a reporter that receives its warnings and the warnings of tasks that it creates.
  nonisolated(nonsending)
    public static func withReporter<R, E: Error>(
      _ reporter: @escaping Reporter,
      operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws(E) -> R
  {
    try await self.$taskReporter.withValue(reporter) {
      do throws(E) { return Result<R, E>.success(try await operation()) } catch { return .failure(error) }
    }.get()
  }

  /// Sends the warning to the reporter of the current task, or else to the process's.
  public func report() {
    (Self.taskReporter ?? Self.reporter)(self)
  }
}

extension OperationWarning {
  private static let printByDefault: Reporter = { warning in
    #if DEBUG
      let isDebugBuild = true
    #else
      let isDebugBuild = false
    #endif
    if warning.isPrinted(inDebugBuild: isDebugBuild) {
      StandardError.emit("swift-operation: warning: \(warning)\n")
    }
  }

  func isPrinted(inDebugBuild isDebugBuild: Bool) -> Bool {
    isDebugBuild || self.severity == .failure
  }
}
