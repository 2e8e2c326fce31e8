internal import Synchronization

/// What a run waits for, other than a condition: a permit, a category, its turn, the run of another store.
struct RunWaitNote: Sendable {
  let run: OperationTaskIdentifier
  /// What it waits for, to follow "it waits for".
  let subject: @Sendable () -> String
  /// The path of the store whose run it waits for; nil for something else.
  let path: OperationPath?
  /// Whether it waits for what its work has called, which is in the wait graph, too.
  let isCall: Bool
  /// The elapsed time of the run's deadlines when it began to wait.
  let start: Duration
}

/// A wait of a run that its store knows; pass it to ``OperationContext/endWait(_:)``.
package struct RunWaitNumber: Sendable {
  fileprivate static let last = Atomic<UInt64>(0)

  /// Nil for a wait outside of a store.
  fileprivate let number: UInt64?
}

extension OperationContext {
  /// Notes that the run with this context waits, for explanations of its store and for readers of events.
  ///
  /// Call it where a run has to wait, not for each run. ``endWait(_:)`` must follow.
  ///
  /// - Parameters:
  ///   - subject: What it waits for, to follow "it waits for", without user data. Called with no lock held, also while the
  ///     run waits.
  ///   - path: The path of the store whose run it waits for; nil for something else.
  ///   - isCall: Whether it waits for what its work has called.
  /// - Returns: The wait.
  package func beginWait(
    for subject: @escaping @Sendable () -> String,
    at path: OperationPath? = nil,
    isCall: Bool = false
  ) -> RunWaitNumber {
    guard !self.run.hidesProgress, let run = self.run.taskIdentifier, let runtime = self.run.store?.runtime else {
      return RunWaitNumber(number: nil)
    }
    let number = RunWaitNumber.last.add(1, ordering: .relaxed).newValue
    let note = RunWaitNote(run: run, subject: subject, path: path, isCall: isCall, start: self.elapsed)
    let isKnown = runtime.withMachine { machine in
      // Whoever reads a source has noted it already.
      if let path, let known = machine.extras?.content.runWaits.values,
        known.contains(where: { $0.run == run && $0.path == path })
      {
        return true
      }
      machine.uniqueExtras().content.runWaits[number] = note
      return false
    }
    if isKnown { return RunWaitNumber(number: nil) }
    if EventReaders.exist { runtime.record(.waits(for: subject()), in: self, run: run) }
    return RunWaitNumber(number: number)
  }

  /// Notes that a wait has ended, however it has.
  package func endWait(_ wait: RunWaitNumber) {
    guard let number = wait.number, let runtime = self.run.store?.runtime else { return }
    let note = runtime.withMachine { $0.uniqueExtras().content.runWaits.removeValue(forKey: number) }
    guard EventReaders.exist, let note else { return }
    runtime.record(.waited(for: note.subject(), duration: self.elapsed - note.start), in: self, run: note.run)
  }
}

/// A wait of the run whose work the current task does, which is told while somebody looks.
@usableFromInline
package final class ToldWait: Sendable {
  private let context: OperationContext
  private let number: RunWaitNumber

  private init(_ context: OperationContext, _ number: RunWaitNumber) {
    self.context = context
    self.number = number
  }

  /// Begins a wait that ``end()`` ends.
  ///
  /// - Parameters:
  ///   - subject: What the run waits for, to follow "it waits for", without user data besides paths.
  ///   - path: The path of the store whose run it waits for; nil for something else.
  /// - Returns: The wait; nil while nobody looks, and outside of the work of a run.
  package static func begin(for subject: @autoclosure () -> String, at path: OperationPath? = nil) -> ToldWait? {
    guard EventReaders.exist, let context = RunningOperation.contextOfCurrentTask else { return nil }
    let text = subject()
    return ToldWait(context, context.beginWait(for: { text }, at: path, isCall: true))
  }

  /// Ends the wait.
  @usableFromInline
  package func end() { self.context.endWait(self.number) }
}
