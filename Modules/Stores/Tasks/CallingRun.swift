/// A run of a mutation whose body the current task works for, also in tasks that the body has made.
///
/// A mutation may sign the user out. It must not wait for its own end then.
package final class CallingRun: Sendable {
  private static let current = TaskLocal<CallingRun?>(wrappedValue: nil)

  private let id: OperationTaskIdentifier
  /// The run around this one.
  private let outer: CallingRun?

  private init(_ id: OperationTaskIdentifier, in outer: CallingRun?) {
    self.id = id
    self.outer = outer
  }

  /// Performs `work` as the body of a run.
  nonisolated(nonsending) static func perform<R>(
    _ id: OperationTaskIdentifier,
    _ work: nonisolated(nonsending) () async -> R
  ) async -> R {
    await self.current.withValue(CallingRun(id, in: self.current.get())) { await work() }
  }

  /// The runs of a list that the current task works for, and those that wait for one of them.
  package static func all(in runs: [SharedRun]) -> Set<OperationTaskIdentifier> {
    var calling: Set<OperationTaskIdentifier> = []
    var next = self.current.get()
    while let run = next {
      calling.insert(run.id)
      next = run.outer
    }
    if let waits = EnclosingRun.run as? RunWaits { calling.insert(waits.run) }
    for run in runs where run.isEndedByCurrentTask { calling.insert(run.id) }
    var count = -1
    while count != calling.count {
      count = calling.count
      for run in runs
      where run.waits.contains(where: { edge in (edge.node as? SharedRun).map { calling.contains($0.id) } ?? false }) {
        calling.insert(run.id)
      }
    }
    return calling
  }
}
