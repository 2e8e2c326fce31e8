import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures

/// A program whose journal makes scheduled calls of a mutation "send".
struct ScheduledProgram {
  let program: Program
  let journal: MutationJournal

  /// - Parameters:
  ///   - storage: The storage.
  ///   - clock: The clock.
  ///   - prefix: The beginning of the keys.
  ///   - network: The condition of the journal; nil for one that makes calls after `resume()` only.
  ///   - attemptsBeforeDeadLetter: How often a call may fail.
  ///   - executor: The executor of its tasks.
  init(
    _ storage: any PersistentStorage,
    _ clock: ManualClock,
    prefix: String = "k",
    network: NetworkSwitch? = nil,
    attemptsBeforeDeadLetter: Int = 5,
    executor: (any TaskExecutor)? = nil
  ) {
    self.program = Program(storage, clock: clock, executor: executor)
    let counter = KeyCounter()
    self.journal = MutationJournal(
      storage: storage,
      resumes: network.map { .when($0, backoff: .constant(.seconds(10))) },
      attemptsBeforeDeadLetter: attemptsBeforeDeadLetter,
      makeKey: { "\(prefix)\(counter.next())" }
    )
    self.program.client.journal = self.journal
  }

  func register(_ mutation: some MutationRequest<Note, String, any Error>) {
    self.journal.register(mutation, as: "send")
  }

  /// Lets time pass in steps, and lets the calls of each step end.
  func pass(_ seconds: Double, steps: Int = 1) async {
    for _ in 0..<steps {
      self.program.clock.advance(by: .seconds(seconds))
      await self.journal.settled()
    }
  }
}

extension Note {
  init(_ text: String) { self.init(id: 1, text: text) }
}

extension Date {
  init(_ seconds: Double) { self.init(timeIntervalSinceReferenceDate: seconds) }
}

extension JournalSchedule {
  /// The time of the next call, in seconds since the reference date.
  var next: Double { self.nextDate.timeIntervalSinceReferenceDate }
}

extension Server {
  var keys: [String] { self.requests.map { $0.key ?? "" } }
}
