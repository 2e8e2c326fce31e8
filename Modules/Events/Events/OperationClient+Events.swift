public import OperationCore

extension OperationClient {
  /// What happens in the stores of the client from now on: runs with their causes, attempts, pauses, changes, notices.
  ///
  /// ```swift
  /// for await event in client.events { print(event) }
  /// ```
  ///
  /// Each access makes a reader of its own. A reader keeps the newest 1,024 events that were not read: see
  /// ``OperationEventSequence/droppedCount``. The sequence ends when the task that reads it is cancelled, or when the
  /// client no longer exists. When the sequence and its iterators are released, the reader is removed.
  ///
  /// The events of one run are in the order in which they have occurred. Events that occur at the same time on several
  /// threads may be in either order. Without a reader no event is made.
  ///
  /// - Complexity: Making an event is O(1) for each reader.
  public var events: OperationEventSequence { self.events(keeping: 1024) }

  /// What happens in the stores of the client from now on, for a reader that keeps a number of events.
  ///
  /// - Parameter count: The number of events to keep until they are read, at least 1. Beyond that, the oldest go.
  /// - Returns: The events, as ``OperationCore/OperationClient/events`` has them.
  /// - Complexity: O(1). The first reader of a client looks at its stores that have rules for staleness.
  public func events(keeping count: Int) -> OperationEventSequence {
    let hub = self.attachment { EventHub.Holder() }.hub
    let buffer = hub.addBuffer(capacity: count) { self.observe(with: ClientEventObserver(hub)) }
    return OperationEventSequence(reader: EventReader(of: buffer, in: hub))
  }
}

/// The events of a client, as ``OperationCore/OperationClient/events`` returns them.
///
/// Several iterators of one sequence share its events.
public struct OperationEventSequence: AsyncSequence, Sendable {
  public typealias Element = OperationEvent
  public typealias Failure = Never

  fileprivate let reader: EventReader

  init(reader: EventReader) {
    self.reader = reader
  }

  /// The number of events that were dropped because the reader was too slow.
  public var droppedCount: Int { self.reader.droppedCount }

  /// Removes and returns the events that were not read, without waiting for one.
  ///
  /// Reading events at intervals costs the program less than being woken for each of them.
  package func takeAll() -> [OperationEvent] { self.reader.takeAll() }

  public func makeAsyncIterator() -> Iterator { Iterator(reader: self.reader) }

  /// Reads the events of a client.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: EventReader

    /// Waits for the next event.
    ///
    /// - Returns: The event; nil when the task is cancelled, or when the client no longer exists.
    public mutating func next() async -> OperationEvent? { await self.reader.next() }

    /// Waits for the next event.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Returns: The event; nil when the task is cancelled, or when the client no longer exists.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> OperationEvent? {
      await self.reader.next()
    }
  }
}

/// A reader of the events of a client. Its buffer is removed with it.
final class EventReader: Sendable {
  private let buffer: EventBuffer
  private let hub: EventHub

  init(of buffer: EventBuffer, in hub: EventHub) {
    self.buffer = buffer
    self.hub = hub
  }

  deinit {
    self.hub.remove(self.buffer)
  }

  var droppedCount: Int { self.hub.droppedCount(of: self.buffer) }

  func takeAll() -> [OperationEvent] { self.hub.takeAll(of: self.buffer) }

  nonisolated(nonsending) func next() async -> OperationEvent? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { self.hub.next(of: self.buffer, $0) }
    } onCancel: {
      self.hub.remove(self.buffer)
    }
  }
}
