import Operation
import PostService
import Synchronization

/// A page that shows a job, for as long as it is open.
final class Page: Sendable {
  typealias State = QueryState<Job, any Error>

  private let lines: Lines
  private let states: AsyncStream<State>
  private let subscription: OperationSubscription

  init(_ name: String, _ store: OperationStore<State>, transcript: Transcript) {
    let (states, continuation) = AsyncStream<State>.makeStream()
    let lines = Lines()
    self.lines = lines
    self.states = states
    self.subscription = store.subscribe { state in
      if let line = lines.note(state) { transcript.say(.state, "\(name): \(line)") }
      continuation.yield(state)
    }
  }

  /// What was shown, each line once.
  var shown: [String] { self.lines.shown.withLock { $0 } }

  /// Waits until a state is as it should be.
  func shows(_ isAsExpected: (State) -> Bool) async {
    for await state in self.states where isAsExpected(state) { return }
  }

  /// Waits until the job is done.
  func isDone() async { await self.shows { $0.currentValue?.isDone == true && $0.error == nil } }

  func close() { self.subscription.cancel() }
}

extension Page {
  private final class Lines: Sendable {
    let shown = Mutex<[String]>([])

    /// Returns the line for a state, if it is a new one.
    func note(_ state: State) -> String? {
      guard let job = state.currentValue else { return nil }
      let line = job.isDone ? "done" : "\(job.done) of \(job.steps)\(state.error == nil ? "" : ", not up to date")"
      return self.shown.withLock { shown in
        if shown.last == line { return nil }
        shown.append(line)
        return line
      }
    }
  }
}
