public import OperationCore
internal import Synchronization

/// The runs under way that a modifier limits, for explanations.
@usableFromInline
final class TimedRuns: Sendable {
  private struct Entry: Sendable {
    let id: OperationTaskIdentifier
    let run: TimedRun
  }

  private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  @usableFromInline
  init() {}

  /// Notes a run that its caller waits for, unless no store has it.
  @usableFromInline
  func add(_ run: TimedRun, in context: OperationContext) {
    guard let id = context.operationRunningTaskIdentifier else { return }
    self.entries.withLock { $0[ObjectIdentifier(run)] = Entry(id: id, run: run) }
  }

  @usableFromInline
  func remove(_ run: TimedRun) {
    let entry = self.entries.withLock { $0.removeValue(forKey: ObjectIdentifier(run)) }
    _ = consume entry  // Released after unlocking.
  }

  /// The elapsed time at which the time of a run is over; nil if it has no end.
  func end(of id: OperationTaskIdentifier) -> Duration? {
    self.entries.withLock { entries in entries.values.filter { $0.id == id }.map(\.run) }.compactMap(\.plannedEnd).min()
  }
}

extension Timeout: OperationExplaining {
  /// Adds when its time is over to the runs under way.
  public func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    for index in inspection.runs.indices {
      guard let end = self.runs.end(of: inspection.runs[index].id) else { continue }
      inspection.runs[index].timeLimitEnd = inspection.runs[index].timeLimitEnd.map { min($0, end) } ?? end
    }
  }
}
