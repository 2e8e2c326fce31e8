public import OperationFoundation

/// The body of a response, as it arrives.
///
/// It is read once: a second iteration goes on where the first one has ended. To drop it is to end the request.
public struct OperationHTTPBody: AsyncSequence, Sendable {
  /// Some bytes of the body. Where one element ends has no meaning.
  public typealias Element = Data

  /// What ends a body before its end.
  public typealias Failure = any Error

  private let begin: @Sendable () -> AsyncIterator

  /// Creates a body of bytes that are there.
  ///
  /// - Parameter data: The bytes.
  public init(_ data: Data) {
    let (chunks, continuation) = AsyncStream<Data>.makeStream()
    if !data.isEmpty { continuation.yield(data) }
    continuation.finish()
    self.init(chunks)
  }

  /// Creates a body of bytes that arrive.
  ///
  /// - Parameter chunks: The bytes.
  public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) where Chunks.Element == Data {
    self.begin = {
      var iterator = chunks.makeAsyncIterator()
      return AsyncIterator { try await iterator.next() }
    }
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { self.begin() }

  /// What reads a body.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let read: () async throws -> Data?

    init(read: @escaping () async throws -> Data?) {
      self.read = read
    }

    /// Returns the next bytes; nil at the end.
    ///
    /// - Throws: What ends the body before its end, and a `CancellationError` where the task is cancelled.
    public mutating func next() async throws -> Data? {
      let data = try await self.read()
      // Streams of the standard library end when the task is cancelled, which is no end of the body.
      if data == nil { try Task.checkCancellation() }
      return data
    }
  }

  /// Reads the body to its end.
  ///
  /// - Parameter limit: The largest number of bytes.
  /// - Returns: The bytes.
  /// - Throws: An ``OperationHTTPContentError`` if the body is longer, and what ends the body before its end.
  public func collected(upTo limit: Int) async throws -> Data {
    var result = Data()
    for try await chunk in self {
      guard chunk.count <= limit - result.count else { throw OperationHTTPContentError.tooLong(limit: limit) }
      result.append(chunk)
    }
    return result
  }
}
