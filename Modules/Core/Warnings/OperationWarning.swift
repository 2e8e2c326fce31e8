/// A report of something that was asked for and cannot be, with what to do instead.
///
/// Reports go to the reporter of the current task, if `withReporter(_:operation:)` has set one; otherwise to
/// ``reporter``. By default those of misuse are printed to standard error in debug builds, and those of a failure of the
/// system in all builds. `OperationTesting` makes them issues of the running test.
public struct OperationWarning: Sendable, Hashable, CustomStringConvertible {
  /// What kind of report it is.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// A result was yielded after its run had returned.
    public static let yieldAfterReturn = Code(description: "yieldAfterReturn")

    /// Operations of different types, or one with different states, claim one path.
    public static let pathInUse = Code(description: "pathInUse")

    /// A store was asked for with other modifiers than it was made with. Debug builds alone look.
    public static let modifiersIgnored = Code(description: "modifiersIgnored")

    /// Tasks would have waited for each other in a circle.
    public static let taskCircle = Code(description: "taskCircle")

    /// A controller, handler or rule was attached to an operation with another kind of state.
    public static let stateMismatch = Code(description: "stateMismatch")

    /// An argument has no meaning and was replaced.
    public static let invalidArgument = Code(description: "invalidArgument")

    /// Creates a code for a module of your own.
    public init(description: String) {
      self.description = description
    }
  }

  /// Whether the program is to be changed, or the system that it runs on.
  public enum Severity: Sendable, Hashable {
    /// The program is wrong: its author has to know.
    case misuse

    /// The system denies what the program needs, and something works less well or not at all: its operator has to know.
    case failure
  }

  /// What kind of report it is.
  public let code: Code

  /// Whether the program is to be changed, or the system that it runs on.
  public let severity: Severity

  /// What happened, with the values at fault, and the remedy.
  public let message: String

  /// Creates a warning.
  public init(code: Code, severity: Severity = .misuse, message: String) {
    self.code = code
    self.severity = severity
    self.message = message
  }

  public var description: String { "\(self.code): \(self.message)" }
}

extension OperationWarning {
  /// Takes reports.
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

  /// Runs `operation` with its reports, and those of the tasks it makes, going to `reporter`.
  public static func withReporter<R, E: Error>(
    _ reporter: @escaping Reporter,
    operation: () throws(E) -> R
  ) throws(E) -> R {
    try self.$taskReporter.withValue(reporter) { Result<R, E>(catchingTyped: operation) }.get()
  }

  /// Runs `operation` with its reports, and those of the tasks it makes, going to `reporter`.
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

  /// Hands the warning to the reporter in force.
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

extension Result {
  init(catchingTyped body: () throws(Failure) -> Success) {
    do throws(Failure) { self = .success(try body()) } catch { self = .failure(error) }
  }
}
