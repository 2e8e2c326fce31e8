internal import Synchronization

/// A wait of a run for something other than a condition: a permit, a category, its turn, the run of another store.
struct RunWaitNote: Sendable {
  let run: OperationTaskIdentifier
  /// The text that follows "it waits for".
  let subject: @Sendable () -> String
  /// The path of the store whose run it waits for; nil for something else.
  let path: OperationPath?
  /// Whether the work of the run has called what it waits for. Then the wait graph has the wait, too.
  let isCall: Bool
  /// The elapsed time of the run's deadlines when it began to wait.
  let start: Duration
}

/// A wait that a modifier has begun: pass it to ``OperationContext/endWait(_:)``.
public struct OperationWait: Sendable {
  private static let last = Atomic<UInt64>(0)

  /// The number of a new wait.
  static func nextNumber() -> UInt64 { self.last.add(1, ordering: .relaxed).newValue }

  /// Nil for a wait outside of a store.
  fileprivate let number: UInt64?
}

extension OperationContext {
  /// Notes that the run with this context waits, so that explanations, events and wait graphs of its client show it.
  ///
  /// ```swift
  /// // In `run` of a modifier, where it has to wait:
  /// let wait = context.beginWait(for: { "a slot of \(pool.name)" })
  /// defer { context.endWait(wait) }
  /// try await pool.slot()
  /// ```
  ///
  /// Call it only where a run has to wait. ``endWait(_:)`` has to follow before the run ends. For a condition use
  /// ``pause(until:timeout:)``, which does both. Outside of a store this does nothing.
  ///
  /// - Parameter subject: Returns the text that follows "it waits for", without user data. Called with no lock held, also
  ///   while the run waits.
  /// - Returns: The wait.
  public func beginWait(for subject: @escaping @Sendable () -> String) -> OperationWait {
    self.beginWait(for: subject, at: nil)
  }

  /// Notes that the run with this context waits, which ``endWait(_:)`` ends.
  ///
  /// - Parameters:
  ///   - subject: Returns the text that follows "it waits for", without user data. Called with no lock held, also while
  ///     the run waits.
  ///   - path: The path of the store, if the run waits for the run of another store; nil for something else.
  ///   - isCall: Whether the work of the run has called what it waits for.
  /// - Returns: The wait.
  package func beginWait(
    for subject: @escaping @Sendable () -> String,
    at path: OperationPath?,
    isCall: Bool = false
  ) -> OperationWait {
    guard !self.run.hidesProgress, let run = self.run.taskIdentifier, let runtime = self.run.store?.runtime else {
      return OperationWait(number: nil)
    }
    let number = OperationWait.nextNumber()
    let note = RunWaitNote(run: run, subject: subject, path: path, isCall: isCall, start: self.elapsed)
    let isKnown = runtime.withMachine { machine in
      // A run that reads a source has noted it already.
      if let path, let known = machine.extras?.content.runWaits.values,
        known.contains(where: { $0.run == run && $0.path == path })
      {
        return true
      }
      machine.uniqueExtras().content.runWaits[number] = note
      return false
    }
    if isKnown { return OperationWait(number: nil) }
    if runtime.isWatched(.waits) { runtime.report(.waitBegan(StoreWait(number, note)), in: self, run: run) }
    return OperationWait(number: number)
  }

  /// Notes that a wait has ended, because the run has what it waited for or has given up.
  ///
  /// - Parameter wait: The wait. Ending it again does nothing.
  public func endWait(_ wait: OperationWait) {
    guard let number = wait.number, let runtime = self.run.store?.runtime else { return }
    let note = runtime.withMachine { $0.uniqueExtras().content.runWaits.removeValue(forKey: number) }
    guard let note, runtime.isWatched(.waits) else { return }
    let end: StoreEvent.WaitEnd = Task.isCancelled ? .cancelled : .satisfied
    let (wait, time) = (StoreWait(number, note), self.elapsed - note.start)
    runtime.report(.waitEnded(wait, after: time, end), in: self, run: note.run)
  }
}

/// A wait of the run that the current task works for. It is noted only if its store is watched.
@usableFromInline
package final class ToldWait: Sendable {
  private let context: OperationContext
  private let number: OperationWait

  private init(_ context: OperationContext, _ number: OperationWait) {
    self.context = context
    self.number = number
  }

  /// Begins a wait that ``end()`` ends.
  ///
  /// - Parameters:
  ///   - subject: The text that follows "it waits for", without user data besides paths.
  ///   - path: The path of the store, if the run waits for the run of another store; nil for something else.
  /// - Returns: The wait; nil outside of the work of a run that is watched.
  package static func begin(for subject: @autoclosure () -> String, at path: OperationPath? = nil) -> ToldWait? {
    guard RunningOperation.exist, let context = RunningOperation.contextOfCurrentTask else { return nil }
    let text = subject()
    return ToldWait(context, context.beginWait(for: { text }, at: path, isCall: true))
  }

  /// Ends the wait.
  @usableFromInline
  package func end() { self.context.endWait(self.number) }
}
