public import OperationCore

/// A book that is loaded chapter by chapter. It is a kind of operation, as queries and paginated requests are.
///
/// A run goes on where its last attempt has failed, and readers see each chapter when it has arrived. A book is only read, so
/// several runs have the effect of one: `.hedged(after:)` applies to it.
public protocol BookRequest<Chapter>: StatefulOperationRequest, IdempotentRequest where State == BookState<Chapter> {
  associatedtype Chapter: Sendable
  associatedtype State = BookState<Chapter>
  associatedtype Value = [Int: Chapter]
  associatedtype Failure = any Error

  /// The number of chapters.
  var chapterCount: Int { get }

  /// Loads a chapter. The first is 1.
  func chapter(_ number: Int, in context: OperationContext) async throws -> Chapter
}

extension BookRequest {
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[Int: Chapter], any Error>
  ) async throws -> [Int: Chapter] {
    guard let reading = context.runAttachment as? Reading else {
      // Outside of a store there is no state that has attached one.
      var chapters: [Int: Chapter] = [:]
      for number in 1...self.chapterCount { chapters[number] = try await self.chapter(number, in: context) }
      return chapters
    }
    let number = reading.next
    // Without the attachment: the request may run other books with its context.
    let chapter = try await self.chapter(number, in: context.hidingRunAttachment())
    reading.finish(number, of: self.chapterCount)
    if number < self.chapterCount { continuation.yield([number: chapter]) }
    return [number: chapter]
  }
}

/// With any modifier around it, the operation stays of its kind.
extension ModifiedOperation: BookRequest
where Operation: BookRequest, Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure {
  public typealias Chapter = Operation.Chapter

  public var chapterCount: Int { self.operation.chapterCount }

  public func chapter(_ number: Int, in context: OperationContext) async throws -> Operation.Chapter {
    try await self.operation.chapter(number, in: context)
  }
}
