/// How the task of a run is made.
///
/// With neither a priority nor an executor, a run begins at once on the thread of its caller.
public struct OperationTaskConfiguration: Sendable {
  /// The name of the task, as debuggers show it.
  public var name: String?

  /// The priority of the task; nil for its caller's.
  public var priority: TaskPriority? {
    get { self.rawPriority.map { TaskPriority(rawValue: $0) } }
    set { self.rawPriority = newValue?.rawValue }
  }

  /// The executor that the task prefers; nil for the default one.
  public var executorPreference: (any TaskExecutor)?

  // The layout of `TaskPriority` is not known to compilers, so what holds one is copied by looking it up.
  var rawPriority: UInt8?

  /// Creates a configuration.
  public init(
    name: String? = nil,
    priority: TaskPriority? = nil,
    executorPreference: (any TaskExecutor)? = nil
  ) {
    self.name = name
    self.executorPreference = executorPreference
    self.rawPriority = priority?.rawValue
  }
}

extension OperationContext {
  /// How the tasks of runs are made.
  public var operationTaskConfiguration: OperationTaskConfiguration {
    get { self[TaskConfigurationKey.self] }
    set { self[TaskConfigurationKey.self] = newValue }
  }

  /// Whether somebody has said how the tasks of runs are made.
  @usableFromInline package var hasTaskConfiguration: Bool { self.isSet(TaskConfigurationKey.self) }

  private enum TaskConfigurationKey: Key {
    static let defaultValue = OperationTaskConfiguration()
  }
}

/// What identifies and configures a task.
public struct OperationTaskInfo: Identifiable, Sendable {
  /// The identifier of the task.
  public let id: OperationTaskIdentifier

  /// How the task is made.
  public var configuration: OperationTaskConfiguration
}
