/// A run whose work can wait for other runs.
package protocol WaitingRun: AnyObject, Sendable {
  /// Whether the current task does the work of the run.
  var isInCurrentTask: Bool { get }
  /// Notes that the work waits for `node`, until it waits for another node.
  func note(called node: any WaitNode)
  /// Passes progress on to the other callers of this run. Does nothing if the identifier names another run.
  func relay(_ progress: RunProgress, of id: OperationTaskIdentifier)
}

/// The run whose work the current task is part of.
package enum EnclosingRun {
  static let local = TaskLocal<(any WaitingRun)?>(wrappedValue: nil)

  /// Performs `work` as the work of `run`.
  package nonisolated(nonsending) static func perform<R>(
    _ run: any WaitingRun,
    _ work: nonisolated(nonsending) () async -> R
  ) async -> R {
    await self.local.withValue(run) { await work() }
  }

  /// Notes that the work of the enclosing run waits for `node`, if the current task does that work.
  ///
  /// Other tasks that the work has made are ignored, as the work does not have to wait for them.
  package static func note(awaited node: any WaitNode) {
    guard let run = self.local.get(), run.isInCurrentTask else { return }
    run.note(called: node)
    WaitGraph.noteEdge()
  }

  /// Whether the current task does the work of the enclosing run, whose callers wait for it.
  package static var isInCurrentTask: Bool { self.local.get()?.isInCurrentTask ?? false }

  /// Whether the current task is part of the work of a run.
  package static var exists: Bool { self.local.get() != nil }
}

extension OperationContext {
  /// Notes that the run with this context waits in the queue `node`, until it waits for another node.
  package func note(awaited node: any WaitNode) {
    self.run.waits?.note(queue: node)
    EnclosingRun.note(awaited: node)
    WaitGraph.noteEdge()
  }
}
