public import OperationCore
internal import Synchronization

/// The runs of one hedged run: their tasks, their events, and which of them passes its yields on.
///
/// It does not know the types of the operation, so that it is compiled once.
@usableFromInline
final class HedgeRuns: Sendable {
  enum Event: Sendable {
    /// The run with this index has ended, at an elapsed time if times are measured.
    case ended(Int, RunOutcome, at: Duration)
    /// The timer with this number has fired.
    case due(Int)
    /// The caller was cancelled.
    case cancelled
  }

  private struct State: Sendable {
    /// The reader of the events, or the first event before it reads.
    // That event is not in the array, which would be an allocation: most runs have only one.
    var reader = Waiter<Event>.arriving
    var laterEvents: [Event] = []
    /// The index of the run whose task is being made; nil if there is none, or if it has ended meanwhile.
    var starting: Int? = 0
    /// The tasks of the runs under way.
    var tasks: [(index: Int, task: RunTask)] = []
    var isCancelled = false
    /// The raw value of the highest priority that the caller was raised to.
    var priority: UInt8 = 0
    /// The first run that has yielded, until it fails: it passes its yields on.
    var yielding: Int?
    var dropsYields = false
  }

  /// Whether the times at which runs end are measured.
  private let isTimed: Bool
  /// The places of the runs; nil if nothing around the hedge counts them.
  let places: HedgePlaces?
  private let state = Mutex(State())

  /// Creates the runs of which the first one is about to start.
  init(isTimed: Bool, places: HedgePlaces?) {
    self.isTimed = isTimed
    self.places = places
  }
}

// MARK: - Events

extension HedgeRuns {
  func send(_ event: Event) {
    self.state.withLock { state in Self.send(event, &state) }?.resume()
  }

  /// Queues an event, or returns the reader that receives it.
  private static func send(_ event: Event, _ state: inout State) -> Waiter<Event>.Resumption? {
    guard state.reader.outcome == nil else {
      state.laterEvents.append(event)
      return nil
    }
    let reader = state.reader.decide(event)
    if reader != nil { state.reader = .arriving }
    return reader
  }

  /// Waits for the next event, also in a cancelled task. One task reads the events.
  nonisolated(nonsending) func next() async -> Event {
    await Waiter.outcome { continuation in
      self.state.withLock { state in
        let event = state.reader.suspend(continuation)
        guard event != nil else { return nil }
        state.reader = state.laterEvents.isEmpty ? .arriving : .decided(state.laterEvents.removeFirst())
        return event
      }
    }
  }

  /// Ends a run. Called in its task.
  @usableFromInline
  func end(_ index: Int, with outcome: RunOutcome, in context: OperationContext) {
    let event = Event.ended(index, outcome, at: self.isTimed ? context.elapsed : .zero)
    // Before the event, so that the next run finds the place free.
    self.places?.leave(index, after: outcome.anyError)
    let (reader, task) = self.state.withLock { state in
      let position = state.tasks.firstIndex { $0.index == index }
      if state.starting == index { state.starting = nil }
      return (Self.send(event, &state), position.map { state.tasks.remove(at: $0).task })
    }
    withExtendedLifetime(task) {}
    reader?.resume()
  }
}

// MARK: - Tasks

extension HedgeRuns {
  /// Announces that the task of a run is about to be made.
  func willStart(_ index: Int) {
    self.state.withLock { $0.starting = index }
  }

  /// Keeps the task of the run that has started last, unless it has ended.
  func keep(_ task: RunTask, of index: Int) {
    let (isCancelled, priority) = self.state.withLock { state in Self.keep(task, index, &state) }
    if isCancelled { task.cancel() }
    if priority > 0 { task.escalatePriority(to: TaskPriority(rawValue: priority)) }
  }

  private static func keep(_ task: RunTask, _ index: Int, _ state: inout State) -> (isCancelled: Bool, priority: UInt8)
  {
    guard state.starting == index else { return (false, 0) }
    state.starting = nil
    state.tasks.append((index, task))
    return (state.isCancelled, state.priority)
  }

  /// Keeps the task of the first run, unless it has ended.
  ///
  /// - Returns: The outcome if the run has ended already, which is then no event.
  @usableFromInline
  func outcome(ofFirst task: RunTask) -> FirstOutcome? {
    self.state.withLock { state in
      // The caller is not suspended, so nothing but that run has sent an event.
      if case .ended(_, let outcome, let end)? = state.reader.outcome {
        state.reader = .arriving
        return FirstOutcome(outcome: outcome, end: end)
      }
      _ = Self.keep(task, 0, &state)
      return nil
    }
  }

  /// Cancels the runs under way.
  func cancelAll() {
    let tasks = self.state.withLock { state in
      state.isCancelled = true
      return state.tasks
    }
    for (_, task) in tasks { task.cancel() }
  }

  func callerWasCancelled() {
    self.cancelAll()
    self.send(.cancelled)
  }

  /// Raises the priority of the runs under way, and of later ones, to the caller's.
  func raise(to priority: TaskPriority) {
    let raw = priority.rawValue
    let tasks = self.state.withLock { state in
      state.priority = max(state.priority, raw)
      return state.tasks
    }
    for (_, task) in tasks { task.escalatePriority(to: priority) }
  }
}

/// How the first run has ended, if it has ended before its caller could wait for it.
@usableFromInline
struct FirstOutcome: Sendable {
  @usableFromInline let outcome: RunOutcome
  /// The elapsed time at its end, if times are measured.
  let end: Duration
}

// MARK: - Yields

extension HedgeRuns {
  /// Whether a run may yield now: the first one that yields, until it fails. So the caller never receives a mixture.
  @usableFromInline
  func mayYield(_ index: Int) -> Bool {
    self.state.withLock { state in
      guard !state.dropsYields else { return false }
      if state.yielding == nil { state.yielding = index }
      return state.yielding == index
    }
  }

  /// Lets another run yield if this one did. Called when it has failed.
  func endYields(of index: Int) {
    self.state.withLock { if $0.yielding == index { $0.yielding = nil } }
  }

  /// Drops all further yields. Called when a run has succeeded.
  func dropYields() {
    self.state.withLock { $0.dropsYields = true }
  }
}
