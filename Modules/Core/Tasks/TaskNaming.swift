extension OperationContext {
  /// What a store's task is called where its configuration has no name; nil for other tasks, and when the operation is gone.
  var defaultTaskName: String? {
    self.run.store?.taskName(in: self) ?? self[TaskNamingKey.self]?.operation?.taskName(in: self)
  }

  /// The operation that names a task: not kept alive, as a task that has ended holds nothing of its operation.
  fileprivate struct TaskNaming: Sendable {
    weak let operation: AnyOperationStorage?
  }

  fileprivate var taskNaming: TaskNaming? {
    get { self[TaskNamingKey.self] }
    set { self[TaskNamingKey.self] = newValue }
  }

  private enum TaskNamingKey: Key {
    static var defaultValue: TaskNaming? { nil }
  }
}

extension StoreRuntime {
  /// A task for a caller, which can tell its name before it is run.
  @usableFromInline
  func makeNamedTask(using context: OperationContext?) -> Task {
    var task = self.makeTask(using: context)
    task.context.taskNaming = OperationContext.TaskNaming(operation: self.operation.storage)
    return task
  }
}
