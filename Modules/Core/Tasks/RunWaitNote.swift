internal import Synchronization

/// What a run waits for, other than a condition: a permit, a category, its turn.
struct RunWaitNote: Sendable {
  let run: OperationTaskIdentifier
  /// What it waits for, to follow "it waits for".
  let subject: @Sendable () -> String
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
  /// - Parameter subject: What it waits for, to follow "it waits for", without user data. Called with no lock held, also
  ///   while the run waits.
  /// - Returns: The wait.
  package func beginWait(for subject: @escaping @Sendable () -> String) -> RunWaitNumber {
    guard !self.run.hidesProgress, let run = self.run.taskIdentifier, let runtime = self.run.store?.runtime else {
      return RunWaitNumber(number: nil)
    }
    let number = RunWaitNumber.last.add(1, ordering: .relaxed).newValue
    let note = RunWaitNote(run: run, subject: subject, start: self.elapsed)
    runtime.withMachine { $0.uniqueExtras().content.runWaits[number] = note }
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
