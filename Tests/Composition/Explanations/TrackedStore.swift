import Foundation
import Operation
import OperationTimeout
import Synchronization
import TestFixtures

/// A store of the model, and what has happened in it.
final class TrackedStore {
  let item: ExplainedItem
  let reference: StoreReference
  let recorder: StoreRecorder
  private let observation: OperationSubscription
  var subscriptions: [OperationSubscription] = []
  /// Kept for a store that the client no longer has, and for one that a screen keeps.
  var owner: ExplainedStore?
  /// Whether the model has removed it from the client.
  var isRemoved = false

  init(_ item: ExplainedItem, _ store: ExplainedStore, _ clock: EventClock) {
    self.item = item
    self.reference = OpaqueOperationStore(erasing: store).reference
    self.recorder = StoreRecorder(clock)
    self.observation = self.reference.observe(with: self.recorder)
  }

  var store: OpaqueOperationStore? { self.reference.store }
}

/// Counts what happens in a store, at which time.
final class StoreRecorder: StoreObserver {
  struct Event: Sendable {
    enum What: Equatable, Sendable {
      case began(OperationRunCause.Kind)
      case ended(timedOut: Bool)
      case attemptFailed(timedOut: Bool)
      case attemptBegan
      case removed
      case changed
      case other
    }

    let time: Duration
    let what: What
    let run: OperationTaskIdentifier?
  }

  private struct State {
    var events: [Event] = []
    var running: [OperationTaskIdentifier] = []
  }

  private let state = Mutex(State())
  private let clock: EventClock

  init(_ clock: EventClock) {
    self.clock = clock
  }

  var events: [Event] { self.state.withLock { $0.events } }
  /// The runs that have begun and not ended.
  var running: [OperationTaskIdentifier] { self.state.withLock { $0.running } }
  /// How many runs have begun.
  var began: Int { self.events.count { if case .began = $0.what { true } else { false } } }

  func events(at time: Duration) -> [Event] { self.state.withLock { $0.events.filter { $0.time == time } } }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    let what = Self.what(event)
    let new = Event(time: self.clock.elapsed, what: what, run: event.run)
    self.state.withLock { state in
      state.events.append(new)
      guard let run = event.run else { return }
      if case .began = what { state.running.append(run) }
      if case .ended = what { state.running.removeAll { $0 == run } }
    }
  }

  private static func what(_ event: StoreEvent) -> Event.What {
    switch event.what {
    case .runBegan: .began(event.context.operationRunCause?.kind ?? .call)
    case .runEnded(let end): .ended(timedOut: end.outcome?.error is OperationTimedOut)
    case .attemptFailed(let attempt): .attemptFailed(timedOut: attempt.lastFailure is OperationTimedOut)
    case .attemptBegan: .attemptBegan
    case .removedFromClient: .removed
    case .stateChanged, .stateWritten, .invalidated: .changed
    default: .other
    }
  }
}
