public import OperationCore

extension OperationContext {
  /// Prepares the stores of a ``StreamRequest``.
  ///
  /// A `StreamRequest` calls it in its `setup`. One with a `setup` of its own calls it there.
  ///
  /// - Parameter kind: What the value is between two elements.
  public mutating func setUpStream(yielding kind: CommittedValueKind) {
    let record = StreamRecord()
    self.streamRecord = record
    self.operationObservers.append(record)
    // A second caller looks at the same stream.
    if self.operationRunSharing == nil { self.operationRunSharing = OperationRunSharing() }
    self.addEntriesToOutcomes()
    if kind == .final {
      self.callInterceptors.append(FirstElementReader(record))
      self.addStalenessRule(because: "its stream is closed") { state, _ in
        state.valueUpdateCount == 0 || !record.isCurrent
      }
    }
  }

  /// What the store with this context knows of its streams; nil if it is not one of a stream.
  var streamRecord: StreamRecord? {
    get { self[StreamRecordKey.self] }
    set { self[StreamRecordKey.self] = newValue }
  }

  private enum StreamRecordKey: Key {
    static let defaultValue: StreamRecord? = nil
    static let belongsToSetup = true
  }

  /// The identifier of the element that the event with this context has brought.
  var streamElementID: (any Sendable)? {
    get { self[StreamElementIDKey.self] }
    set { self[StreamElementIDKey.self] = newValue }
  }

  private enum StreamElementIDKey: Key {
    static let defaultValue: (any Sendable)? = nil
  }
}

/// What a store knows of its streams: which are open, and how far the last one came.
final class StreamRecord: StoreValueObserver {
  /// A stream that is open, or about to be.
  struct Stream: Sendable {
    let number: Int
    /// Ends when the stream has to be closed.
    let closing: AsyncStream<Void>
  }

  private struct OpenStream: Sendable {
    let context: OperationContext
    let closing: AsyncStream<Void>.Continuation
    /// Whether its elements are read.
    var isRead = false
  }

  private struct Content: Sendable {
    var streams: [Int: OpenStream] = [:]
    var count = 0
    /// The identifier of the last element in the value; nil if it is unknown.
    var lastID: (any Sendable)?
    /// Whether the last stream has come to its end.
    var hasEnded = false
    /// Those who wait for the next element.
    var waiters: [AwaitedOutcome<Bool>] = []
  }

  private let content = Locked(Content())

  var observedEvents: StoreEvent.Kinds { [.writes, .subscribers] }

  /// Notes which element is in the value, in one step with the value: if the run is cancelled at the same time, the state
  /// has both or none.
  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    guard let id = shown.resultContext?.streamElementID else { return nil }
    return self.content.withLock { content -> (any Sendable)? in
      defer { content.lastID = id }
      return content.lastID
    }
  }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    switch event.what {
    case .subscriberCame(let name, _):
      // It owns an open stream from the step on in which it came. The body of one that is being closed may still read, so that
      // the value counts as fresh: the subscriber needs another stream.
      if !self.content.withLock({ $0.hasEnded }) {
        store.rerunForSubscribers(because: OperationRunCause(.subscriber, subject: name))
      }
    case .invalidated:
      // The store runs again when these have ended.
      for stream in self.content.withLock({ $0.streams }).values where stream.context.isRunOutdated {
        stream.closing.finish()
      }
    case .stateWritten(.reset), .stateWritten(.restored): self.forgetLastID()
    default: break
    }
  }
}

extension StreamRecord {
  /// The identifier of the last element in the value; nil if it is unknown.
  var lastID: (any Sendable)? { self.content.withLock { $0.lastID } }

  func forgetLastID() {
    let former = self.content.withLock { content in
      defer { content.lastID = nil }
      return content.lastID
    }
    _ = consume former  // Released after unlocking.
  }

  /// Whether the value is that of an open stream, or of one that has come to its end.
  var isCurrent: Bool {
    let (hasEnded, streams) = self.content.withLock { ($0.hasEnded, $0.streams) }
    // The body of a cancelled run may still read its stream.
    return hasEnded || streams.values.contains { $0.isRead && !$0.context.isRunOutdated }
  }

  /// Notes that a stream is about to be opened in a run with this context.
  func begin(in context: OperationContext) -> Stream {
    let (closing, continuation) = AsyncStream.makeStream(of: Void.self)
    let number = self.content.withLock { content in
      content.count += 1
      content.hasEnded = false
      content.streams[content.count] = OpenStream(context: context, closing: continuation)
      return content.count
    }
    return Stream(number: number, closing: closing)
  }

  /// Notes that an element is in the value of the store.
  func noteElement() {
    let waiters = self.content.withLock { content in
      defer { content.waiters = [] }
      return content.waiters
    }
    for waiter in waiters { waiter.decide(true) }
  }

  /// Adds a waiter, which the next element decides with true.
  func addWaiter() -> AwaitedOutcome<Bool> {
    let waiter = AwaitedOutcome<Bool>()
    self.content.withLock { $0.waiters.append(waiter) }
    return waiter
  }

  func remove(_ waiter: AwaitedOutcome<Bool>) {
    self.content.withLock { $0.waiters.removeAll { $0 === waiter } }
  }

  /// Notes that the elements of a stream are read from now on.
  func noteReading(of number: Int) {
    self.content.withLock { $0.streams[number]?.isRead = true }
  }

  /// Notes that a stream is no longer open.
  ///
  /// - Parameters:
  ///   - number: The number of the stream.
  ///   - isComplete: Whether it has come to its end.
  func end(_ number: Int, isComplete: Bool) {
    let former = self.content.withLock { content in
      if number == content.count { content.hasEnded = isComplete }
      return content.streams.removeValue(forKey: number)
    }
    _ = consume former  // Released after unlocking.
  }
}
