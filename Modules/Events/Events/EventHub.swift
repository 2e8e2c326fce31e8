internal import OperationCore

/// Passes the events of a client on to the buffers of their readers.
///
/// An event is numbered and put into all buffers in one step, so that all readers have the same order.
final class EventHub: Sendable {
  /// What a client keeps: when the client no longer exists, the sequences of its readers end.
  final class Holder: Sendable {
    let hub = EventHub()

    deinit {
      self.hub.close()
    }
  }

  private struct State: Sendable {
    var buffers: [EventBuffer] = []
    var lastNumber: UInt64 = 0
    /// The subscription to the stores of the client, while there are readers.
    var stores = SubscriptionSlot()
    /// Whether the client no longer exists.
    var isClosed = false
  }

  private let state = Locked(State())

  /// Adds a buffer for a reader.
  ///
  /// - Parameters:
  ///   - capacity: The number of events that it keeps.
  ///   - watchStores: Subscribes to the stores of the client; called for the first reader.
  /// - Returns: The buffer, which the reader removes with ``remove(_:)``.
  func addBuffer(capacity: Int, _ watchStores: () -> OperationSubscription) -> EventBuffer {
    let buffer = EventBuffer(capacity: capacity)
    let number = self.state.withLock { state -> UInt64? in
      state.buffers.append(buffer)
      return state.stores.isTaken ? nil : state.stores.reserve()
    }
    if let number {
      let subscription = watchStores()
      self.state.withLock { $0.stores.keep(subscription, number: number) }?.cancel()
    }
    return buffer
  }

  /// Removes the buffer of a reader, and resumes the reader if it waits.
  func remove(_ buffer: EventBuffer) {
    let (waiting, subscription) = self.state.withLock { state, released in
      guard let index = state.buffers.firstIndex(where: { $0 === buffer }) else {
        return ([EventBuffer.Continuation](), OperationSubscription?.none)
      }
      released.append(state.buffers.remove(at: index))
      released.append(buffer.takeAll())
      buffer.hasEnded = true
      return (buffer.takeWaiting(), state.buffers.isEmpty ? state.stores.clear() : nil)
    }
    subscription?.cancel()
    for continuation in waiting { continuation.resume(returning: nil) }
  }

  /// Numbers an event and puts it into all buffers.
  func receive(_ event: consuming OperationEvent) {
    // The event is moved into the only buffer: a copy would retain each of its parts.
    var moved: OperationEvent? = event
    var waiting: [EventBuffer.Continuation] = []
    // The event that the first buffer drops is released after the lock, without an allocation: there is nearly always
    // only one buffer.
    let dropped = self.state.withLock { state, released -> OperationEvent? in
      if state.isClosed { return moved }
      state.lastNumber += 1
      moved?.number = state.lastNumber
      if state.buffers.count == 1, !state.buffers[0].isAwaited, let event = moved.take() {
        return state.buffers[0].append(event)
      }
      guard let event = moved else { return nil }
      var dropped: OperationEvent?
      for (index, buffer) in state.buffers.enumerated() {
        if let continuation = buffer.nextWaiting() {
          waiting.append(continuation)
        } else if index == 0 {
          dropped = buffer.append(event)
        } else {
          released.append(buffer.append(event))
        }
      }
      return dropped
    }
    _ = consume dropped
    for continuation in waiting { continuation.resume(returning: moved) }
  }

  /// Returns the next event of a buffer, or keeps the continuation until there is one.
  func next(of buffer: EventBuffer, _ continuation: EventBuffer.Continuation) {
    let answer = self.state.withLock { state -> OperationEvent?? in
      if let event = buffer.removeFirst() { return .some(event) }
      if buffer.hasEnded || state.isClosed { return .some(nil) }
      buffer.wait(continuation)
      return nil
    }
    if let answer { continuation.resume(returning: answer) }
  }

  /// Removes and returns the events that a buffer has now, oldest first.
  func takeAll(of buffer: EventBuffer) -> [OperationEvent] {
    self.state.withLock { _ in buffer.takeOrdered() }.compactMap(\.self)
  }

  /// The number of events that a reader has missed.
  func droppedCount(of buffer: EventBuffer) -> Int { self.state.withLock { _ in buffer.droppedCount } }

  /// Ends the sequences of all readers, after the events that they have not read. The client no longer exists.
  func close() {
    let waiting = self.state.withLock { state in
      state.isClosed = true
      return state.buffers.flatMap { $0.takeWaiting() }
    }
    for continuation in waiting { continuation.resume(returning: nil) }
  }
}

/// The events that a reader has not read. The lock of the hub guards them.
final class EventBuffer: @unchecked Sendable {
  // Unchecked: the lock of the hub guards the variables.
  typealias Continuation = UnsafeContinuation<OperationEvent?, Never>

  private let capacity: Int
  /// A ring: the oldest event is at `start` when the buffer is full, and the events begin there.
  private var events: [OperationEvent?] = []
  private var start = 0
  private var count = 0
  private var waiting: [Continuation] = []
  private(set) var droppedCount = 0
  var hasEnded = false

  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  /// Appends an event. Returns the oldest one if it had to be removed, to be released after the lock.
  func append(_ event: consuming OperationEvent) -> OperationEvent? {
    if self.count == self.events.count, self.count < self.capacity { self.grow() }
    if self.count < self.events.count {
      self.events[(self.start + self.count) % self.events.count] = event
      self.count += 1
      return nil
    }
    var oldest: OperationEvent? = event
    swap(&self.events[self.start], &oldest)
    self.start = (self.start + 1) % self.events.count
    self.droppedCount += 1
    return oldest
  }

  private func grow() {
    let size = min(max(16, self.events.count * 2), self.capacity)
    let ordered = Array(self.events[self.start...] + self.events[..<self.start])
    self.events = ordered + [OperationEvent?](repeating: nil, count: size - ordered.count)
    self.start = 0
  }

  func removeFirst() -> OperationEvent? {
    guard self.count > 0 else { return nil }
    defer {
      self.start = (self.start + 1) % self.events.count
      self.count -= 1
    }
    return self.events[self.start].take()
  }

  /// Removes and returns all events, oldest first.
  func takeOrdered() -> [OperationEvent?] {
    let start = self.start
    let events = self.takeAll()
    return Array(events[start...] + events[..<start])
  }

  /// Removes and returns all events, to be released after the lock.
  func takeAll() -> [OperationEvent?] {
    defer { (self.events, self.start, self.count) = ([], 0, 0) }
    return self.events
  }

  func wait(_ continuation: Continuation) { self.waiting.append(continuation) }

  /// Whether a reader waits for an event.
  var isAwaited: Bool { !self.waiting.isEmpty }

  func nextWaiting() -> Continuation? { self.waiting.isEmpty ? nil : self.waiting.removeFirst() }

  func takeWaiting() -> [Continuation] {
    defer { self.waiting = [] }
    return self.waiting
  }
}
