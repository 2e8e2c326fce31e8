public import OperationCore

public struct Article: Hashable, Sendable {
  public typealias Number = Int

  let number: Number

  public struct Query: QueryRequest {
    let number: Number

    public func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Article, any Error>
    ) async throws -> Article {
      Article(number: self.number)
    }
  }
}
