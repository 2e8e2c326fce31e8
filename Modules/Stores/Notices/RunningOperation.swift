internal import Synchronization

/// The operation that the current task works for, known if its store is watched.
package enum RunningOperation {
  private struct Work: Sendable {
    let name: String
    let context: OperationContext
    /// The identity of the task that does the work.
    let task: UInt
  }

  /// The number of operations whose work is under way, and that tasks can find.
  private static let count = Atomic<Int>(0)

  /// Whether a task may work for an operation that is found: nearly always false, and one load.
  static var exist: Bool { self.count.load(ordering: .relaxed) > 0 }

  private static let local = TaskLocal<Work?>(wrappedValue: nil)

  /// The name of the operation; nil outside the work of an operation, or if its store was not watched when it began.
  package static var name: String? { self.local.get()?.name }

  /// The context of the run, if the current task does the work of the run itself.
  ///
  /// Nil in tasks that the work has made, because the work does not have to wait for them.
  static var contextOfCurrentTask: OperationContext? {
    guard let work = self.local.get(), work.task == RunTask.current.identity else { return nil }
    return work.context
  }

  /// Performs the work of an operation in the task of its run.
  ///
  /// - Parameters:
  ///   - name: The name of the operation.
  ///   - context: The context of the run.
  ///   - work: The work.
  /// - Returns: The result of the work.
  nonisolated(nonsending) static func perform<R>(
    _ name: String,
    in context: OperationContext,
    _ work: nonisolated(nonsending) () async -> R
  ) async -> R {
    let known = Work(name: name, context: context, task: RunTask.current.identity)
    self.count.add(1, ordering: .relaxed)
    defer { self.count.subtract(1, ordering: .relaxed) }
    return await self.local.withValue(known) { await work() }
  }
}

extension OperationRunCause {
  /// The code that runs now: the work of an operation, or a call from elsewhere.
  ///
  /// - Parameter context: The context that the code has passed, possibly the context of a run; nil for none.
  /// - Returns: The cause in the context; without one, the operation or the call.
  package static func ofCurrentCode(in context: OperationContext? = nil) -> Self {
    if let context {
      if context.run.taskIdentifier == nil {
        if let cause = context.run.origin?.cause { return cause }
      } else if let runtime = context.run.store?.runtime {
        return Self(.operation(runtime.operationName))
      }
    }
    return RunningOperation.name.map { Self(.operation($0)) } ?? Self(.call(taskName: Task<Never, Never>.name))
  }
}
