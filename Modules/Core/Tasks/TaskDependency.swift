/// A task that another task waits for before it does its work.
@usableFromInline
struct TaskDependency: Sendable {
  private let link: any TaskLinking
  private let context: OperationContext

  init(on task: OperationTask<some Sendable, some Error>) {
    self.link = TaskLink(task.sharedRun)
    self.context = task.context
  }

  var node: any TaskNode { self.link.node }

  /// Starts those of `dependencies` that have not started, and waits for all of them, whatever their outcomes.
  @usableFromInline
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
@usableFromInline
struct TaskDependencies: Sendable {
  @usableFromInline private(set) var all: [TaskDependency] = []
  private var identifiers: Set<OperationTaskIdentifier> = []

  @usableFromInline init() {}

  mutating func insert(_ dependency: TaskDependency) {
    if self.identifiers.insert(dependency.node.id).inserted { self.all.append(dependency) }
  }
}
