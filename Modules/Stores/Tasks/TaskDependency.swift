/// A task that another task waits for before it does its work.
struct TaskDependency: Sendable {
  private let link: TaskLink
  private let context: OperationContext

  init(on task: OperationTask<some Sendable, some Error>) {
    self.link = TaskLink(task.sharedRun)
    self.context = task.context
  }

  var node: SharedRun { self.link.node }

  /// Starts the `dependencies` that have not started, and waits for all of them, whatever their outcomes.
  static func waitForAll(_ dependencies: [TaskDependency]) async {
    if dependencies.isEmpty { return }
    if dependencies.count == 1 { return await dependencies[0].wait() }
    await withDiscardingTaskGroup { group in
      for dependency in dependencies { group.addTask { await dependency.wait() } }
    }
  }

  private func wait() async {
    await self.node.waitAsDependent(in: self.context)
  }
}

/// The dependencies of a task, without duplicates.
struct TaskDependencies: Sendable {
  private(set) var all: [TaskDependency] = []
  private var identifiers: Set<OperationTaskIdentifier> = []

  init() {}

  mutating func insert(_ dependency: TaskDependency) {
    if self.identifiers.insert(dependency.node.id).inserted { self.all.append(dependency) }
  }
}
