internal import OperationCore

/// A run of a query that is made of a stream: it opens the stream, and commits a value for each element.
struct StreamRun<Element: Sendable, Value: Sendable, ID: Sendable>: Sendable {
  /// Opens the stream.
  typealias Opening<Elements> = @Sendable (StreamResumption<Value, ID>, OperationContext) async throws -> Elements

  let accumulation: StreamAccumulation<Element, Value>
  /// The identifier of an element; nil if it has none.
  let id: @Sendable (Element) -> ID?
  let kind: CommittedValueKind
  let reconnectsAtEnd: Bool

  /// Reads the stream to its end.
  ///
  /// - Parameters:
  ///   - context: The context of the run.
  ///   - continuation: Receives the value with each element.
  ///   - open: Opens the stream.
  /// - Returns: The value with all elements.
  /// - Throws: The error of the stream, or `StreamEnded`.
  func perform<Elements: AsyncSequence & SendableMetatype>(
    in context: OperationContext,
    with continuation: OperationContinuation<Value, any Error>,
    _ open: @escaping Opening<Elements>
  ) async throws -> Value where Elements.Element == Element {
    let made = MadeValue<Value>()
    guard let record = context.runningOperationStore?.context.streamRecord else {
      return try await self.read(open, nil, in: context, with: continuation, made)
    }
    let stream = record.begin(in: context)
    var isComplete = false
    defer { record.end(stream.number, isComplete: isComplete) }
    // An invalidation from now on closes the stream.
    if context.isRunOutdated { throw CancellationError() }
    let value = try await withThrowingTaskGroup(of: Value?.self) { group in
      defer { group.cancelAll() }
      // It begins in the turn of the caller, as other operations do.
      group.addImmediateTask {
        try await self.read(open, (record, stream.number), in: context, with: continuation, made)
      }
      group.addTask {
        for await _ in stream.closing {}
        return nil
      }
      return try await group.next() ?? nil
    }
    if let value {
      isComplete = true
      return value
    }
    try Task.checkCancellation()
    // The stream was closed by an invalidation. Who waits for this run gets what there is, and subscribers get a new stream.
    guard let value = made.value else { throw CancellationError() }
    return self.value(in: context) ?? value
  }

  private func read<Elements: AsyncSequence>(
    _ open: Opening<Elements>,
    _ stream: (record: StreamRecord, number: Int)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, any Error>,
    _ made: MadeValue<Value>
  ) async throws -> Value where Elements.Element == Element {
    let resumption = self.resumption(of: stream?.record, in: context)
    if resumption.lastID == nil { stream?.record.forgetLastID() }
    let elements = try await open(resumption, context)
    if let stream { stream.record.noteReading(of: stream.number) }
    var hasValue = resumption.value != nil
    for try await element in elements {
      // What the store has: its value may have been set since the last element.
      let former = stream == nil ? made.value : self.value(in: context)
      let value = self.accumulation.adding(hasValue ? former : nil, element)
      var entries = OperationContext()
      if stream != nil, let id = self.id(element) { entries.streamElementID = id }
      continuation.commit(value, as: self.kind, using: entries)
      stream?.record.noteElement()
      made.set(value)
      hasValue = true
    }
    // A stream also ends because its reader was cancelled.
    try Task.checkCancellation()
    if self.reconnectsAtEnd { throw StreamEnded() }
    let last = stream == nil ? made.value : self.value(in: context)
    guard let value = hasValue ? last : self.accumulation.initial else { throw StreamEnded() }
    return value
  }

  /// Where the stream goes on: after the last element in the value of the store, unless that is unknown, or the value is
  /// known to be wrong.
  private func resumption(of record: StreamRecord?, in context: OperationContext) -> StreamResumption<Value, ID> {
    let anew = StreamResumption<Value, ID>(lastID: nil, value: nil)
    guard let record, ID.self != Never.self, context.runningOperationStore?.isInvalidated == false,
      let value = self.value(in: context),
      let id = record.lastID as? ID ?? self.accumulation.lastElement(value).flatMap(self.id)
    else { return anew }
    return StreamResumption(lastID: id, value: value)
  }

  /// The value of the store without optimistic updates; nil for none.
  private func value(in context: OperationContext) -> Value? {
    context.stateOfRunningStore(QueryState<Value, any Error>.self)?.currentValue
  }
}

/// The last value that a run has made.
private final class MadeValue<Value: Sendable>: Sendable {
  private let content = Locked<Value?>(nil)

  var value: Value? { self.content.withLock { $0 } }

  func set(_ value: Value) {
    self.content.withLock { content, released in
      released.append(content)
      content = value
    }
  }
}
