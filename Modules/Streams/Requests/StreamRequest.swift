public import OperationCore
public import OperationFoundation

/// A query whose value is made of the elements of an asynchronous sequence.
///
/// ```swift
/// struct Chat: StreamRequest, Hashable {
///   let room: String
///
///   func elements(
///     after resumption: StreamResumption<[Message], Int>,
///     in context: OperationContext
///   ) async throws -> AsyncThrowingStream<Message, any Error> {
///     server.messages(in: self.room, after: resumption.lastID)
///   }
/// }
/// ```
///
/// The stream is open while its store has subscribers, and closed when the last one leaves. What it has brought stays. See
/// <doc:QueriesOfStreams>.
public protocol StreamRequest<Value>: QueryRequest where Failure == any Error {
  associatedtype Value
  associatedtype Failure = any Error
  associatedtype State = QueryState<Value, Failure>

  /// An element of the stream.
  associatedtype Element: Sendable

  /// Identifies an element to the server, which can go on after it. `Never` for a stream that always begins anew.
  associatedtype ElementID: Sendable

  /// The stream.
  associatedtype Elements: AsyncSequence & SendableMetatype where Elements.Element == Element

  /// Opens the stream.
  ///
  /// - Parameters:
  ///   - resumption: Where the stream goes on: after the last element that the store has.
  ///   - context: The configuration and dependencies of this run.
  /// - Returns: The elements, which one task reads, one after the other.
  /// - Throws: The error with which the stream cannot be opened.
  func elements(
    after resumption: StreamResumption<Value, ElementID>,
    in context: OperationContext
  ) async throws -> Elements

  /// How the elements become the value. By default `.latest`, or `.append` for a value that is an array of elements.
  var accumulation: StreamAccumulation<Element, Value> { get }

  /// The identifier of an element; nil if it has none, such as a keep-alive. By default `element.id`.
  func id(of element: Element) -> ElementID?

  /// What the value is between two elements. By default partial: never fresh.
  var elementKind: CommittedValueKind { get }

  /// Whether an end of the stream is a lost connection, which ends in ``StreamEnded``. False by default.
  var reconnectsAtEnd: Bool { get }
}

extension StreamRequest {
  public var elementKind: CommittedValueKind { .partial }

  public var reconnectsAtEnd: Bool { false }

  /// Prepares a store, by ``OperationCore/OperationContext/setUpStream(yielding:)``.
  public func setup(context: inout OperationContext) {
    context.setUpStream(yielding: self.elementKind)
  }

  /// Opens the stream, and returns the value when it has ended.
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, any Error>
  ) async throws -> Value {
    let run = StreamRun(
      accumulation: self.accumulation,
      id: { self.id(of: $0) },
      kind: self.elementKind,
      reconnectsAtEnd: self.reconnectsAtEnd
    )
    return try await run.perform(in: context, with: continuation) { try await self.elements(after: $0, in: $1) }
  }
}

extension StreamRequest where Value == Element {
  public var accumulation: StreamAccumulation<Element, Value> { .latest }
}

extension StreamRequest where Value == [Element] {
  public var accumulation: StreamAccumulation<Element, Value> { .append }
}

extension StreamRequest where ElementID == Never {
  public func id(of element: Element) -> Never? { nil }
}

extension StreamRequest where Element: Identifiable, ElementID == Element.ID {
  public func id(of element: Element) -> ElementID? { element.id }
}

/// Where a stream goes on.
public struct StreamResumption<Value: Sendable, ID: Sendable>: Sendable {
  /// The identifier of the last element that the store has; nil for a stream that begins anew.
  public let lastID: ID?

  /// What was made of the elements up to that one, to which the next one is added; nil for a stream that begins anew.
  public let value: Value?
}

/// A stream has ended that should not, or has brought nothing from which a value could be made.
public struct StreamEnded: Error, Hashable, Sendable, CustomStringConvertible {
  /// Creates the error.
  public init() {}

  public var description: String { "The stream has ended, or has brought nothing from which a value could be made." }
}

extension StreamEnded: LocalizedError {
  public var errorDescription: String? { self.description }
}
