extension StoreRuntime {
  /// Makes a task with a name that its caller can read before the task starts.
  func makeNamedTask(using context: OperationContext?) -> ErasedTask {
    var task = self.makeTask(using: context)
    task.context.taskNaming = OperationContext.TaskNaming(operation: self.operation.storage)
    return task
  }
}

extension OperationContext {
  /// The name of a store's task without a configured name; nil for other tasks, and once the operation is released.
  var defaultTaskName: String? {
    self.run.store?.taskName(in: self) ?? self[TaskNamingKey.self]?.operation?.taskName(in: self)
  }

  /// The operation that names a task. The reference is weak, so that a finished task keeps no operation alive.
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
