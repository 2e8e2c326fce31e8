/// The name, priority and executor of the task of a run.
///
/// Without a priority and an executor, a run starts at once on the thread of its caller.
public struct OperationTaskConfiguration: Sendable {
  /// The name of the task, shown by debuggers.
  ///
  /// Without one, a task of a store is named by its operation while `client.events` are read, and after the
  /// store was asked for an explanation.
  public var name: String?

  /// The priority of the task; nil for its caller's.
  public var priority: TaskPriority? {
    get { self.rawPriority.map { TaskPriority(rawValue: $0) } }
    set { self.rawPriority = newValue?.rawValue }
  }

  /// The executor that the task prefers; nil for the default executor.
  public var executorPreference: (any TaskExecutor)?

  // Raw: the compiler does not know the layout of `TaskPriority`, so copying a value with one inside looks its type up.
  var rawPriority: UInt8?

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - name: The name of the task, shown by debuggers.
  ///   - priority: The priority of the task; nil for its caller's.
  ///   - executorPreference: The executor that the task prefers; nil for the default executor.
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
  /// The configuration of the tasks of runs.
  public var operationTaskConfiguration: OperationTaskConfiguration {
    get { self[TaskConfigurationKey.self] }
    set { self[TaskConfigurationKey.self] = newValue }
  }

  /// Whether the context has a task configuration of its own.
  package var hasTaskConfiguration: Bool { self.isSet(TaskConfigurationKey.self) }

  private enum TaskConfigurationKey: Key {
    static let defaultValue = OperationTaskConfiguration()
  }
}
